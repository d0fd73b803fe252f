"""Approvals at the gate: what people decide on is what runs, once, while nothing of it changes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from interlock import ApprovalState, Host, PolicySource, Principal, PrincipalKind, Resource, ToolCall, tool
from interlock.core.approval import Approval
from interlock.core.decision import Deny
from interlock.core.errors import ApprovalUnknown
from interlock.core.lifecycle import Lifecycle
from interlock.runtime.approvals import MISSING
from interlock.testing.fakes import FakeClock, FakePrincipals
from tests.gates import ALICE, ASKS, BOB, BOT, CAROL, OPERATOR, Shelf, asked, code, granted, opened, records, save, used

SPEC = '@id("asks") @approval("approver") permit (principal, action, resource);'


def state(found: Approval | Deny | None) -> str:
    return found.state.value if isinstance(found, Approval) else "" if found is None else found.code.value


@pytest.mark.requirement("APR-1")
async def test_asking_ends_the_call_changes_nothing_and_holds_nothing(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        seen = await gate.call(save(), principal=ALICE, task="t")
        assert (code(seen), seen.status.value, shelf.saved) == ("APPROVAL_REQUIRED", "waiting", [])
        assert seen.expires_at_us is not None
        assert await used(gate, "calls") == 1


@pytest.mark.requirement("APR-1", "APR-4", "BUD-2")
async def test_an_approval_waits_over_a_restart_and_the_stored_operation_runs(tmp_path: Path) -> None:
    path, shelf = str(tmp_path / "gate.db"), Shelf()
    async with opened(path, shelf.tools, ASKS) as gate:
        approval = await asked(gate)
    async with opened(path, shelf.tools, None) as gate:
        assert state(await gate.approvals.approve(approval, by=BOB)) == "granted"
    async with opened(path, shelf.tools, None) as gate:
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"
        assert await used(gate, "calls") == 1
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("APR-4")
async def test_five_racing_resumes_run_it_once_and_all_hear_of_it(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        seen = await asyncio.gather(*[gate.approvals.resume(approval, by=BOB) for _ in range(5)])
        assert [code(each) for each in seen] == ["ok"] * 5
        assert sorted(each.replayed for each in seen) == [False] + [True] * 4
        assert state(await gate.approvals.show(approval, by=BOB)) == "used"
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("APR-4")
async def test_a_resume_that_is_cancelled_beside_another_does_not_let_it_run_twice(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(str(tmp_path / "gate.db"), shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        first, second = [asyncio.create_task(gate.approvals.resume(approval, by=BOB)) for _ in range(2)]
        await asyncio.wait([first, second], timeout=0)
        second.cancel()
        await shelf.started.wait()
        third = asyncio.create_task(gate.approvals.resume(approval, by=BOB))
        await asyncio.wait([third], timeout=0.01)
        shelf.open.set()
        assert code(await first) == "ok"
        assert code(await third) == "ok"
    assert shelf.saved == [("n1", "hello")]


@pytest.mark.requirement("APR-4", "APR-2")
async def test_a_refused_claim_leaves_the_grant_to_be_used_later(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        await gate.catalogue.move("save", Lifecycle.FROZEN, by=OPERATOR, reason="trouble")
        assert code(await gate.approvals.resume(approval, by=BOB)) == "TOOL_FROZEN"
        assert state(await gate.approvals.show(approval, by=BOB)) == "granted"
        await gate.catalogue.move("save", Lifecycle.AVAILABLE, by=OPERATOR, reason="mended")
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"


@pytest.mark.requirement("APR-2", "POL-4")
async def test_an_approval_is_void_once_the_policies_about_the_tool_have_changed() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        await gate.policies.save([PolicySource("test", ASKS.replace("1h", "2h"))], by=OPERATOR)
        seen = await gate.approvals.resume(approval, by=BOB)
        assert (code(seen), shelf.saved) == ("APPROVAL_MISMATCH", [])
        assert state(await gate.approvals.show(approval, by=BOB)) == "void"
        assert await used(gate, "calls") == 1


@pytest.mark.requirement("APR-2")
async def test_an_approval_is_void_once_the_resource_has_another_version() -> None:
    version, sent = {"now": "1"}, []

    @tool(
        effect="write",
        key=["name"],
        resource=("Doc", "name"),
        resolve=lambda name: Resource("Doc", name, version=version["now"]),
    )
    async def publish(name: str) -> None:
        """Publish a document."""
        sent.append(name)

    async with opened(":memory:", [publish], ASKS) as gate:
        approval = await granted(gate, ToolCall("c1", "publish", {"name": "d"}))
        version["now"] = "2"
        assert code(await gate.approvals.resume(approval, by=BOB)) == "APPROVAL_MISMATCH"
        version["now"] = "1"
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"
    assert sent == ["d"]


@pytest.mark.requirement("APR-2", "REG-1")
async def test_an_approval_is_void_once_the_tool_has_another_version(tmp_path: Path) -> None:
    path, shelf, ran = str(tmp_path / "gate.db"), Shelf(), []

    @tool(effect="write", name="save", version="2", key=["note"], resource=("Note", "note"))
    async def other(note: str, text: str) -> None:
        """Save a note in another way."""
        ran.append(note + text)

    async with opened(path, shelf.tools, ASKS) as gate:
        approval = await granted(gate)
    async with opened(path, [shelf.search, other], None) as gate:
        assert code(await gate.approvals.resume(approval, by=BOB)) == "APPROVAL_MISMATCH"
    assert (shelf.saved, ran) == ([], [])


@pytest.mark.requirement("APR-3")
@pytest.mark.parametrize(
    "by", [ALICE, BOT, replace(BOT, acting_for=None), Principal("acme", "dave"), replace(BOB, kind=PrincipalKind.AGENT)]
)
async def test_who_asked_an_agent_and_who_lacks_the_role_may_not_decide(by: Principal) -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await asked(gate)
        for decide in (gate.approvals.approve, gate.approvals.decline, gate.approvals.reveal):
            assert code(await decide(approval, by=by)) == "PERMISSION_DENIED"
        assert code(await gate.approvals.edit(approval, by=by, arguments="{}")) == "PERMISSION_DENIED"
        assert code(await gate.approvals.resume(approval, by=by)) == "APPROVAL_REQUIRED"
        assert state(await gate.approvals.show(approval, by=BOB)) == "pending"
    assert shelf.saved == []


@pytest.mark.requirement("APR-3")
async def test_a_quorum_needs_that_many_different_people() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS.replace("@lifetime", '@quorum("2") @lifetime')) as gate:
        approval = await asked(gate)
        assert state(await gate.approvals.approve(approval, by=BOB)) == "pending"
        await gate.approvals.approve(approval, by=BOB)
        assert code(await gate.approvals.resume(approval, by=BOB)) == "APPROVAL_REQUIRED"
        assert state(await gate.approvals.approve(approval, by=CAROL)) == "granted"
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"


@pytest.mark.requirement("APR-4", "POL-1")
async def test_the_requester_is_resolved_anew_before_it_runs() -> None:
    shelf, people = Shelf(), FakePrincipals()
    policy = '@approval("approver") permit (principal in Group::"eng", action, resource);'
    async with opened(":memory:", shelf.tools, policy, host=Host(principals=people)) as gate:
        approval = await granted(gate)
        people.today["alice"] = replace(ALICE, groups=frozenset())
        assert code(await gate.approvals.resume(approval, by=BOB)) == "TOOL_NOT_FOUND"
        people.today["alice"] = None
        assert code(await gate.approvals.resume(approval, by=BOB)) == "PERMISSION_DENIED"
        del people.today["alice"]
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"
        assert await used(gate, "calls") == 1
    assert len(shelf.saved) == 1


@pytest.mark.requirement("APR-4", "POL-3")
async def test_a_requirement_that_has_grown_asks_again() -> None:
    shelf = Shelf()

    @tool(
        effect="write",
        key=["name"],
        resource=("Doc", "name"),
        resolve=lambda name: Resource("Doc", name, attributes={"hot": len(shelf.searched) > 0}),
    )
    async def publish(name: str) -> None:
        """Publish a document."""
        shelf.saved.append((name, ""))

    more = '@approval("lead") permit (principal, action == Action::"publish", resource is Doc) when { resource.hot };'
    async with opened(":memory:", [publish], SPEC + more) as gate:
        approval = await granted(gate, ToolCall("c1", "publish", {"name": "d"}))
        shelf.searched.append("hot")
        seen = await gate.approvals.resume(approval, by=BOB)
        assert (code(seen), shelf.saved) == ("APPROVAL_REQUIRED", [])
        assert seen.approval_id != approval
        again = await gate.approvals.show(str(seen.approval_id), by=BOB)
        assert again is not None
        assert (again.replaces, again.requirement.roles) == (approval, frozenset({"approver", "lead"}))


@pytest.mark.requirement("APR-5")
async def test_calls_with_keys_of_their_own_are_two_questions_and_a_claim_voids_others_on_its_key(
    gate_path: str,
) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        seen = [await gate.call(save(), principal=ALICE, key=key) for key in ("a", "b", "a")]
        assert seen[0].approval_id == seen[2].approval_id != seen[1].approval_id
        other = await asked(gate, save(text="other"))
        same = await granted(gate, save(text="this"))
        assert code(await gate.approvals.resume(same, by=BOB)) == "ok"
        assert state(await gate.approvals.show(other, by=BOB)) == "void"
        assert state(await gate.approvals.show(str(seen[0].approval_id), by=BOB)) == "pending"
    assert shelf.saved == [("n1", "this")]


@pytest.mark.requirement("APR-6")
async def test_a_denial_is_final_for_that_operation_in_that_run() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        seen = await gate.call(save(), principal=ALICE, run="r1")
        assert state(await gate.approvals.decline(str(seen.approval_id), by=BOB, note="no")) == "denied"
        assert code(await gate.approvals.resume(str(seen.approval_id), by=BOB)) == "APPROVAL_DENIED"
        assert code(await gate.call(save(), principal=ALICE, run="r1")) == "APPROVAL_DENIED"
        assert code(await gate.call(save(text="other"), principal=ALICE, run="r1")) == "APPROVAL_REQUIRED"
        assert code(await gate.call(save(), principal=ALICE, run="r2")) == "APPROVAL_REQUIRED"


@pytest.mark.requirement("APR-2", "APR-6")
@pytest.mark.parametrize(
    ("at_s", "ends"), [(3599.999999, "ok"), (3600, "APPROVAL_EXPIRED"), (3601, "APPROVAL_EXPIRED")]
)
async def test_a_grant_expires_at_its_instant(at_s: float, ends: str, gate_path: str) -> None:
    shelf, clock = Shelf(), FakeClock()
    async with opened(gate_path, shelf.tools, ASKS, host=Host(clock=clock)) as gate:
        approval = await granted(gate)
        clock.advance(at_s)
        assert code(await gate.approvals.resume(approval, by=BOB)) == ends
        listed = await gate.approvals.list(by=BOB, state=ApprovalState.USED if ends == "ok" else ApprovalState.EXPIRED)
        assert [each.id for each in listed] == [approval]
        assert len(await records(gate, "approval.expired")) == (ends != "ok")


@pytest.mark.requirement("APR-6")
async def test_an_edit_is_a_new_operation_with_both_on_record(gate_path: str) -> None:
    shelf = Shelf()
    async with opened(gate_path, shelf.tools, ASKS) as gate:
        first = await asked(gate)
        bad = await gate.approvals.edit(first, by=BOB, arguments='{"note":1}')
        assert (code(bad), state(await gate.approvals.show(first, by=BOB))) == ("TOOL_ARGUMENT_INVALID", "pending")
        seen = await gate.approvals.edit(first, by=BOB, arguments='{"note":"n1","text":"edited"}')
        assert code(seen) == "APPROVAL_REQUIRED"
        second = str(getattr(seen, "approval_id", ""))
        found = await gate.approvals.show(second, by=BOB)
        assert found is not None
        assert (found.replaces, state(await gate.approvals.show(first, by=BOB))) == (first, "void")
        assert state(await gate.approvals.approve(second, by=CAROL)) == "granted"
        assert code(await gate.approvals.resume(first, by=BOB)) == "APPROVAL_MISMATCH"
        assert code(await gate.approvals.resume(second, by=BOB)) == "ok"
        assert [each["subject"] for each in await records(gate, "approval.void")] == [first]
    assert shelf.saved == [("n1", "edited")]


@pytest.mark.requirement("APR-7")
@pytest.mark.parametrize("by", [ALICE, BOB])
async def test_a_grant_can_be_withdrawn_by_who_asked_or_gave_it(by: Principal) -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await granted(gate)
        assert state(await gate.approvals.withdraw(approval, by=CAROL)) == "PERMISSION_DENIED"
        assert state(await gate.approvals.withdraw(approval, by=by)) == "withdrawn"
        assert code(await gate.approvals.resume(approval, by=BOB)) == "APPROVAL_MISMATCH"
        (record,) = await records(gate, "approval.withdrawn")
        assert (record["principal"], record["subject"]) == (by.id, approval)
        assert state(await gate.approvals.withdraw(approval, by=by)) == "APPROVAL_MISMATCH"
    assert shelf.saved == []


@pytest.mark.requirement("APR-2", "AUD-6")
async def test_an_approver_sees_all_but_known_secrets_which_are_counted_and_shown_on_record() -> None:
    shelf = Shelf()
    text = "password=not-known \u200bhunter2secret"
    async with opened(":memory:", shelf.tools, ASKS, secrets=("hunter2secret",)) as gate:
        approval = await asked(gate, save(text=text))
        found = await gate.approvals.show(approval, by=BOB)
        assert found is not None
        assert "password=not-known" in found.summary
        assert "hunter2secret" not in found.summary
        assert "Hidden: 1 secret value" in found.summary
        whole = await gate.approvals.reveal(approval, by=BOB)
        assert isinstance(whole, bytes)
        assert b"hunter2secret" in whole
        (record,) = await records(gate, "secret.revealed")
        assert (record["principal"], record["subject"]) == ("bob", approval)
        assert "hunter2secret" not in str(await records(gate))


async def test_an_approval_of_another_tenant_is_not_there() -> None:
    shelf = Shelf()
    stranger = replace(BOB, tenant="globex")
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await asked(gate)
        assert await gate.approvals.show(approval, by=stranger) is None
        assert await gate.approvals.list(by=stranger) == ()
        desk = gate.approvals
        for decide in (desk.approve, desk.decline, desk.withdraw, desk.reveal):
            assert await decide(approval, by=stranger) == MISSING
        assert await desk.edit(approval, by=stranger, arguments="{}") == MISSING
        with pytest.raises(ApprovalUnknown):
            await desk.resume(approval, by=stranger)


@pytest.mark.requirement("APR-3")
async def test_of_two_decisions_at_once_one_wins_and_a_denial_beats_an_approval_that_comes_later() -> None:
    shelf = Shelf()
    async with opened(":memory:", shelf.tools, ASKS) as gate:
        approval = await asked(gate)
        decided = await asyncio.gather(
            gate.approvals.decline(approval, by=BOB), gate.approvals.approve(approval, by=CAROL)
        )
        assert [state(each) for each in decided] == ["denied", "APPROVAL_DENIED"]
