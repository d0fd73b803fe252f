"""An approval, and what came of it, is seen by whom it concerns; by others as far as policy lets them do the same."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import pytest

from interlock import Arg, PolicySource, Principal, PrincipalKind, ToolCall, tool
from interlock.core.lifecycle import Lifecycle
from tests.gates import (
    ALICE,
    ASKS,
    AUDITOR,
    BOB,
    BOT,
    CAROL,
    OPERATOR,
    AnyTool,
    Shelf,
    asked,
    code,
    granted,
    opened,
    records,
)

MALLORY = Principal("acme", "mallory")
ANYBODY = ASKS.replace("approver", "")
ENG_ASKS = '@approval("approver") permit (principal in Group::"eng", action, resource);'
PAY = ToolCall("c1", "pay", {"to": "n", "iban": "DE02"})


def pay() -> AnyTool:
    @tool(effect="write", key=["to"], resource=("Account", "to"))
    async def pay(to: str, iban: str) -> dict[str, str]:
        """Pay."""
        return {"receipt": f"for {to}", "iban": iban}

    return pay


@pytest.mark.requirement("APR-3", "AUD-4")
async def test_an_approval_is_seen_by_whom_it_concerns_and_by_who_reads_the_log(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools, ASKS) as gate:
        approval = await asked(gate, by=BOT)
        service = Principal("acme", "svc", PrincipalKind.SERVICE, BOB.groups, acting_for="dave")
        seeing, blind = (BOT, ALICE, BOB, CAROL, AUDITOR, OPERATOR), (MALLORY, replace(BOT, id="bot2"), service)
        for by in (*seeing, *blind):
            assert [each.id for each in await gate.approvals.list(by=by)] == [approval] * (by in seeing)
            assert (await gate.approvals.show(approval, by=by) is not None) is (by in seeing)


@pytest.mark.requirement("APR-3")
async def test_what_anybody_may_approve_is_seen_by_every_person_and_by_no_agent() -> None:
    async with opened(":memory:", Shelf().tools, ANYBODY) as gate:
        approval = await asked(gate)
        assert await gate.approvals.show(approval, by=MALLORY) is not None
        assert await gate.approvals.show(approval, by=replace(MALLORY, kind=PrincipalKind.AGENT)) is None


@pytest.mark.requirement("IDEM-2", "APR-4")
async def test_a_resume_shows_its_result_to_who_asked_and_who_decided_and_tells_others_how_it_stands(
    gate_path: str,
) -> None:
    async with opened(gate_path, [pay()], ENG_ASKS) as gate:
        approval = await granted(gate, PAY)
        first = await gate.approvals.resume(approval, by=MALLORY)
        assert (code(first), first.data_json, first.resource, first.evidence) == ("ok", None, None, None)
        assert first.user_text == "This was done; the result may not be shown to you."
        for by, sees in ((ALICE, True), (BOB, True), (MALLORY, False), (CAROL, False), (OPERATOR, False)):
            again = await gate.approvals.resume(approval, by=by)
            assert (code(again), again.replayed) == ("ok", True)
            assert (again.data_json is not None) is sees
            assert ("DE02" in str(again)) is sees


@pytest.mark.requirement("AUD-1", "AUD-3")
async def test_who_brings_about_a_resume_is_on_record_before_it_runs_and_whether_they_saw_it(gate_path: str) -> None:
    shelf = Shelf()
    shelf.open.clear()
    async with opened(gate_path, shelf.tools, ENG_ASKS) as gate:
        approval = await granted(gate)
        resuming = asyncio.create_task(gate.approvals.resume(approval, by=replace(MALLORY, actor="mal")))
        await shelf.started.wait()
        (record,) = await records(gate, "approval.resumed")
        assert (record["principal"], record["actor"], record["subject"]) == ("mallory", "mal", approval)
        assert record["visible"] is False
        shelf.open.set()
        await resuming
        await gate.approvals.resume(approval, by=ALICE)
        assert [each["visible"] for each in await records(gate, "approval.resumed")] == [False, True]


@pytest.mark.requirement("IDEM-2", "POL-6")
async def test_whom_policy_lets_make_the_same_call_sees_as_much_of_the_result_as_it_would_show_them() -> None:
    some = '@redact("iban") permit (principal in Group::"clerk", action, resource);'
    clerk = replace(MALLORY, groups=frozenset({"clerk"}))
    async with opened(":memory:", [pay()], ENG_ASKS + some) as gate:
        approval = await granted(gate, PAY)
        assert (await gate.approvals.resume(approval, by=ALICE)).data == {"receipt": "for n", "iban": "DE02"}
        seen = await gate.approvals.resume(approval, by=clerk)
        assert (seen.data["receipt"], "DE02" in str(seen)) == ("for n", False)


@pytest.mark.requirement("IDEM-2", "POL-1")
async def test_the_policy_and_the_catalogue_of_today_say_who_sees_it_also_where_another_process_changed_them(
    tmp_path: Path,
) -> None:
    path, dan = str(tmp_path / "gate.db"), replace(ALICE, id="dan")
    async with opened(path, [pay()], ENG_ASKS) as gate, opened(path, [pay()], None) as other:
        approval = await granted(gate, PAY)
        await gate.approvals.resume(approval, by=ALICE)
        assert (await gate.approvals.resume(approval, by=dan)).data_json is not None
        await other.policies.save(
            [PolicySource("test", ENG_ASKS + 'forbid (principal == User::"dan", action, resource);')], by=OPERATOR
        )
        assert (await gate.approvals.resume(approval, by=dan)).data_json is None
        await other.catalogue.move("pay", Lifecycle.FROZEN, by=OPERATOR, reason="?")
        assert (await gate.approvals.resume(approval, by=MALLORY)).data_json is None


@pytest.mark.requirement("IDEM-2", "POL-1")
async def test_a_call_with_the_values_of_another_session_is_not_one_that_they_could_make() -> None:
    @tool(effect="write", key=["to"])
    async def look(to: str, region: Annotated[str, Arg(inject="claims.region")]) -> str:
        """Look."""
        return f"{to} in {region}"

    east, west = (replace(ALICE, claims={"region": each}) for each in ("east", "west"))
    async with opened(":memory:", [look], ENG_ASKS) as gate:
        approval = await granted(gate, ToolCall("c1", "look", {"to": "n"}), by=east)
        await gate.approvals.resume(approval, by=east)
        assert (await gate.approvals.resume(approval, by=replace(west, id="dan"))).data_json is None
        assert (await gate.approvals.resume(approval, by=replace(east, id="dan"))).data == "n in east"


@pytest.mark.requirement("IDEM-2")
async def test_of_a_resume_that_fails_others_hear_the_code_and_none_of_the_tools_words() -> None:
    @tool(effect="write", key=["to"])
    async def pay(to: str) -> None:
        """Pay."""
        raise ValueError(f"no account of {to}: DE02")

    async with opened(":memory:", [pay], ENG_ASKS) as gate:
        approval = await granted(gate, ToolCall("c1", "pay", {"to": "n"}))
        seen = await gate.approvals.resume(approval, by=MALLORY)
        assert (code(seen), "DE02" in str(seen)) == ("OUTCOME_UNKNOWN", False)
