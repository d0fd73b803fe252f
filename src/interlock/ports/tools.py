"""How a tool is run: one attempt at one operation, and what it came to."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import field
from typing import Protocol

from interlock.core.frozen import frozen
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.resource import Resource


@frozen
class Invocation:
    """One attempt at one operation, as a runner gets it. `deadline_s` is on the event loop's clock.

    `secrets` are values by name; they reach the tool's code only. `key` and `fence` travel to tools that can use them.
    `open_items`, where there are any, are all that is to be done.
    """

    operation: Operation
    operation_id: str
    key: str
    fence: int
    deadline_s: float
    secrets: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1
    open_items: tuple[str, ...] = ()


@frozen
class Attempt:
    """What one attempt came to. `tail` completes with the late outcome of work that could not be stopped."""

    outcome: Outcome
    tail: Awaitable[Outcome] | None = None


class Runner(Protocol):
    """Runs one kind of handler. Total: whatever the tool's code does becomes an outcome; only cancellation escapes."""

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt, bounded by its deadline."""

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """The tool's business condition, checked just before the effect."""

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Look up whether the operation happened; None: this tool cannot tell."""

    async def resolve(self, operation: Operation) -> Resource | None:
        """The resource with attributes and version, where the tool has a resolver."""
