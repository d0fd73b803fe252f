"""Approvals that were given for one thing and used for another, replayed against a whole gate."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import Host, ToolCall, tool
from interlock.testing.fakes import FakeClock
from tests.gates import ALICE, ASKS, BOB, BOT, AnyTool, code, granted, opened, records

TroubleCase = Callable[[str], Mapping[str, Any]]


class Till:
    """A tool that pays, and what reached it; it takes whatever the cases give it."""

    def __init__(self) -> None:
        self.ran: list[dict[str, object]] = []
        self.tool = self._pay()

    def _pay(self) -> AnyTool:
        @tool(effect="write", name="pay")
        async def pay(to: str = "", amount: int = 0, path: str = "", code: str = "") -> None:
            """Pay somebody, or do what else is asked for."""
            given = {"to": to, "amount": amount, "path": path, "code": code}
            self.ran.append({name: value for name, value in given.items() if value})

        return pay


@tool(effect="read")
async def read() -> str:
    """Read."""
    return "read"


@pytest.mark.trouble
@pytest.mark.requirement("APR-2", "APR-4")
async def test_what_was_approved_runs_whatever_becomes_of_the_models_object(trouble_case: TroubleCase) -> None:
    """APR-01: a hook multiplied the amount, another task changed the receiver, after the approver had seen both."""
    arguments = dict(trouble_case("APR-01")["input"]["model_args"])
    till, wanted = Till(), {**arguments}
    async with opened(":memory:", [till.tool], ASKS) as gate:
        approval = await granted(gate, ToolCall("c1", "pay", arguments))
        arguments |= {"to": "thief@example.test", "amount": 1_000}
        shown = await gate.approvals.show(approval, by=BOB)
        assert shown is not None
        assert "amount: 10" in shown.summary
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"
    assert till.ran == [wanted]


@pytest.mark.trouble
@pytest.mark.requirement("APR-4")
async def test_a_model_that_proposes_something_else_on_resume_uses_nothing_up(trouble_case: TroubleCase) -> None:
    """APR-02: the same call id came back with another path, and the approval of the first was used for it."""
    proposals = [each for each in trouble_case("APR-02")["input"]["events"] if each.startswith("propose")]
    paths = [each.split("path:")[1].rstrip("}") for each in proposals]
    till = Till()
    async with opened(":memory:", [till.tool], ASKS) as gate:
        approval = await granted(gate, ToolCall("X", "pay", {"path": paths[0]}))
        again = await gate.call(ToolCall("X", "pay", {"path": paths[1]}), principal=ALICE, task="t")
        assert code(again) == "APPROVAL_REQUIRED"
        assert again.approval_id != approval
        assert code(await gate.approvals.resume(approval, by=BOB)) == "ok"
    assert till.ran == [{"path": paths[0]}]


@pytest.mark.trouble
@pytest.mark.requirement("APR-5")
async def test_decisions_are_by_id_and_siblings_that_need_none_go_on(trouble_case: TroubleCase, gate_path: str) -> None:
    """APR-04: of several pending calls one ran, the rest were 'skipped', and equal ones were merged."""
    case, till = trouble_case("APR-04")["input"], Till()
    calls = [ToolCall(each["id"], each["tool"], each.get("args")) for each in case["calls"]]
    async with opened(gate_path, [till.tool, read], ASKS) as gate:
        seen = await gate.call_many(calls, principal=ALICE, run="r")
        assert [code(each) for each in seen] == ["APPROVAL_REQUIRED", "APPROVAL_REQUIRED", "ok"]
        approvals = {each.call_id: str(each.approval_id) for each in seen}
        assert approvals["c1"] != approvals["c2"]
        for decision in case["decisions"]:
            decide = gate.approvals.approve if decision["approve"] else gate.approvals.decline
            await decide(approvals[decision["id"]], by=BOB)
        assert code(await gate.approvals.resume(approvals["c1"], by=BOB)) == "APPROVAL_DENIED"
        await gate.approvals.resume(approvals["c2"], by=BOB)
    assert len(till.ran) <= 1


@pytest.mark.trouble
@pytest.mark.requirement("APR-6")
async def test_a_grant_counts_until_its_instant_by_the_clock_of_the_gate(trouble_case: TroubleCase) -> None:
    """APR-06: skew with the wrong sign let expired approvals count."""
    case = trouble_case("APR-06")["input"]
    policy = ASKS.replace("1h", f"{case['ttl_s']}s")
    for at_s in case["now_offsets_s"]:
        clock, till = FakeClock(), Till()
        async with opened(":memory:", [till.tool], policy, host=Host(clock=clock)) as gate:
            approval = await granted(gate, ToolCall("c1", "pay", {"to": "x", "amount": 1}))
            clock.advance(at_s)
            seen = await gate.approvals.resume(approval, by=BOB)
            assert code(seen) == ("ok" if at_s < case["ttl_s"] else "APPROVAL_EXPIRED")
            assert len(till.ran) == (at_s < case["ttl_s"])


@pytest.mark.trouble
@pytest.mark.requirement("APR-2")
async def test_the_approver_reads_the_whole_of_it(trouble_case: TroubleCase) -> None:
    """APR-07: sixty empty lines pushed the payload off the card."""
    code_text = trouble_case("APR-07")["input"]["args"]["code"]
    till = Till()
    async with opened(":memory:", [till.tool], ASKS) as gate:
        seen = await gate.call(ToolCall("c1", "pay", {"code": code_text}), principal=ALICE, task="t")
        shown = await gate.approvals.show(str(seen.approval_id), by=BOB)
        assert shown is not None
        assert "rmtree('data')" in shown.summary
        assert shown.summary.count("\n") < 15


@pytest.mark.trouble
@pytest.mark.requirement("APR-3", "AUD-1")
async def test_an_agent_that_names_somebody_else_decides_nothing(trouble_case: TroubleCase) -> None:
    """APR-09: any name in the body approved, and the log took it for evidence."""
    claimed = trouble_case("APR-09")["input"]["body"]["resolved_by"]
    till = Till()
    async with opened(":memory:", [till.tool], ASKS) as gate:
        seen = await gate.call(ToolCall("c1", "pay", {"to": "x", "amount": 1}), principal=BOT, task="t")
        approval = str(seen.approval_id)
        assert (
            code(await gate.approvals.approve(approval, by=BOT, note=f"resolved_by={claimed}")) == "PERMISSION_DENIED"
        )
        assert code(await gate.approvals.resume(approval, by=BOT)) == "APPROVAL_REQUIRED"
        assert await records(gate, "approval.voted") == []
    assert till.ran == []
