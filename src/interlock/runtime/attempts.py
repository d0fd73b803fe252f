"""All attempts at one claimed operation, from the first check to the outcome that may honestly be told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from interlock.core.budget import NOTHING, Amounts
from interlock.core.effect import Effect
from interlock.core.faults import TIMED_OUT, honest
from interlock.core.frozen import frozen
from interlock.core.outcome import Failed, Outcome, Partial, Succeeded, Unknown
from interlock.core.refusals import Code
from interlock.core.retry import may_retry, wait_s
from interlock.core.tool import ToolSpec
from interlock.ports import Attempt, Clock, Entropy, Invocation, Runner
from interlock.runtime.bounded import Overdue, bounded
from interlock.runtime.health import Health

T = TypeVar("T")


@frozen
class _Before:
    """The attempts before this one: what they cost, and whether one of them may have done it (then no later failure can
    prove that nothing happened)."""

    attempts: int = 0
    spent: Amounts = NOTHING
    in_doubt: bool = False

    def then(self, failed: Failed, *, effect: Effect) -> _Before:
        in_doubt = self.in_doubt or isinstance(honest(failed, effect=effect), Unknown)
        return _Before(self.attempts + 1, self.spent.plus(failed.spent), in_doubt)


_FIRST = _Before()


async def attempt_all(
    invocation: Invocation, *, runner: Runner, clock: Clock, entropy: Entropy, health: Health
) -> Attempt:
    """Run it, as often as its effect allows, until `invocation.deadline_s`.

    What proves that nothing ran (breaker, precondition) says so. For anything but a read, a fault after dispatch is
    `Unknown` unless the contract says otherwise. `tail` is there where work goes on that could not be stopped: its
    locks stay held until then. A cancellation gets out; `tail_of` tells whether work goes on behind it.
    """
    operation = invocation.operation
    spec = operation.tool.spec
    pause_s = health.unavailable(spec)
    if pause_s is not None or clock.monotonic_s() >= invocation.deadline_s:
        return Attempt(_not_now(spec, pause_s))
    if spec.precondition or spec.effect.is_effect:  # most reads have nothing to ask, and do not wait for it
        refused = await _refused(invocation, runner=runner, clock=clock)
        if refused is not None:
            return Attempt(refused)
    before = _FIRST
    while True:
        number = before.attempts + 1
        until_s = min(invocation.deadline_s, clock.monotonic_s() + spec.timeout_ms / 1_000)
        numbered = Invocation(
            operation,
            invocation.operation_id,
            invocation.key,
            invocation.fence,
            until_s,
            invocation.secrets,
            number,
            invocation.open_items,
        )
        done = await bounded(runner.run(numbered), until_s=until_s)
        attempt = done if isinstance(done, Attempt) else _timed_out(done)
        failed = attempt.outcome
        health.report(spec, outcome=failed)
        if before is _FIRST and isinstance(failed, Succeeded):
            return attempt  # as most do: there is nothing to add to it
        if not isinstance(failed, Failed) or attempt.tail is not None:
            break
        if not may_retry(spec.effect, failed, attempt=number, rule=spec.retry):
            break
        pause_s = wait_s(spec.retry, failed, attempt=number, jitter=_jitter(entropy))
        if clock.monotonic_s() + pause_s >= invocation.deadline_s or health.unavailable(spec) is not None:
            break
        await clock.sleep(pause_s)
        before = before.then(failed, effect=spec.effect)
    return _told(attempt, before=before, effect=spec.effect)


def tail_of(cancelled: asyncio.CancelledError) -> Awaitable[Outcome] | None:
    """The work that goes on behind a cancellation that left `attempt_all`: its locks and its place stay taken."""
    tail: Awaitable[Outcome] | None = getattr(cancelled, "tail", None)
    return tail


def _not_now(spec: ToolSpec, pause_s: float | None) -> Failed:
    """Why not even the first attempt is made: the tool does not work for so long, or it is too late."""
    if pause_s is None:
        return Failed(Code.DEADLINE_EXCEEDED, "The deadline passed before the call was started.", nothing_happened=True)
    message = f"{spec.name} does not work at present."
    return Failed(Code.TOOL_UNAVAILABLE, message, retryable=True, retry_after_s=pause_s, nothing_happened=True)


async def _refused(invocation: Invocation, *, runner: Runner, clock: Clock) -> Failed | None:
    """Why not even the first attempt is made: its precondition does not hold, or its resource has moved on."""
    spec = invocation.operation.spec
    if spec.precondition and (unmet := await _unmet(invocation, runner=runner, clock=clock)) is not None:
        return unmet
    is_versioned = spec.effect.is_effect and spec.resource is not None and spec.resource.resolved
    return await _moved_on(invocation, runner=runner, clock=clock) if is_versioned else None


async def _unmet(invocation: Invocation, *, runner: Runner, clock: Clock) -> Failed | None:
    """Why the tool itself would not have it started now."""
    until_s = min(invocation.deadline_s, clock.monotonic_s() + invocation.operation.spec.timeout_ms / 1_000)
    found = await bounded(runner.precondition(invocation), until_s=until_s)
    if isinstance(found, Overdue):
        return Failed(Code.PRECONDITION_FAILED, "A condition could not be checked in time.", nothing_happened=True)
    return found


async def _moved_on(invocation: Invocation, *, runner: Runner, clock: Clock) -> Failed | None:
    """Why an effect must not meet its resource as it is by now: it is not the version that it was meant for.

    That is the version that policy judged, or people approved, and the one that the call names.
    """
    operation = invocation.operation
    judged = None if operation.resource is None else operation.resource.version
    meant = operation.values.get(operation.spec.resource_version) if operation.spec.resource_version else None
    until_s = min(invocation.deadline_s, clock.monotonic_s() + operation.spec.timeout_ms / 1_000)
    found = await bounded(runner.resolve(operation), until_s=until_s)
    if isinstance(found, Overdue):
        return Failed(Code.PRECONDITION_FAILED, "Its resource could not be looked at in time.", nothing_happened=True)
    now = None if found is None else found.version
    if judged not in (None, now):
        return Failed(
            Code.PRECONDITION_FAILED, "Its resource has changed since.", retryable=True, nothing_happened=True
        )
    if meant is not None and str(meant) != now:
        says = f"Its resource is at version {now or 'none'} by now; look at it again."
        return Failed(Code.PRECONDITION_FAILED, says, nothing_happened=True)
    return None


def _timed_out(overdue: Overdue[Attempt]) -> Attempt:
    return Attempt(TIMED_OUT, None if overdue.late is None else _then(overdue.late, _late))


def _told(attempt: Attempt, *, before: _Before, effect: Effect) -> Attempt:
    """The last attempt with the number and the cost of all of them, in honest words."""
    tail = attempt.tail
    if tail is not None:
        tail = _then(tail, lambda ended: honest(ended.result(), effect=effect))
    return Attempt(_summed(attempt.outcome, before=before, effect=effect), tail)


def _summed(outcome: Outcome, *, before: _Before, effect: Effect) -> Outcome:
    attempts, spent = before.attempts + 1, before.spent
    if isinstance(outcome, Succeeded | Partial):
        reported = outcome.produced.spent
        known = None if reported is None else reported.plus(spent)
        return replace(outcome, attempts=attempts, produced=replace(outcome.produced, spent=known))
    if isinstance(outcome, Unknown):
        return replace(outcome, attempts=attempts)
    failed = replace(outcome, attempts=attempts, spent=outcome.spent.plus(spent))
    if before.in_doubt and failed.code is not Code.OUTPUT_INVALID:
        return Unknown("An earlier attempt may have done it.", failed.spent if any(failed.spent) else None, attempts)
    return honest(failed, effect=effect)


def _late(ended: asyncio.Future[Attempt]) -> Outcome:
    """The outcome of a runner that did not stop in time."""
    if ended.cancelled():
        return TIMED_OUT
    if ended.exception() is not None:
        return Unknown("It ended with a fault after its time.")
    return ended.result().outcome


def _then(source: Awaitable[T], read: Callable[[asyncio.Future[T]], Outcome]) -> asyncio.Future[Outcome]:
    """A future of what `read` makes of a late result, which nobody needs to await."""
    told: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def tell(ended: asyncio.Future[T]) -> None:
        if not told.done():
            told.set_result(read(ended))

    asyncio.ensure_future(source).add_done_callback(tell)
    return told


def _jitter(entropy: Entropy) -> float:
    return int.from_bytes(entropy.bytes(6)) / 2**48
