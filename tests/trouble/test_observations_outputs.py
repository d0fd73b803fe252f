"""Results that were too long, or could not be shown, as others met them."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from interlock import ToolCall, tool
from interlock.core.artifact import Page
from tests.gates import ALICE, code, opened

pytestmark = [pytest.mark.trouble, pytest.mark.requirement("OBS-4")]

Case = Callable[[str], Mapping[str, Any]]


async def test_a_result_of_megabytes_is_cut_at_the_limit_and_can_be_read_on(trouble_case: Case) -> None:
    case = trouble_case("OBS-01")["input"]
    size, limit = case["tool_result_bytes"], case["limit"]

    @tool(effect="read", owner="eng", output_bytes_max=limit)
    async def cat(name: str) -> str:
        """Show a file."""
        return "x" * int(size)

    async with opened(":memory:", (cat,)) as gate:
        seen = await gate.call(ToolCall("c", "cat", {"name": "build.log"}), principal=ALICE)
        assert seen.data_json is not None
        assert len(seen.data_json) <= limit
        assert seen.truncated == size + len('""')
        assert len(gate.for_model(seen).encode()) < 2 * limit
        page = await gate.results.read(str(seen.handle), by=ALICE, offset=size - 10)
        assert isinstance(page, Page)
        assert (page.text, page.next_offset) == ("x" * 11 + '"', None)


async def test_a_result_that_is_no_json_is_said_to_be_executed_and_never_hangs(trouble_case: Case) -> None:
    assert "datetime" in trouble_case("OBS-03")["input"]["result"]
    cycle: dict[str, object] = {}
    cycle["self"] = cycle

    @tool(effect="read", owner="eng")
    async def plain() -> object:
        """Give back what JSON does not know."""
        return {"when": datetime(2026, 1, 1, tzinfo=UTC), "b": b"\xff", "s": {1, 2}, "d": Decimal("1.10")}

    @tool(effect="write", owner="eng", key=[])
    async def cyclic() -> object:
        """Give back what holds itself."""
        return cycle

    async with opened(":memory:", (plain, cyclic)) as gate:
        seen = await gate.call(ToolCall("c", "plain", {}), principal=ALICE)
        assert seen.data == {"when": "2026-01-01T00:00:00+00:00", "b": "/w==", "s": [1, 2], "d": "1.10"}
        seen = await gate.call(ToolCall("c", "cyclic", {}), principal=ALICE, task="t")
        assert code(seen) == "OUTPUT_INVALID"
        assert seen.error is not None
        assert "was executed" in seen.error.message
