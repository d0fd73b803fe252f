"""Finds the runner of a tool by the kind of its handler, and makes it when the first tool needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from interlock.core.errors import SpecInvalid
from interlock.core.tool import ToolSpec
from interlock.ports import Runner


class CodeRunner(Runner, Protocol):
    """A runner as the composition root has it: tools are bound to it before they are published."""

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Take in what runs a tool. Raises `SpecInvalid` where it does not fit the spec."""

    async def close(self) -> None:
        """Let go of threads, connections and processes."""


class RunnersByKind(Mapping[str, CodeRunner]):
    """Runners by handler kind. Most programs need one of them, and pay for no other."""

    def __init__(self, makers: Mapping[str, Callable[[], CodeRunner]]) -> None:
        self._makers = makers
        self._made: dict[str, CodeRunner] = {}

    def __getitem__(self, kind: str) -> CodeRunner:
        runner = self._made.get(kind)
        if runner is None:
            runner = self._made[kind] = self._makers[kind]()
        return runner

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a tool where its handler belongs. Raises `SpecInvalid`."""
        kind = spec.handler.kind
        if kind not in self._makers:
            raise SpecInvalid(f"{spec.name}: nothing here runs handlers of the kind {kind!r}")
        self[kind].bind(spec, code=code)

    async def close(self) -> None:
        """Close those that were made."""
        for runner in self._made.values():
            await runner.close()
