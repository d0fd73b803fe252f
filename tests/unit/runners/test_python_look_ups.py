"""A look-up tells what it knows; one that raises or hangs tells nothing, and costs nobody else anything."""

import asyncio
import threading
from dataclasses import replace

import pytest
from anyio.lowlevel import checkpoint

from interlock.core.errors import ToolFault
from interlock.core.outcome import Succeeded
from interlock.core.tool import ErrorContract
from interlock.declare import tool
from tests.execution import invocation_of, runner_of


@pytest.mark.requirement("IDEM-3", "IDEM-4")
@pytest.mark.parametrize("code", ["busy", "odd", "undeclared"])
async def test_a_reconcile_function_that_raises_what_its_tool_declares_cannot_tell(code: str) -> None:
    def find(word: str) -> object:
        raise ToolFault(code, "It did not happen.")

    @tool(effect="write", reconcile=find, errors=(ErrorContract("busy", nothing_happened=True), ErrorContract("odd")))
    async def act(word: str) -> None:
        """Act."""

    assert await runner_of(act).reconcile(invocation_of(act, {"word": "x"})) is None


@pytest.mark.requirement("EXEC-1")
@pytest.mark.parametrize("within_s", [0.0, 20.0])
async def test_look_ups_that_hang_take_one_thread_of_a_tool_and_leave_the_others_to_other_tools(
    within_s: float,
) -> None:
    go, asked = threading.Event(), list[str]()

    def find(word: str) -> str:
        asked.append(word)
        go.wait()
        return word

    @tool(effect="write", reconcile=find)
    async def act(word: str) -> None:
        """Act."""

    runner = runner_of(act)
    invocation = replace(invocation_of(act, {"word": "x"}), deadline_s=asyncio.get_running_loop().time() + within_s)
    for _ in range(3):
        looking = asyncio.ensure_future(runner.reconcile(invocation))
        while not asked:
            await checkpoint()
        await checkpoint()
        looking.cancel()
        await asyncio.wait([looking])
    assert asked == ["x"]
    go.set()
    while not runner._looking[invocation.operation.tool.digest].done():
        await checkpoint()
    assert await runner.reconcile(invocation) == Succeeded(b'"x"')
    await runner.close()
