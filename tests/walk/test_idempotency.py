"""Effects happen once: by key, whoever asks, however often, and whatever is lost on the way."""

import asyncio
from pathlib import Path

import pytest

from interlock import (
    Caller,
    Cost,
    ErrorContract,
    Gate,
    Limit,
    Observation,
    PolicySource,
    Principal,
    PrincipalKind,
    ScopeKind,
    ToolCall,
    ToolFault,
    Unit,
    tool,
)
from interlock.core.tool import RetryRule
from tests.gates import ALICE, ALL, ASKS, OPERATOR, READS, Shelf, code, granted, opened, records, save, settled, used


@pytest.mark.requirement("IDEM-1", "IDEM-2", "BUD-1")
async def test_fifty_callers_of_one_key_execute_it_once_and_all_get_the_result(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        calls = [gate.call(save(id=f"c{index}"), principal=ALICE, task="t") for index in range(50)]
        seen = await asyncio.gather(*calls)
        assert [code(each) for each in seen] == ["ok"] * 50
        assert [each.call_id for each in seen] == [f"c{index}" for index in range(50)]
        assert sum(each.replayed for each in seen) == 49
        assert {each.data_json for each in seen} == {seen[0].data_json}
        assert {each.executed_at_us for each in seen} == {seen[0].executed_at_us}
        assert await used(gate, "calls") == 1
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("IDEM-1")
async def test_an_effect_needs_a_key_of_trusted_values_and_a_call_id_is_none() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools) as gate:
        assert code(await gate.call(save(), principal=ALICE)) == "IDEMPOTENCY_REQUIRED"
        for place in ({"task": "t"}, {"key": "k"}, {"run": "r"}):
            assert code(await gate.call(save(), principal=ALICE, **place)) == "ok"
            assert (await gate.call(save(id="other"), principal=ALICE, **place)).replayed
    assert len(shelf.saved) == 3


