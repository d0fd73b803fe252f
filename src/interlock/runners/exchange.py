"""What all runners that speak to servers share: how an exchange is done, and what one that broke off means."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from interlock.core.faults import TIMED_OUT
from interlock.core.frozen import frozen
from interlock.core.http_build import Unbuildable
from interlock.core.outcome import Failed
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.tool import ToolSpec
from interlock.ports import Invocation
from interlock.runners.spool import Spool, Spools

LOG = logging.getLogger("interlock.tools")

T = TypeVar("T")

_NOT_SENT = Failed(Code.TOOL_UNAVAILABLE, "It could not be reached in time.", retryable=True, nothing_happened=True)


@frozen
class NoAnswer:
    """Why there is none, in words that hold nothing of request or answer. `passes`: another attempt may fare better."""

    reason: str
    passes: bool = True


@frozen
class Terms:
    """How one exchange is done: the limit of the answer, the waits, and whether its connection may be kept alive.

    `is_redirected`: what leads elsewhere is followed. `spool` opens a place for a text that is over the limit.
    """

    limit: int
    connect_s: float
    read_s: float
    is_read: bool
    spool: Callable[[], Spool] | None = None
    is_redirected: bool = True


@dataclass(slots=True)
class Progress:
    """How far an exchange got: `is_sent` turns true before the first byte of a request may go out, and stays so."""

    is_sent: bool = False


async def heard(asking: Awaitable[T | NoAnswer], invocation: Invocation, *, progress: Progress) -> T | Failed:
    """What came, or what it means that nothing did. Who is cancelled before the deadline is cancelled by others."""
    try:
        found = await asking
    except asyncio.CancelledError:
        if asyncio.get_running_loop().time() < invocation.deadline_s:
            raise
        return not_in_time(progress)
    return not_answered(found, invocation, progress=progress) if isinstance(found, NoAnswer) else found


def not_loaded(spec: ToolSpec, *, what: str) -> Failed:
    """The tool is published, and this process was not given what runs it."""
    return Failed(Code.TOOL_UNAVAILABLE, f"The {what} of {spec.name} are not loaded.", nothing_happened=True)


def not_built(why: Unbuildable, spec: ToolSpec) -> Failed:
    """Nothing was sent: an argument cannot stand in what is sent, or a credential cannot."""
    if why.of_credential:
        return Failed(Code.CONTEXT_MISSING, f"{spec.name}: {why.reason}.", nothing_happened=True)
    message = f"{why.argument or 'The arguments'} cannot be sent: {why.reason}."
    return Failed(Code.TOOL_ARGUMENT_INVALID, message, nothing_happened=True)


def not_in_time(progress: Progress) -> Failed:
    """Its time is up."""
    return TIMED_OUT if progress.is_sent else _NOT_SENT


def not_answered(why: NoAnswer, invocation: Invocation, *, progress: Progress) -> Failed:
    """There is no answer. Whether anything may have arrived is all that is known."""
    spec = invocation.operation.spec
    LOG.warning("%s, operation %s: no answer, %s", spec.name, invocation.operation_id, why.reason)
    message = f"{spec.name} gave no answer: {why.reason}."
    return Failed(Code.TOOL_UNAVAILABLE, message, retryable=why.passes, nothing_happened=not progress.is_sent)


def spool_for(invocation: Invocation, spools: Spools, redactor: Redactor) -> Spool:
    """A place for what is over the tool's limit, cleaned of the call's credentials too."""
    operation = invocation.operation
    known = redactor.with_secrets(invocation.secrets.values())
    return spools.open(operation.caller.principal.tenant, redactor=known, shown_max=operation.spec.output_bytes_max)
