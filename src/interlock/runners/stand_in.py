"""Stands in for what is behind the tools while an example runs: it answers what the example says, and runs nothing.

A function of the example's own may stand in for a handler, and a read that is a Python function may run itself where
the example says so. A tool of which nothing is said cannot be reached, and that it was asked for is remembered.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from interlock.core.canonical import Json, canonical
from interlock.core.errors import ToolFault
from interlock.core.example import Answer, ToolExample
from interlock.core.faults import TIMED_OUT
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Partial, Produced, Succeeded
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec
from interlock.ports import Attempt, Invocation
from interlock.runners.by_kind import CodeRunner
from interlock.runners.python_outcome import NOT_HAPPENED, failure_of, outcome_of, precondition_of

KINDS: Final = ("python", "sandbox", "http", "grpc", "mcp")
"""The kinds of handlers that it stands in for: all that there are."""

BROKEN: Final = Failed(Code.TOOL_UNAVAILABLE, "The connection broke after it was asked.", retryable=True)


class MovedClock(Protocol):
    """A clock that can be moved: what takes its time takes none here."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back."""

    def advance(self, seconds: float) -> None:
        """Move it."""


@dataclass(slots=True)
class Played:
    """What happened behind the tools: how often something may have been changed, and what nothing was said of."""

    effects: int = 0
    unsaid: list[str] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)


class StandIn:
    """A runner for every kind of handler, for one example. `fixtures` are functions by the tool that they stand in for.

    `real` runs the handler of the example's own tool, where that is let.
    """

    def __init__(
        self,
        example: ToolExample,
        clock: MovedClock,
        *,
        fixtures: Mapping[str, Callable[..., object]],
        real: CodeRunner,
    ) -> None:
        self._example = example
        self._answers = {example.tool: example.world.answers, **example.world.others}
        self._clock = clock
        self._fixtures = fixtures
        self._real = real
        self.played = Played()

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Take in what may run really, and nothing else."""
        if self._runs_really(spec):
            self._real.bind(spec, code=code)

    async def close(self) -> None:
        """Let go of what ran really."""
        await self._real.close()

    async def run(self, invocation: Invocation) -> Attempt:
        """Answer in its place."""
        spec = invocation.operation.spec
        attempt = await self._answered(invocation, spec)
        failed = attempt.outcome
        if spec.effect.is_effect and not (isinstance(failed, Failed) and failed.nothing_happened):
            self.played.effects += 1
        return attempt

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """What the example has the tool say against it."""
        if not self._is_own(invocation.operation):
            return None
        outcome = precondition_of(self._example.world.refuses or None)
        return outcome if isinstance(outcome, Failed) else None

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """What the example has a look-up find."""
        world = self._example.world
        if not self._is_own(invocation.operation) or world.cannot_tell:
            return None
        return NOT_HAPPENED if world.found.value is None else Succeeded(canonical(world.found.value))

    async def resolve(self, operation: Operation) -> Resource | None:
        """The resource as the example has it."""
        held, world = operation.resource, self._example.world
        if held is None or not self._is_own(operation):
            return None
        attributes = world.resource.value
        return Resource(held.type, held.id, world.resource_version, attributes if isinstance(attributes, dict) else {})

    def _is_own(self, operation: Operation) -> bool:
        return operation.spec.name == self._example.tool

    def _runs_really(self, spec: ToolSpec) -> bool:
        """Only a read that is a Python function may, whatever other versions of it are: those are answered for."""
        is_own = self._example.world.real and spec.name == self._example.tool
        return is_own and spec.handler.kind == "python" and not spec.effect.is_effect

    async def _answered(self, invocation: Invocation, spec: ToolSpec) -> Attempt:
        if self._runs_really(spec):
            return await self._real.run(invocation)
        fixture = self._fixtures.get(spec.name)
        if fixture is not None:
            return Attempt(await _called(fixture, invocation.operation.values, spec=spec))
        answers, count = self._answers.get(spec.name, ()), self.played.asked.get(spec.name, 0)
        self.played.asked[spec.name] = count + 1
        if not answers:
            self.played.unsaid.append(spec.name)
            says = f"Nothing is said of what {spec.name} answers."
            return Attempt(Failed(Code.TOOL_UNAVAILABLE, says, nothing_happened=True))
        return self._given(answers[min(count, len(answers) - 1)], invocation, spec=spec)

    def _given(self, answer: Answer, invocation: Invocation, *, spec: ToolSpec) -> Attempt:
        left_s = invocation.deadline_s - self._clock.monotonic_s()
        self._clock.advance(max(0.0, min(left_s, left_s if answer.hangs else answer.takes_ms / 1_000)))
        if answer.hangs or answer.takes_ms / 1_000 >= left_s:
            return Attempt(TIMED_OUT)
        if answer.lost:
            return Attempt(BROKEN)
        if answer.fails:
            return Attempt(_failure(answer, spec))
        produced = Produced(sources=answer.sources, resource_version=answer.resource_version)
        data = canonical(answer.gives.value)
        if answer.open_items:
            return Attempt(Partial(data, answer.open_items, produced))
        return Attempt(Succeeded(data, produced))


def _failure(answer: Answer, spec: ToolSpec) -> Failed:
    """An error that the tool declares goes before one of ours of the same name."""
    declared = any(each.code == answer.fails for each in spec.errors)
    if not declared and answer.fails in Code.__members__:
        code = Code(answer.fails)
        return Failed(code, answer.says or f"{spec.name} failed.", retryable=code is Code.TOOL_UNAVAILABLE)
    return failure_of(ToolFault(answer.fails, answer.says), spec=spec)


async def _called(fixture: Callable[..., object], arguments: Mapping[str, Json], *, spec: ToolSpec) -> Outcome:
    try:
        value = fixture(**arguments)
        return outcome_of(await value if isinstance(value, Awaitable) else value)
    except Exception as fault:  # noqa: BLE001 - an example's own code may raise anything; that is the tool's failure
        return failure_of(fault, spec=spec)
