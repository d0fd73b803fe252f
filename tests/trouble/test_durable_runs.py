"""Runs that were resumed, and did again what they had done, as others met them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock import Gate, Observation, Status, ToolCall, tool
from tests.gates import ALICE, ALL, BOB, AnyTool, opened

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("IDEM-2", "IDEM-4")]

Case = Callable[[str], Mapping[str, Any]]
SENDS_AND_ASKS = """
@id("sends") permit (principal, action == Action::"send_email", resource);
@id("asks") @approval("approver") permit (principal, action == Action::"pay", resource);
"""


class Step:
    """A step of a run: it sends a mail, then pays, which takes an approval. Each time it is run from its start."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.paid: list[int] = []

    def tools(self) -> tuple[AnyTool, ...]:
        @tool(effect="write", owner="eng", key=["to"])
        async def send_email(to: str) -> str:
            """Send a mail."""
            self.sent.append(to)
            return f"sent {to}"

        @tool(effect="write", owner="eng", key=["order"])
        async def pay(order: int) -> str:
            """Pay an order."""
            self.paid.append(order)
            return "paid"

        return (send_email, pay)

    async def run(self, gate: Gate) -> tuple[Observation, Observation]:
        """The whole step, as a framework that knows nothing of what was done runs it anew."""
        mail = ToolCall("c1", "send_email", {"to": "dave@example.com"})
        sent = await gate.call(mail, principal=ALICE, run="run-1", task="t")
        paid = await gate.call(ToolCall("c2", "pay", {"order": 7}), principal=ALICE, run="run-1", task="t")
        return sent, paid


async def test_a_step_that_is_resumed_from_its_start_does_nothing_twice(trouble_case: Case, tmp_path: Path) -> None:
    case, step, path = trouble_case("DUR-01")["input"], Step(), str(tmp_path / "gate.db")
    assert case["step"] == ["call send_email (committed)", "await approval"]
    async with opened(path, step.tools(), SENDS_AND_ASKS) as gate:
        _, waits = await step.run(gate)
        assert waits.status is Status.WAITING
        await gate.approvals.approve(str(waits.approval_id), by=BOB)
        await gate.approvals.resume(str(waits.approval_id), by=BOB)
    for _ in range(case["resumes"]):
        async with opened(path, step.tools(), None) as gate:  # another process
            sent, paid = await step.run(gate)
            assert (sent.replayed, sent.data, paid.replayed, paid.data) == (
                True,
                "sent dave@example.com",
                True,
                "paid",
            )
    assert (step.sent, step.paid) == (["dave@example.com"], [7])


async def test_a_step_that_died_before_its_receipt_is_unknown_and_not_run_again(
    trouble_case: Case, tmp_path: Path
) -> None:
    assert "unknown, not a re-run" in trouble_case("DUR-01")["right"]
    sent: list[str] = []

    @tool(effect="write", owner="eng", key=["to"])
    async def send_email(to: str) -> None:
        """Send a mail, and lose the answer."""
        sent.append(to)
        raise ConnectionError

    path, mail = str(tmp_path / "gate.db"), ToolCall("c1", "send_email", {"to": "dave@example.com"})
    for policy in (ALL, None):
        async with opened(path, (send_email,), policy) as gate:
            seen = await gate.call(mail, principal=ALICE, run="run-1", task="t")
            assert seen.status is Status.UNKNOWN
    assert sent == ["dave@example.com"]