@pytest.mark.requirement("IDEM-2")
async def test_the_same_key_with_other_arguments_conflicts(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        await gate.call(save(), principal=ALICE, task="t")
        seen = await gate.call(save(text="other"), principal=ALICE, task="t")
        assert code(seen) == "IDEMPOTENCY_CONFLICT"
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("IDEM-2")
async def test_who_cannot_wait_for_a_call_that_runs_is_told_so(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, shelf.tools) as gate:
        first = asyncio.create_task(gate.call(save(), principal=ALICE, key="k"))
        await shelf.started.wait()
        hurried = await gate.propose(save(), Caller(ALICE, key="k", deadline_ms=20))
        assert code(hurried) == "IDEMPOTENCY_IN_PROGRESS"
        shelf.open.set()
        await first


@pytest.mark.requirement("IDEM-2")
async def test_a_refused_or_waiting_call_never_takes_its_key(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, READS) as gate:
        await gate.call(save(), principal=ALICE, task="t")
        for policy, ends in ((ASKS, "APPROVAL_REQUIRED"), (ALL, "ok")):
            await gate.policies.save([PolicySource("test", policy)], by=OPERATOR)
            assert code(await gate.call(save(text=ends), principal=ALICE, task="t")) == ends
    assert shelf.saved == [("n1", "ok")]


@pytest.mark.requirement("IDEM-2", "POL-1")
async def test_a_replay_is_shown_only_to_who_may_call_it_today(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools) as gate:
        first = await gate.call(save(), principal=ALICE, task="t")
        await gate.policies.save([PolicySource("test", READS)], by=OPERATOR)
        again = await gate.call(save(), principal=ALICE, task="t")
        assert (again.replayed, again.data, again.executed_at_us) == (True, None, first.executed_at_us)
        assert "not be shown" in again.user_text


@pytest.mark.requirement("IDEM-3")
async def test_an_undeclared_fault_after_dispatch_is_unknown_and_never_done_again(gate_path: str) -> None:
    ran: list[str] = []

    @tool(effect="write", key=["to"], errors=[ErrorContract("full", nothing_happened=True)])
    async def send(to: str) -> None:
        """Send something."""
        ran.append(to)
        raise ToolFault("full", "the box is full") if to == "full" else ConnectionResetError

    async with opened(gate_path, [send]) as gate:
        for _ in range(2):
            assert code(await _send(gate, "x")) == "OUTCOME_UNKNOWN"
        assert ran == ["x"]
        (unknown,) = await gate.recovery.unknown(by=ALICE)
        assert unknown.operation.tool == "send"
        for _ in range(2):
            assert code(await _send(gate, "full")) == "TOOL_ERROR"
        assert ran == ["x", "full", "full"]


@pytest.mark.requirement("IDEM-3")
async def test_a_repeat_continues_an_unknown_call_where_the_tool_may_be_repeated(gate_path: str) -> None:
    keys: list[str] = []
    fail = [True, True, True, False]

    @tool(effect="idempotent_write", key=["to"])
    async def put(to: str) -> str:
        """Put something."""
        keys.append(to)
        if fail[len(keys) - 1]:
            raise ConnectionResetError
        return to

    async with opened(gate_path, [put]) as gate:
        first = await _send(gate, "x", name="put")
        second = await _send(gate, "x", name="put")
        third = await _send(gate, "x", name="put")
        assert [code(first), code(second), third.replayed] == ["OUTCOME_UNKNOWN", "ok", True]
        assert first.operation_id == second.operation_id
        assert await gate.recovery.unknown(by=ALICE) == ()
        assert await used(gate, "calls") == 2


@pytest.mark.requirement("IDEM-3", "IDEM-2")
@pytest.mark.parametrize("stopped", ["by its condition", "by its caller"])
async def test_a_repeat_that_never_ran_proves_nothing_of_the_first_try(stopped: str, gate_path: str) -> None:
    did: list[str] = []
    ready, free, held = [True], asyncio.Event(), asyncio.Event()

    @tool(effect="idempotent_write", key=["to"], locks=["box"], precondition=lambda: ready[0], retry=RetryRule(1))
    async def put(to: str, text: str) -> str:
        """Put something."""
        did.append(text)
        raise ConnectionResetError

    @tool(effect="write", key=["to"], locks=["box"])
    async def hold(to: str) -> None:
        """Hold the box."""
        held.set()
        await free.wait()

    async def call(text: str) -> Observation:
        return await gate.call(ToolCall("c1", "put", {"to": "x", "text": text}), principal=ALICE, task="t")

    async with opened(gate_path, [put, hold]) as gate:
        assert code(await call("first")) == "OUTCOME_UNKNOWN"
        if stopped == "by its condition":
            ready[0] = False
            assert code(await call("first")) == "OUTCOME_UNKNOWN"
        else:
            holding = asyncio.create_task(_send(gate, "x", name="hold"))
            await held.wait()
            repeat = asyncio.create_task(call("first"))
            await asyncio.wait([repeat], timeout=0.02)
            repeat.cancel()
            await asyncio.wait([repeat])
            free.set()
            await holding
            await settled(gate)
        assert len(await gate.recovery.unknown(by=ALICE)) == 1
        assert code(await call("second")) == "IDEMPOTENCY_CONFLICT"
    assert did == ["first"]


@pytest.mark.requirement("IDEM-3", "APR-2")
async def test_an_unknown_call_that_took_an_approval_is_repeated_with_another(gate_path: str) -> None:
    ran: list[str] = []

    @tool(effect="idempotent_write", key=["to"], retry=RetryRule(1))
    async def put(to: str) -> str:
        """Put something."""
        ran.append(to)
        if len(ran) == 1:
            raise ConnectionResetError
        return to

    call = ToolCall("c1", "put", {"to": "x"})
    async with opened(gate_path, [put], ASKS) as gate:
        first = await granted(gate, call)
        lost = await gate.approvals.resume(first, by=ALICE)
        assert code(lost) == "OUTCOME_UNKNOWN"
        assert code(await gate.approvals.resume(first, by=ALICE)) == "OUTCOME_UNKNOWN"
        assert ran == ["x"]
        second = await granted(gate, call)
        done = await gate.approvals.resume(second, by=ALICE)
        assert (code(done), done.operation_id) == ("ok", lost.operation_id)
        assert await gate.recovery.unknown(by=ALICE) == ()
        again = await gate.call(call, principal=ALICE, task="t")
        assert (code(again), again.replayed) == ("ok", True)
    assert ran == ["x", "x"]


@pytest.mark.requirement("BUD-1", "BUD-3", "IDEM-3")
@pytest.mark.parametrize(
    ("limit", "runs"),
    [(Limit(ScopeKind.TENANT, Unit.CALLS, 2), 2), (Limit(ScopeKind.TENANT, Unit.COST_MICROS, 250), 2)],
)
async def test_every_repeat_of_an_unknown_call_is_counted_and_paid(limit: Limit, runs: int, gate_path: str) -> None:
    ran: list[str] = []

    @tool(effect="idempotent_write", key=["to"], cost=Cost(max_micros=100), retry=RetryRule(1))
    async def put(to: str) -> str:
        """Put something."""
        ran.append(to)
        raise ConnectionResetError

    async with opened(gate_path, [put], limits=[limit]) as gate:
        ends = [code(await _send(gate, "x", name="put")) for _ in range(4)]
        assert ends == ["OUTCOME_UNKNOWN"] * runs + ["BUDGET_EXHAUSTED"] * (4 - runs)
        (unknown,) = await gate.recovery.unknown(by=ALICE)
        await gate.recovery.close(unknown.operation.id, by=OPERATOR, happened=True, evidence="it is there")
        assert await used(gate, "cost_micros") == 100 * runs * len(await gate.usage("acme"))
    assert len(ran) == runs


@pytest.mark.requirement("IDEM-3", "BUD-2")
@pytest.mark.parametrize(("happened", "again"), [(True, "ok"), (False, "OUTCOME_UNKNOWN")])
async def test_a_person_closes_an_unknown_call_with_evidence(happened: bool, again: str, gate_path: str) -> None:
    ran: list[str] = []

    @tool(effect="write", key=["to"])
    async def send(to: str) -> None:
        """Send something."""
        ran.append(to)
        raise TimeoutError

    async with opened(gate_path, [send]) as gate:
        seen = await _send(gate, "x")
        close = gate.recovery.close
        operation = str(seen.operation_id)
        assert code(await close(operation, by=ALICE, happened=happened, evidence="I say so")) == "PERMISSION_DENIED"
        assert code(await close(operation, by=OPERATOR, happened=happened, evidence=" ")) == "PERMISSION_DENIED"
        for other in (
            Principal("acme", "bot", PrincipalKind.AGENT, frozenset({"operator"})),
            Principal("acme", "job", PrincipalKind.SERVICE, frozenset({"operator"})),
            Principal("acme", "paul", groups=frozenset({"operator"}), acting_for="olga"),
        ):
            assert code(await close(operation, by=other, happened=happened, evidence="I saw it")) == "PERMISSION_DENIED"
        closed = await close(operation, by=OPERATOR, happened=happened, evidence="letter 12")
        assert isinstance(closed, Observation)
        assert "olga" in closed.user_text + str(closed.error)
        await used(gate, "calls")
        assert code(await close(operation, by=OPERATOR, happened=happened, evidence="again")) == "PRECONDITION_FAILED"
        assert code(await _send(gate, "x")) == again
        (record,) = await records(gate, "call.closed")
        assert (record["principal"], record["why"]) == ("olga", "letter 12")
    assert len(ran) == (1 if happened else 2)


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_what_is_unknown_stays_unknown_over_a_restart_and_is_looked_up(tmp_path: Path) -> None:
    path, world, found = str(tmp_path / "gate.db"), list[str](), list[object]()

    def look(to: str) -> object:
        if not found:
            raise TimeoutError
        return found[0]

    @tool(effect="write", key=["to"], reconcile=look, output_schema=None)
    async def send(to: str) -> str:
        """Send something."""
        world.append(to)
        raise TimeoutError

    async with opened(path, [send]) as gate:
        assert code(await _send(gate, "x")) == "OUTCOME_UNKNOWN"
    async with opened(path, [send], None) as gate:
        lost = await _send(gate, "x")
        assert code(lost) == "OUTCOME_UNKNOWN"
        found.append("sent as 7")
        assert code(await gate.recovery.look_up(str(lost.operation_id), by=OPERATOR)) == "ok"
        seen = await _send(gate, "x")
        assert (code(seen), seen.replayed, seen.data) == ("ok", True, "sent as 7")
        await used(gate, "calls")
    assert world == ["x"]


async def _send(gate: Gate, to: str, *, name: str = "send") -> Observation:
    seen = await gate.call(ToolCall("c1", name, {"to": to}), principal=ALICE, task="t")
    assert isinstance(seen, Observation)
    return seen
