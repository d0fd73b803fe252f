"""Calls proposed together that lost each other's work, replayed against a whole gate."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from interlock import ToolCall, tool
from tests.gates import ALICE, AnyTool, code, opened

TroubleCase = Callable[[str], Mapping[str, Any]]


@pytest.mark.trouble
@pytest.mark.requirement("EXEC-4", "EXEC-5", "CALL-8")
async def test_each_call_gets_its_own_result_in_order_whatever_its_sibling_raises(
    trouble_case: TroubleCase, gate_path: str
) -> None:
    """SCD-01: one call raised CancelledError, and what its siblings had done was thrown away."""

    @tool(effect="read", name="ok")
    async def fine() -> str:
        """Be fine."""
        return "fine"

    @tool(effect="read")
    async def raises() -> str:
        """Raise what only a scheduler should."""
        raise asyncio.CancelledError

    calls = [ToolCall(each["id"], each["tool"].split()[0], "") for each in trouble_case("SCD-01")["input"]["parallel"]]
    async with opened(gate_path, [fine, raises]) as gate:
        seen = await gate.call_many(calls, principal=ALICE, run="r")
    assert [(each.call_id, code(each)) for each in seen] == [("c1", "ok"), ("c2", "TOOL_EXCEPTION"), ("c3", "ok")]
    assert seen[1].error is not None
    assert (seen[1].tool, bool(seen[1].error.message)) == ("raises", True)


@pytest.mark.trouble
@pytest.mark.requirement("EXEC-4")
@pytest.mark.parametrize("lock", ["none", "resource", "file:{path}"])
async def test_two_edits_of_one_file_are_both_there_afterwards(
    lock: str, trouble_case: TroubleCase, gate_path: str
) -> None:
    """SCD-03: both edits read, both wrote, one was lost; the paths were spelled differently."""
    file = {"text": "x1 x2"}

    def editing() -> AnyTool:
        options: dict[str, Any] = {"none": {}, "resource": {"resource": ("File", "path")}}.get(lock, {"locks": [lock]})

        @tool(effect="write", name="edit", **options)
        async def edit(path: str, old: str, new: str) -> str:
            """Edit a file by reading all of it and writing all of it."""
            text = file["text"]
            await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(str))])
            file["text"] = text.replace(old, new)
            return path

        return edit

    calls = [
        ToolCall(f"c{n}", "edit", each["args"]) for n, each in enumerate(trouble_case("SCD-03")["input"]["parallel"])
    ]
    async with opened(gate_path, [editing()]) as gate:
        assert [code(each) for each in await gate.call_many(calls, principal=ALICE, run="r")] == ["ok", "ok"]
    assert file["text"] == "y1 y2"
