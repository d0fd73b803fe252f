"""What tests of execution share: operations of declared tools, a loop that needs no time, and a clock on it."""

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any, Protocol

from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.catalogue import Catalogue
from interlock.core.decision import propose
from interlock.core.functions import Declaration
from interlock.core.operation import Operation
from interlock.core.redaction import Redactor
from interlock.core.tool_compile import compile_tool
from interlock.declare import Declared
from interlock.ports import Invocation
from interlock.runners.python import PythonRunner

ALICE = Principal("acme", "alice")
PLAIN = Redactor()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer when nothing else is to be done."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now_s


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        found = super().select(0)
        if not found:
            self._loop.now_s += timeout
        return found


class AnyDeclared(Declaration, Protocol):
    """A declared tool of any kind."""

    @property
    def name(self) -> str: ...


class LoopClock:
    """The running loop's time."""

    def now_us(self) -> int:
        return int(self.monotonic_s() * 1_000_000)

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await passing(seconds)


class Steady:
    """Randomness that always is the middle."""

    def bytes(self, count: int) -> bytes:
        return b"\x80" + bytes(count - 1)


async def passing(seconds: float) -> None:
    """Wait on the running loop's clock; 0 lets everything else go one step."""
    loop = asyncio.get_running_loop()
    passed = loop.create_future()
    timer = loop.call_later(seconds, passed.set_result, None)
    try:
        await passed
    finally:
        timer.cancel()


def operation_of(declared: AnyDeclared, arguments: Mapping[str, object] | None = None) -> Operation:
    """The frozen operation of a call of that tool by Alice, in a business task."""
    tool = compile_tool(declared.spec())
    call = ToolCall("c1", declared.name, dict(arguments or {}))
    operation = propose(call, Caller(ALICE, task="task-1"), Catalogue({("acme", declared.name): tool}))
    assert isinstance(operation, Operation), operation
    return operation


def invocation_of(
    declared: AnyDeclared,
    arguments: Mapping[str, object] | None = None,
    *,
    within_s: float = 60.0,
    secrets: Mapping[str, str] | None = None,
) -> Invocation:
    """An invocation of it, on the running loop's clock."""
    deadline_s = asyncio.get_running_loop().time() + within_s
    operation = operation_of(declared, arguments)
    return Invocation(operation, "op-1", operation.key or "", 7, deadline_s, dict(secrets or {}))


def runner_of(*tools: Declared[..., Any], redactor: Redactor = PLAIN) -> PythonRunner:
    """A runner that those tools are bound to."""
    runner = PythonRunner(redactor=redactor)
    for each in tools:
        runner.bind(each.spec(), code=each.functions)
    return runner
