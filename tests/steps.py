"""How much work something is, as the number of lines of ours that it runs: the same on any machine, however busy."""

import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any

OURS = "/src/interlock/"


class Steps:
    """Counts the lines of Interlock that run while it is entered, in this thread."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> "Steps":
        self._before = sys.gettrace()
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        return self._line if OURS in frame.f_code.co_filename else None

    def _line(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        self.count += event == "line"
        return self._line


def steps(work: Callable[[], object]) -> int:
    """The lines that some work takes."""
    with Steps() as counted:
        work()
    return counted.count


async def steps_of(work: Callable[[], Awaitable[object]]) -> int:
    """The same of work that is awaited."""
    with Steps() as counted:
        await work()
    return counted.count
