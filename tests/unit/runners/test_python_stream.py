"""Handlers that yield their result, and handlers whose result is no text."""

from collections.abc import AsyncIterator

import pytest
from anyio.lowlevel import checkpoint

from interlock import Binary, Deny, Result, ToolCall, tool
from interlock.core.artifact import Page
from interlock.runners import spool
from tests.gates import ALICE, BOB, code, gate_path, opened

__all__ = ["gate_path"]

pytestmark = [pytest.mark.requirement("OBS-4")]

PNG = bytes(range(256)) * 3_000


@tool(effect="read", owner="eng", output_bytes_max=100)
async def tail(lines: int) -> AsyncIterator[object]:
    """Read the end of a log."""
    for number in range(lines):
        yield f"line {number}\n" if number % 3 else {"line": number} if number % 2 else "字\n".encode()[:2]
        await checkpoint()


async def test_what_is_yielded_is_one_text_whose_beginning_is_shown(gate_path: str) -> None:
    async with opened(gate_path, (tail,)) as gate:
        seen = await gate.call(ToolCall("c", "tail", {"lines": 5_000}), principal=ALICE)
        assert code(seen) == "ok"
        page = await gate.results.read(str(seen.handle), by=ALICE)
        assert isinstance(page, Page)
        assert page.size_bytes == seen.truncated
        assert "line 1\nline 2\n" in page.text
        assert '{"line":3}\n' in page.text
        assert "�" in page.text
        assert page.text.endswith("line 4999\n")


async def test_a_short_one_is_shown_whole() -> None:
    async with opened(":memory:", (tail,)) as gate:
        seen = await gate.call(ToolCall("c", "tail", {"lines": 3}), principal=ALICE)
        assert (seen.handle, seen.truncated) == (None, None)
        assert "line 1\nline 2\n" in str(seen.data)


async def test_one_that_breaks_off_leaves_nothing_to_read(gate_path: str) -> None:
    @tool(effect="read", owner="eng", output_bytes_max=100)
    async def broken() -> AsyncIterator[str]:
        """Break."""
        yield "x" * 1_000_000
        raise ConnectionError

    async with opened(gate_path, (broken,)) as gate:
        seen = await gate.call(ToolCall("c", "broken", {}), principal=ALICE)
        assert (code(seen), seen.handle, seen.data) == ("TOOL_EXCEPTION", None, None)


async def test_one_that_never_ends_is_stopped_at_its_time_and_closed() -> None:
    closed = []

    @tool(effect="read", owner="eng", output_bytes_max=100, timeout_ms=50)
    async def endless() -> AsyncIterator[str]:
        """Go on."""
        try:
            while True:
                yield "x"
                await checkpoint()
        finally:
            closed.append(True)

    async with opened(":memory:", (endless,)) as gate:
        assert code(await gate.call(ToolCall("c", "endless", {}), principal=ALICE)) == "TOOL_TIMEOUT"
    assert closed


async def test_one_that_is_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "STREAM_CHARS_MAX", 1_000)
    async with opened(":memory:", (tail,)) as gate:
        seen = await gate.call(ToolCall("c", "tail", {"lines": 5_000}), principal=ALICE)
        assert (code(seen), seen.handle) == ("OUTPUT_INVALID", None)


async def test_a_piece_that_cannot_be_shown_ends_it() -> None:
    @tool(effect="read", owner="eng")
    async def strange() -> AsyncIterator[object]:
        """Yield what is no JSON."""
        yield "fine"
        yield object()

    async with opened(":memory:", (strange,)) as gate:
        seen = await gate.call(ToolCall("c", "strange", {}), principal=ALICE)
        assert (code(seen), seen.data) == ("OUTPUT_INVALID", None)


async def test_what_is_no_text_is_kept_whole_and_described(gate_path: str) -> None:
    @tool(effect="read", owner="eng")
    async def draw(how: str) -> Result:
        """Draw something."""
        picture = Binary(PNG, "image/png", "a.png")
        return Result(picture)

    async with opened(gate_path, (draw,)) as gate:
        seen = await gate.call(ToolCall("c", "draw", {"how": "x"}), principal=ALICE)
        assert seen.data == {"media_type": "image/png", "size_bytes": len(PNG), "name": "a.png"}
        assert seen.truncated == len(PNG)
        told, handle = b"", str(seen.handle)
        while isinstance(piece := await gate.results.raw(handle, by=ALICE, offset=len(told)), bytes) and piece:
            told += piece
        assert told == PNG
        assert await gate.results.raw(handle, by=ALICE, offset=300_000, length=3) == PNG[300_000:300_003]
        assert isinstance(await gate.results.part(handle, by=ALICE), Deny)


async def test_bytes_are_given_to_who_may_read_them_only() -> None:
    @tool(effect="read", owner="eng")
    async def draw() -> Binary:
        """Draw something."""
        return Binary(PNG)

    only = '@id("a") permit (principal == User::"alice", action, resource);'
    async with opened(":memory:", (draw,), only) as gate:
        handle = str((await gate.call(ToolCall("c", "draw", {}), principal=ALICE)).handle)
        assert isinstance(await gate.results.raw(handle, by=BOB), Deny)


@pytest.mark.requirement("EXEC-5")
@pytest.mark.parametrize("fault", [GeneratorExit, StopAsyncIteration, SystemExit, BaseException])
async def test_whatever_is_raised_on_the_way_is_a_fault_of_the_tool(fault: type[BaseException]) -> None:
    @tool(effect="read", owner="eng", output_bytes_max=100)
    async def broken() -> AsyncIterator[str]:
        """Break."""
        yield "x"
        raise fault

    @tool(effect="read", owner="eng")
    async def at_once() -> None:
        """Break at once."""
        raise fault

    async with opened(":memory:", (broken, at_once)) as gate:
        for name in ("broken", "at_once"):
            assert code(await gate.call(ToolCall("c", name, {}), principal=ALICE)) == "TOOL_EXCEPTION"
