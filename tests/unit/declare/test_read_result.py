"""The tool by which a model reads on in a long result: governed, and bearing the labels of what it reads."""

import pytest

from interlock import Confidentiality, Labels, Result, ToolCall, Trust, tool
from tests.gates import ALICE, BOB, opened

pytestmark = [pytest.mark.requirement("OBS-4")]

LINES = [f"line {number} {'x' * 50}" for number in range(100)]
ONLY_ALICE = """
@id("a") permit (principal == User::"alice", action, resource);
@id("b") permit (principal, action, resource == Tool::"read_result");
"""


async def test_a_model_reads_on_by_a_governed_tool_and_bears_the_labels_of_what_it_read() -> None:
    secret = Labels(Confidentiality.CONFIDENTIAL, Trust.UNTRUSTED, frozenset({"web"}))

    @tool(effect="read", owner="eng", output_bytes_max=1_000, labels=secret)
    async def read_log(name: str) -> Result:
        """Read a log."""
        return Result(LINES, labels=secret)

    async with opened(":memory:", (read_log,), results_owner="eng") as gate:
        handle = (await gate.call(ToolCall("c", "read_log", {"name": "a"}), principal=ALICE)).handle
        told = [
            await gate.call(ToolCall(f"c{number}", "read_result", {"handle": handle, **how}), principal=ALICE, run="r")
            for number, how in enumerate([{}, {"find": "line 42 "}, {"pointer": "/42"}, {"pointer": "/none"}])
        ]
        assert [each.status for each in told] == ["ok", "ok", "ok", "failed"]
        assert "line 0 " in str(told[0].data)
        assert "line 42 " in str(told[1].data)
        assert told[2].data == {"value": LINES[42]}
        assert told[0].labels == secret


async def test_what_nobody_may_call_nobody_may_read_on_in() -> None:
    @tool(effect="read", owner="eng", output_bytes_max=1_000)
    async def read_log(name: str) -> list[str]:
        """Read a log."""
        return LINES

    async with opened(":memory:", (read_log,), ONLY_ALICE, results_owner="eng") as gate:
        handle = (await gate.call(ToolCall("c", "read_log", {"name": "a"}), principal=ALICE)).handle
        seen = await gate.call(ToolCall("c", "read_result", {"handle": handle}), principal=BOB, task="t")
        assert seen.error is not None
        assert seen.error.details == {"tool_code": "NOT_READ"}
