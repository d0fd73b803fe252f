"""A program that is interrupted while a tool is at work can still close its gate, and the next one finds out."""

import asyncio
from pathlib import Path

import pytest

from interlock import ToolCall, tool
from tests.gates import ALICE, AnyTool, opened


@tool(effect="write", owner="eng", key=["name"])
async def spin(name: str) -> None:
    """Work on the event loop, where the operator's Ctrl-C comes."""
    raise KeyboardInterrupt


@tool(effect="read", owner="eng")
async def look(name: str) -> None:
    """The same, of a read."""
    raise KeyboardInterrupt


@pytest.mark.requirement("IDEM-4")
@pytest.mark.parametrize("interrupted", [spin, look])
def test_a_gate_closes_after_an_interrupt_and_the_next_finds_out_what_became_of_the_call(
    interrupted: AnyTool, tmp_path: Path
) -> None:
    path, loop = str(tmp_path / "gate.db"), asyncio.new_event_loop()
    opening = opened(path, [spin, look])
    gate = loop.run_until_complete(opening.__aenter__())
    calling = gate.call(ToolCall("c1", interrupted.name, {"name": "n"}), principal=ALICE, task="t")
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(calling)
    loop.run_until_complete(asyncio.wait_for(opening.__aexit__(None, None, None), 10))
    loop.close()

    async def next_one() -> tuple[int, int]:
        async with opened(path, [spin, look]) as gate:
            return gate.recovered.unknown, len(await gate._world.recovery.open_calls())

    is_effect = interrupted is spin
    assert asyncio.run(next_one()) == (is_effect, is_effect)
