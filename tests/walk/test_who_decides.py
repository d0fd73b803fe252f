"""Who may decide on an operation, and that what they decided is what the votes say, at the whole gate."""

import asyncio
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from interlock import Host, Principal, PrincipalKind, Resource, ToolCall, tool
from interlock.core.approval import Approval
from interlock.core.decision import Deny
from tests.gates import ALICE, ASKS, BOB, CAROL, Shelf, asked, code, granted, opened, records, save, used

TWO = ASKS.replace("@lifetime", '@quorum("2") @lifetime')


def state(found: Approval | Deny | None) -> str:
    return found.state.value if isinstance(found, Approval) else "" if found is None else found.code.value


def service_of(whom: str) -> Principal:
    return Principal("acme", f"svc-{whom}", PrincipalKind.SERVICE, frozenset({"approver"}), acting_for=whom)


@pytest.mark.requirement("APR-3")
async def test_who_acts_for_somebody_else_decides_nothing_neither_for_the_requester_nor_for_a_quorum() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, TWO) as gate:
        approval, desk = await asked(gate), gate.approvals
        assert state(await desk.approve(approval, by=service_of("alice"))) == "PERMISSION_DENIED"
        assert state(await desk.approve(approval, by=BOB)) == "pending"
        for decide in (desk.approve, desk.decline, desk.reveal):
            assert code(await decide(approval, by=service_of("bob"))) == "PERMISSION_DENIED"
        assert code(await desk.edit(approval, by=service_of("bob"), arguments="{}")) == "PERMISSION_DENIED"
        assert state(await desk.show(approval, by=BOB)) == "pending"


@pytest.mark.requirement("APR-3")
async def test_an_agent_named_as_text_is_an_agent_and_decides_nothing() -> None:
    shelf = Shelf()
    agent = Principal("acme", "model", "agent", frozenset({"approver"}))  # type: ignore[arg-type]
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        assert code(await gate.approvals.approve(await asked(gate), by=agent)) == "PERMISSION_DENIED"


@pytest.mark.requirement("APR-3", "APR-6")
async def test_who_edits_an_operation_is_one_of_those_who_ask_for_it(gate_path: str) -> None:
    shelf, dan = Shelf(), replace(BOB, id="dan")
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        desk, first = gate.approvals, await asked(gate)
        once = await desk.edit(first, by=BOB, arguments='{"note":"n1","text":"to bob"}')
        twice = await desk.edit(
            str(getattr(once, "approval_id", "")), by=CAROL, arguments='{"note":"n1","text":"more"}'
        )
        last = str(getattr(twice, "approval_id", ""))
        for by in (BOB, CAROL):
            assert code(await desk.approve(last, by=by)) == "PERMISSION_DENIED"
        assert code(await desk.resume(last, by=BOB)) == "APPROVAL_REQUIRED"
        assert state(await desk.approve(last, by=dan)) == "granted"
        assert code(await desk.resume(last, by=BOB)) == "ok"
    assert shelf.saved == [("n1", "more")]


@pytest.mark.requirement("APR-3", "APR-6")
async def test_an_editor_still_may_not_decide_once_more_is_asked_for() -> None:
    hot, sent = [False], []

    @tool(
        effect="write",
        key=["name"],
        resource=("Doc", "name"),
        resolve=lambda name: Resource("Doc", name, attributes={"hot": hot[0]}),
    )
    async def publish(name: str, text: str) -> None:
        """Publish a document."""
        sent.append(text)

    more = ASKS + '@id("hot") @approval("lead") permit (principal, action, resource is Doc) when { resource.hot };'
    async with opened(":memory:", [publish], more) as gate:
        first = await asked(gate, ToolCall("c1", "publish", {"name": "d", "text": "x"}))
        edited = await gate.approvals.edit(first, by=BOB, arguments='{"name":"d","text":"edited"}')
        second = str(getattr(edited, "approval_id", ""))
        assert state(await gate.approvals.approve(second, by=CAROL)) == "granted"
        hot[0] = True
        third = str((await gate.approvals.resume(second, by=ALICE)).approval_id)
        assert third not in (first, second)
        lead_bob = replace(BOB, groups=frozenset({"approver", "lead"}))
        assert code(await gate.approvals.approve(third, by=lead_bob)) == "PERMISSION_DENIED"
    assert sent == []


