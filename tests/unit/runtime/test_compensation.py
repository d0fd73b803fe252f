"""Plans of compensations: every effect undone once, the last first, through the gate, and not past what fails."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from interlock import (
    CompensationPlan,
    CompensationState,
    Deny,
    ErrorContract,
    Gate,
    Host,
    Observation,
    Principal,
    PrincipalKind,
    Result,
    SpecInvalid,
    ToolCall,
    ToolFault,
    UndoState,
    tool,
)
from interlock.store.memory import MemoryStore
from interlock.testing.fakes import FakeClock, FakePrincipals
from tests.gates import ALICE, ALL, BOB, BOT, CAROL, OPERATOR, AnyTool, code, opened, records

pytestmark = pytest.mark.requirement("IDEM-6")

ASKS = (
    ALL + '@id("asks") @approval("approver") @lifetime("1h") permit (principal, action == Action::"cancel", resource);'
)
ONLY_ORDERS = 'permit (principal, action == Action::"order", resource);'


class Shop:
    """Orders that can be cancelled, letters that cannot, and lists of which some items stay open."""

    def __init__(self) -> None:
        self.did: list[str] = []
        self.cancels: Callable[[str], str | None] = lambda order_id: None
        self.finds: Callable[[str], str | None] = lambda order_id: None
        self.tools: tuple[AnyTool, ...] = (self._cancel(), self._order(), self._post(), self._unlist(), self._list())

    def _cancel(self) -> AnyTool:
        @tool(
            effect="write",
            name="cancel",
            key=["order_id"],
            errors=(ErrorContract("gone", nothing_happened=False),),
            reconcile=lambda order_id, why: self.finds(order_id),
        )
        async def cancel(order_id: str, why: str) -> str:
            """Cancel an order."""
            self.did.append(f"cancel {order_id}")
            self.cancels(order_id)
            return why

        return cancel

    def _order(self) -> AnyTool:
        undone = {"order_id": "$result.id", "why": "undone"}

        @tool(effect="write", name="order", key=["item"], compensate="cancel", compensate_arguments=undone)
        async def order(item: str) -> dict[str, str]:
            """Order something."""
            self.did.append(f"order {item}")
            if item == "lost":
                raise ConnectionError
            return {"id": f"o-{item}"}

        return order

    def _post(self) -> AnyTool:
        @tool(effect="write", name="post", key=["to"])
        async def post(to: str) -> str:
            """Post a letter."""
            self.did.append(f"post {to}")
            return to

        return post

    def _unlist(self) -> AnyTool:
        @tool(effect="write", name="unlist", key=["names"])
        async def unlist(names: list[str]) -> Any:
            """Take names off the list."""
            self.did.append(f"unlist {'+'.join(names)}")
            still = [each for each in names if each == "sticky"] if len(names) > 1 else []
            return Result(names, open_items=tuple(still))

        return unlist

    def _list(self) -> AnyTool:
        @tool(
            effect="write",
            name="enlist",
            key=["names"],
            compensate="unlist",
            compensate_arguments={"names": "$done.names"},
        )
        async def enlist(names: list[str]) -> Any:
            """Put names on a list; those that begin with x stay open."""
            self.did.append(f"enlist {'+'.join(names)}")
            return Result(names, open_items=tuple(each for each in names if each.startswith("x")))

        return enlist

    async def order_all(self, gate: Gate, *items: str, by: Principal = ALICE) -> None:
        for index, item in enumerate(items):
            await gate.call(ToolCall(f"c{index}", "order", {"item": item}), principal=by, task="t", run=None)
        self.did.clear()


def started(found: CompensationPlan | Deny) -> CompensationPlan:
    assert isinstance(found, CompensationPlan), found
    return found


def states(plan: CompensationPlan) -> list[str]:
    return [step.state.value for step in plan.steps]


async def again(gate: Gate, item: str = "a") -> Observation:
    """What is told of an order that is proposed once more."""
    return await gate.call(ToolCall("again", "order", {"item": item}), principal=ALICE, task="t")


async def test_effects_are_undone_once_the_last_first(gate_path: str) -> None:
    shop = Shop()
    async with opened(gate_path, shop.tools) as gate:
        await shop.order_all(gate, "a", "b", "c")
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong shop", task="t"))
        assert (plan.state, states(plan)) == (CompensationState.COMPENSATED, ["compensated"] * 3)
        assert shop.did == ["cancel o-c", "cancel o-b", "cancel o-a"]
        for by in (ALICE, OPERATOR):
            assert started(await gate.compensations.start(by=by, reason="once more", task="t")).id == plan.id
        await asyncio.gather(*[gate.compensations.resume(plan.id, by=ALICE) for _ in range(3)])
        assert len(shop.did) == 3
        told = await again(gate)
        assert (told.status, told.replayed, told.data) == ("compensated", True, {"id": "o-a"})
        (begun,) = await records(gate, "compensation.started")
        assert (begun["principal"], begun["reason"], begun["steps"]) == ("alice", "wrong shop", 3)
        assert len(await records(gate, "compensation.ended")) == 1
        assert shop.did == ["cancel o-c", "cancel o-b", "cancel o-a"]


async def test_plans_that_are_started_at_once_undo_it_once(gate_path: str) -> None:
    shop = Shop()
    async with opened(gate_path, shop.tools) as gate:
        await shop.order_all(gate, "a", "b")
        starts = [gate.compensations.start(by=by, reason="wrong", task="t") for by in (ALICE, OPERATOR) * 3]
        plans = {started(each).id for each in await asyncio.gather(*starts)}
        assert len(plans) == 1
        await gate.recovery.recover()
        assert sorted(shop.did) == ["cancel o-a", "cancel o-b"]


async def test_a_step_that_another_process_is_at_is_left_to_it_without_a_trace(tmp_path: Path) -> None:
    shop, begun, go_on = Shop(), asyncio.Event(), asyncio.Event()

    @tool(effect="write", name="cancel", key=["order_id"])
    async def cancel(order_id: str, why: str) -> str:
        """Cancel an order, in time."""
        begun.set()
        await go_on.wait()
        shop.did.append(f"cancel {order_id}")
        return why

    path, tools = str(tmp_path / "gate.db"), [cancel, *shop.tools[1:]]
    async with opened(path, tools) as gate, opened(path, tools, None) as other:
        await shop.order_all(gate, "a", "b")
        starting = asyncio.create_task(gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        await begun.wait()
        for _ in range(3):
            await other.recovery.recover()
        (plan,) = await other.compensations.list(by=ALICE)
        assert (plan.state, plan.version) == (CompensationState.RUNNING, 1)
        assert await records(other, "call.refused") == []
        go_on.set()
        assert started(await starting).state is CompensationState.COMPENSATED
    assert shop.did == ["cancel o-b", "cancel o-a"]


async def test_what_no_tool_undoes_is_said_before_and_after_and_passed_over() -> None:
    shop = Shop()
    async with opened(":memory:", shop.tools) as gate:
        await shop.order_all(gate, "a")
        await gate.call(ToolCall("p", "post", {"to": "x"}), principal=ALICE, task="t")
        outline = started(await gate.compensations.outline(by=ALICE, task="t"))
        assert [(step.tool, step.state) for step in outline.irreversible] == [("post", UndoState.IRREVERSIBLE)]
        assert await gate.compensations.list(by=OPERATOR) == ()
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert states(plan) == ["irreversible", "compensated"]
        await gate.call(ToolCall("p", "post", {"to": "y"}), principal=ALICE, task="u")
        refused = await gate.compensations.start(by=ALICE, reason="wrong", task="u")
        assert isinstance(refused, Deny)
        assert "No tool undoes what post did" in refused.message


async def test_a_failed_step_stops_the_plan_until_a_person_has_it_tried_again(gate_path: str) -> None:
    shop = Shop()

    def fail(order_id: str) -> None:
        raise ToolFault("gone")

    async with opened(gate_path, shop.tools) as gate:
        await shop.order_all(gate, "a", "b")
        shop.cancels = fail
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert (plan.state, states(plan)) == (CompensationState.FAILED, ["failed", "pending"])
        await gate.recovery.recover()
        assert shop.did == ["cancel o-b"]
        assert (await again(gate, "b")).status == "compensation_failed"
        assert (await again(gate, "a")).status == "compensating"
        assert await gate.compensations.list(by=OPERATOR, state=CompensationState.FAILED) == (plan,)
        assert [each["tool"] for each in await records(gate, "compensation.failed")] == ["cancel"]
        shop.cancels = lambda order_id: None
        assert code(await gate.compensations.resume(plan.id, by=BOB)) == "PERMISSION_DENIED"
        plan = started(await gate.compensations.resume(plan.id, by=OPERATOR, reason="the shop is back"))
        assert (plan.state, plan.steps[0].attempt) == (CompensationState.COMPENSATED, 2)
        assert shop.did == ["cancel o-b", "cancel o-b", "cancel o-a"]
        assert (await again(gate, "b")).status == "compensated"


async def test_a_step_whose_outcome_is_lost_is_not_tried_again_before_it_is_found_out(gate_path: str) -> None:
    shop = Shop()

    def lose(order_id: str) -> None:
        raise ConnectionError

    def cannot_tell(order_id: str) -> None:
        raise TimeoutError

    async with opened(gate_path, shop.tools) as gate:
        await shop.order_all(gate, "a", "b")
        shop.cancels, shop.finds = lose, cannot_tell
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert (plan.state, states(plan)) == (CompensationState.FAILED, ["unknown", "pending"])
        plan = started(await gate.compensations.resume(plan.id, by=ALICE))
        assert (states(plan), plan.steps[0].attempt) == (["unknown", "pending"], 1)
        shop.cancels = lambda order_id: None
        seen = await gate.recovery.close(
            str(plan.steps[0].undone_by), by=OPERATOR, happened=True, evidence="the shop says so"
        )
        assert code(seen) == "ok"
        plan = started(await gate.compensations.resume(plan.id, by=ALICE))
        assert states(plan) == ["compensated", "compensated"]
        assert shop.did == ["cancel o-b", "cancel o-a"]


@pytest.mark.requirement("APR-4")
async def test_a_step_waits_for_people_and_goes_on_once_it_is_resumed(gate_path: str) -> None:
    shop = Shop()
    async with opened(gate_path, shop.tools, ASKS) as gate:
        await shop.order_all(gate, "a", "b")
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        for _ in range(3):
            (plan,) = await gate.compensations.list(by=ALICE)
            assert (plan.state, states(plan), shop.did) == (CompensationState.WAITING, ["waiting", "pending"], [])
            await gate.recovery.recover()
        assert len(await records(gate, "call.waiting")) == 1
        for number in (1, 2):
            (plan,) = await gate.compensations.list(by=ALICE)
            waits_for = str(plan.steps[plan.at or 0].approval_id)
            await gate.approvals.approve(waits_for, by=BOB)
            await gate.recovery.recover()
            assert len(shop.did) == number - 1
            assert code(await gate.approvals.resume(waits_for, by=BOB)) == "ok"
            await gate.recovery.recover()
        (plan,) = await gate.compensations.list(by=ALICE)
        assert plan.state is CompensationState.COMPENSATED
        assert shop.did == ["cancel o-b", "cancel o-a"]


@pytest.mark.parametrize("how", ["declined", "expired"])
async def test_a_step_that_people_do_not_approve_stops_the_plan(how: str) -> None:
    shop, clock = Shop(), FakeClock()
    async with opened(":memory:", shop.tools, ASKS, host=Host(clock=clock)) as gate:
        await shop.order_all(gate, "a")
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        if how == "declined":
            await gate.approvals.decline(str(plan.steps[0].approval_id), by=BOB)
        else:
            clock.advance(3_601)
        await gate.recovery.recover()
        (plan,) = await gate.compensations.list(by=ALICE)
        assert (plan.state, shop.did) == (CompensationState.FAILED, [])
        assert ("approval" in plan.steps[0].says, plan.steps[0].attempt) == (True, 1)
        assert started(await gate.compensations.resume(plan.id, by=ALICE)).state is CompensationState.WAITING


async def test_policy_decides_on_each_compensation() -> None:
    shop = Shop()
    async with opened(":memory:", shop.tools, ONLY_ORDERS) as gate:
        await shop.order_all(gate, "a")
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert (plan.state, shop.did) == (CompensationState.FAILED, [])
        assert "TOOL_NOT_FOUND" in plan.steps[0].says


async def test_an_effect_of_which_it_is_not_known_whether_it_happened_is_waited_for(gate_path: str) -> None:
    for happened, undone in ((True, []), (False, ["cancel o-a"])):
        shop = Shop()
        async with opened(gate_path if happened else ":memory:", shop.tools) as gate:
            await shop.order_all(gate, "a", "lost")
            plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
            assert (plan.state, states(plan), shop.did) == (CompensationState.WAITING, ["waiting", "pending"], [])
            await gate.recovery.recover()
            operation = plan.steps[0].operation_id
            await gate.recovery.close(operation, by=OPERATOR, happened=happened, evidence="seen")
            await gate.recovery.recover()
            (plan,) = await gate.compensations.list(by=ALICE)
            assert shop.did == undone
            first = plan.steps[0]
            # Closed by hand there is no result, and without one there is no order to be cancelled.
            assert first.state is (UndoState.FAILED if happened else UndoState.NOTHING_TO_UNDO)


@pytest.mark.requirement("EXEC-9")
async def test_of_an_effect_that_was_done_in_part_that_part_is_undone_and_tried_again_where_it_stayed(
    gate_path: str,
) -> None:
    shop = Shop()
    async with opened(gate_path, shop.tools) as gate:
        call = ToolCall("e", "enlist", {"names": ["ann", "xavier", "sticky"]})
        assert (await gate.call(call, principal=ALICE, task="t")).status == "partial"
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert (plan.state, plan.steps[0].open_items) == (CompensationState.FAILED, ("sticky",))
        plan = started(await gate.compensations.resume(plan.id, by=ALICE))
        assert plan.state is CompensationState.COMPENSATED
        assert shop.did[1:] == ["unlist ann+sticky", "unlist sticky"]


async def test_who_may_have_what_undone() -> None:
    shop = Shop()
    async with opened(":memory:", shop.tools) as gate:
        await shop.order_all(gate, "a")
        start = gate.compensations.start
        for by in (BOB, BOT, replace(OPERATOR, acting_for="alice"), replace(OPERATOR, kind=PrincipalKind.AGENT)):
            assert code(await start(by=by, reason="wrong", task="t")) == "PERMISSION_DENIED"
        assert code(await start(by=ALICE, reason=" ", task="t")) == "PRECONDITION_FAILED"
        assert code(await start(by=ALICE, reason="x")) == "PRECONDITION_FAILED"
        assert code(await start(by=ALICE, reason="x", task="t", run="r")) == "PRECONDITION_FAILED"
        assert code(await start(by=ALICE, reason="x", task="none")) == "PRECONDITION_FAILED"
        assert shop.did == []
        plan = started(await start(by=OPERATOR, reason="wrong", task="t"))
        assert await gate.compensations.show(plan.id, by=CAROL) is None
        assert await gate.compensations.list(by=CAROL) == ()
        assert code(await gate.compensations.resume("none", by=OPERATOR)) == "PRECONDITION_FAILED"


async def test_a_plan_goes_on_in_the_name_of_who_its_starter_is_today() -> None:
    shop, people = Shop(), FakePrincipals()
    async with opened(":memory:", shop.tools, host=Host(principals=people)) as gate:
        await shop.order_all(gate, "a")
        people.today["alice"] = None
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        assert plan.steps[0].says == "Who started this is no longer known."


async def test_what_is_no_longer_kept_is_not_taken_for_undone() -> None:
    shop = Shop()
    async with opened(":memory:", shop.tools, ASKS) as gate:
        await shop.order_all(gate, "a", "b")
        plan = started(await gate.compensations.start(by=ALICE, reason="wrong", task="t"))
        store = gate._world.calls
        assert isinstance(store, MemoryStore)
        call = store._calls[ALICE.tenant, plan.steps[0].operation_id]
        call.operation = replace(call.operation, sealed=b"")
        plan = started(await gate.compensations.resume(plan.id, by=ALICE))
        assert (plan.state, plan.steps[0].says) == (
            CompensationState.FAILED,
            "What it was called with is no longer kept.",
        )
        del store._calls[ALICE.tenant, plan.steps[0].operation_id]
        plan = started(await gate.compensations.resume(plan.id, by=ALICE))
        assert (plan.state, plan.steps[0].says) == (CompensationState.FAILED, "What was done is no longer kept.")
        assert shop.did == []


async def test_who_approves_is_told_whether_it_can_be_undone() -> None:
    shop = Shop()
    asks = '@id("asks") @approval("approver") permit (principal, action, resource);'
    async with opened(":memory:", shop.tools, asks) as gate:
        for index, (name, arguments) in enumerate((("order", {"item": "a"}), ("post", {"to": "x"}))):
            await gate.call(ToolCall(f"c{index}", name, arguments), principal=ALICE, task="t")
        says = [each.summary for each in await gate.approvals.list(by=BOB)]
        assert "It can be undone by cancel." in says[0]
        assert "It cannot be undone." in says[1]


async def test_a_tool_whose_compensation_leads_nowhere_is_not_published() -> None:
    shop = Shop()
    with pytest.raises(SpecInvalid, match="order: compensate names 'cancel', and there is no tool of that name"):
        async with opened(":memory:", [each for each in shop.tools if each.name != "cancel"]):
            pass