@pytest.mark.requirement("APR-3", "APR-6")
async def test_an_edit_into_what_waits_already_is_not_the_question_that_the_editor_may_decide() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        desk, other = gate.approvals, await asked(gate, save(text="other"))
        edited = await desk.edit(await asked(gate), by=BOB, arguments='{"note":"n1","text":"other"}')
        assert getattr(edited, "approval_id", other) != other
        assert code(await desk.approve(str(getattr(edited, "approval_id", "")), by=BOB)) == "PERMISSION_DENIED"
        assert await asked(gate, save(text="other")) == other


@pytest.mark.requirement("APR-2", "APR-3")
@pytest.mark.parametrize("decided", ["pending", "denied", "withdrawn"])
async def test_a_state_that_was_turned_to_granted_in_the_file_runs_nothing(tmp_path: Path, decided: str) -> None:
    path, shelf, host = str(tmp_path / "gate.db"), Shelf(), Host(seal=b"s" * 32)
    async with opened(path, shelf.tools, ASKS, host=host) as gate:
        approval = await asked(gate)
        if decided == "denied":
            await gate.approvals.decline(approval, by=BOB)
        if decided == "withdrawn":
            await gate.approvals.approve(approval, by=BOB)
            await gate.approvals.withdraw(approval, by=BOB)
    file = apsw.Connection(path)
    file.execute("UPDATE approvals SET state = 'granted'")
    file.close()
    async with opened(path, shelf.tools, None, host=host) as gate:
        assert code(await gate.approvals.resume(approval, by=ALICE)) == "APPROVAL_MISMATCH"
    assert shelf.saved == []


@pytest.mark.requirement("APR-5", "AUD-1")
async def test_asking_twice_is_one_question_that_both_records_name_and_both_are_counted(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        calls = [gate.call(save(), principal=ALICE, task="t") for _ in range(3)]
        (approval,) = {each.approval_id for each in await asyncio.gather(*calls)}
        named = [each["approval"] for each in await records(gate, "call.waiting")]
        assert named == [approval] * 3
        assert await used(gate, "calls") == 3


@pytest.mark.requirement("APR-2")
async def test_asking_again_once_the_resource_has_another_version_is_another_question() -> None:
    version, sent = ["1"], []

    @tool(
        effect="write",
        key=["name"],
        resource=("Doc", "name"),
        resolve=lambda name: Resource("Doc", name, version=version[0]),
    )
    async def publish(name: str) -> None:
        """Publish a document."""
        sent.append(name)

    call = ToolCall("c1", "publish", {"name": "d"})
    async with opened(":memory:", [publish], ASKS) as gate:
        stale = await asked(gate, call)
        version[0] = "2"
        fresh = await granted(gate, call)
        assert fresh != stale
        assert code(await gate.approvals.resume(fresh, by=ALICE)) == "ok"
        assert state(await gate.approvals.show(stale, by=BOB)) == "void"
    assert sent == ["d"]


@pytest.mark.requirement("APR-4", "APR-5")
async def test_calling_again_after_the_grant_asks_nobody_and_says_how_what_was_approved_comes_to_run(
    gate_path: str,
) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        again = await gate.call(save(id="c2"), principal=ALICE, task="t")
        assert (code(again), again.status.value, again.approval_id) == ("APPROVAL_REQUIRED", "waiting", approval)
        assert f"approval {approval} is resumed" in again.hint
        assert "approved" in again.user_text
        assert (shelf.saved, len(await gate.approvals.list(by=BOB))) == ([], 1)
        others = [await asked(gate, save(text="x")), await asked(gate, task="u"), await asked(gate, by=CAROL)]
        assert approval not in others
        assert code(await gate.approvals.resume(approval, by=ALICE)) == "ok"
        replayed = await gate.call(save(id="c3"), principal=ALICE, task="t")
        assert (replayed.replayed, shelf.saved) == (True, [("n1", "hello")])


@pytest.mark.requirement("APR-4", "APR-7")
async def test_a_grant_that_was_taken_back_is_asked_for_again() -> None:
    async with opened(":memory:", Shelf().tools, ASKS) as gate:
        approval = await granted(gate)
        await gate.approvals.withdraw(approval, by=ALICE)
        assert await asked(gate) != approval
