"""Runs Python functions: async ones in place, sync ones in a bounded pool of threads.

Total: whatever a function does becomes an outcome. Only a cancellation by the caller gets out; at its deadline a call
that is still in a thread answers instead, with a tail that completes when the thread does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from interlock.core.errors import SpecInvalid, StoreError
from interlock.core.faults import TIMED_OUT
from interlock.core.frozen import frozen
from interlock.core.functions import Functions
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome, Succeeded
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec, spec_digest
from interlock.ports import Attempt, Invocation
from interlock.runners.python_function import Misfit, PythonFunction, check_parameters, read_function
from interlock.runners.python_outcome import (
    NOT_HAPPENED,
    failure_of,
    outcome_of,
    precondition_of,
    reconciled_of,
    resource_of,
)
from interlock.runners.python_stream import streamed
from interlock.runners.spool import Spools
from interlock.runners.threads import PoolFull, StillRunning, Threads
from interlock.runtime.faults import report

T = TypeVar("T")
Read = Callable[[object], T]

LOG = logging.getLogger("interlock.tools")

_FULL = Failed(
    Code.TOOL_UNAVAILABLE,
    "Too many calls are running at present.",
    retryable=True,
    retry_after_s=1.0,
    nothing_happened=True,
)


@frozen
class Bound:
    """The functions of one tool version."""

    handler: PythonFunction
    reconcile: PythonFunction | None
    precondition: PythonFunction | None
    resolver: PythonFunction | None


class PythonRunner:
    """Runs the functions bound to it, by the digest of the spec that they were declared for.

    `redactor` cleans a stack trace before it goes to the log `interlock.tools`, the only place it goes to; it is told
    the credentials that the call was given.
    """

    def __init__(self, *, redactor: Redactor, threads: Threads | None = None, spools: Spools | None = None) -> None:
        self._redactor = redactor
        self._spools = spools
        self._threads = threads or Threads()
        self._bound: dict[str, Bound] = {}
        self._looking: dict[str, asyncio.Future[object]] = {}

    def bind(self, spec: ToolSpec, *, code: object) -> None:
        """Bind a tool's `Functions` to its spec. Raises `SpecInvalid` where they do not fit it."""
        if not isinstance(code, Functions):
            raise SpecInvalid(f"{spec.name}: a tool of the kind python is run by functions")
        functions = code
        schema = spec.input_schema.value
        properties = schema.get("properties") if isinstance(schema, dict) else None
        known = frozenset(properties) if isinstance(properties, dict) else frozenset()
        check_parameters(functions.handler, properties=known, name=spec.name)
        if (spec.reconcile and not functions.reconcile) or (spec.precondition and not functions.precondition):
            raise SpecInvalid(f"{spec.name}: it declares a reconcile or precondition function, but none was given")
        handler = read_function(functions.handler, conversions=functions.conversions, all_names=True)
        if spec.resumes and not handler.contexts:
            raise SpecInvalid(f"{spec.name}: it resumes, so it has to take a Context, which says what is open")
        beside = [functions.reconcile, functions.precondition, functions.resolver]
        self._bound[spec_digest(spec)] = Bound(
            handler,
            *[each and read_function(each, conversions=functions.conversions, all_names=False) for each in beside],
        )

    async def close(self) -> None:
        """Let idle threads end."""
        self._threads.close()

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt."""
        bound = self._bound.get(invocation.operation.tool.digest)
        if bound is None:
            name = invocation.operation.spec.name
            return Attempt(Failed(Code.TOOL_UNAVAILABLE, f"The code of {name} is not loaded.", nothing_happened=True))
        if bound.handler.is_async:
            try:  # `_here` spelled out: every call comes by
                work: Any = bound.handler.call(invocation)
                return Attempt(outcome_of(await work))
            except BaseException as fault:  # a tool may raise anything, SystemExit included
                if not _is_its_own(fault):
                    raise
                return Attempt(self._failed(fault, invocation=invocation))
        if bound.handler.is_stream:
            return Attempt(await self._streamed(bound.handler, invocation=invocation))
        outcome, tail = await self._in_thread(bound.handler, invocation=invocation, read=outcome_of)
        return Attempt(outcome, tail)

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """The reason why the operation must not start; anything but a clear yes is one."""
        bound = self._bound.get(invocation.operation.tool.digest)
        if bound is None or bound.precondition is None:
            return None
        outcome = await self._result(bound.precondition, invocation=invocation, read=precondition_of)
        if isinstance(outcome, Succeeded):
            return None
        told = isinstance(outcome, Failed) and outcome.code in (Code.PRECONDITION_FAILED, Code.TOOL_ERROR)
        message = outcome.message if isinstance(outcome, Failed) and told else "A condition could not be checked."
        return Failed(Code.PRECONDITION_FAILED, message, nothing_happened=True)

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Whether it happened, as the tool's look-up says; None where it raises."""
        bound = self._bound.get(invocation.operation.tool.digest)
        if bound is None or bound.reconcile is None:
            return None
        outcome = await self._looked_up(bound.reconcile, invocation=invocation)
        # An error that it raises says how the look-up went, also where the tool declares that nothing happens with it.
        told = not isinstance(outcome, Failed) or outcome is NOT_HAPPENED or outcome.code is Code.OUTPUT_INVALID
        return outcome if told else None

    async def _looked_up(self, function: PythonFunction, *, invocation: Invocation) -> Outcome | None:
        """What a look-up says. While one of this tool hangs in its thread no other begins, or they would take all."""
        if function.is_async:
            return await self._here(function, invocation=invocation, read=reconciled_of)
        digest = invocation.operation.tool.digest
        before = self._looking.pop(digest, None)
        if before is not None and not before.done():
            self._looking[digest] = before
            return None
        try:
            outcome, tail = await self._in_thread(function, invocation=invocation, read=reconciled_of)
        except StillRunning as cut_off:
            self._looking[digest] = asyncio.ensure_future(cut_off.tail)
            raise
        if tail is not None:
            self._looking[digest] = asyncio.ensure_future(tail)
        return outcome

    async def resolve(self, operation: Operation) -> Resource | None:
        """The resource as the tool's resolver knows it."""
        bound = self._bound.get(operation.tool.digest)
        if bound is None or bound.resolver is None:
            return None
        deadline_s = asyncio.get_running_loop().time() + operation.spec.timeout_ms / 1_000
        asking = Invocation(operation, "", operation.key or "", 0, deadline_s)
        found = await self._result(bound.resolver, invocation=asking, read=resource_of)
        return None if isinstance(found, Failed) else found

    async def _streamed(self, function: PythonFunction, *, invocation: Invocation) -> Outcome:
        spec, tenant = invocation.operation.spec, invocation.operation.caller.principal.tenant
        if self._spools is None:
            message = "Nothing here keeps long results."
            return Failed(Code.TOOL_UNAVAILABLE, message, nothing_happened=True)
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        spool = self._spools.open(tenant, redactor=redactor, shown_max=spec.output_bytes_max)
        try:
            chunks: Any = function.call(invocation)
            return await streamed(chunks, spool)
        except StoreError:
            raise
        except BaseException as fault:
            if not _is_its_own(fault):
                raise
            return self._failed(fault, invocation=invocation)

    async def _result(self, function: PythonFunction, *, invocation: Invocation, read: Read[T]) -> T | Failed:
        if function.is_async:
            return await self._here(function, invocation=invocation, read=read)
        return (await self._in_thread(function, invocation=invocation, read=read))[0]

    async def _here(self, function: PythonFunction, *, invocation: Invocation, read: Read[T]) -> T | Failed:
        try:
            work: Any = function.call(invocation)
            return read(await work)
        except BaseException as fault:
            if not _is_its_own(fault):
                raise
            return self._failed(fault, invocation=invocation)

    async def _in_thread(
        self, function: PythonFunction, *, invocation: Invocation, read: Read[T]
    ) -> tuple[T | Failed, Awaitable[T | Failed] | None]:
        try:
            work = self._threads.start(partial(self._there, function, invocation=invocation, read=read))
        except PoolFull:
            return _FULL, None
        try:
            return await asyncio.shield(work.outcome), None
        except asyncio.CancelledError:
            overdue = asyncio.get_running_loop().time() >= invocation.deadline_s
            if work.withdraw():
                if overdue:
                    return _FULL, None
                raise
            if overdue:
                return TIMED_OUT, work.outcome
            raise StillRunning(work.outcome) from None

    def _there(self, function: PythonFunction, *, invocation: Invocation, read: Read[T]) -> T | Failed:
        """In a thread, where nothing at all may get out."""
        try:
            return read(function.call(invocation))
        except BaseException as fault:  # noqa: BLE001 - a tool may raise anything, SystemExit included
            return self._failed(fault, invocation=invocation)

    def _failed(self, fault: BaseException, *, invocation: Invocation) -> Failed:
        spec = invocation.operation.spec
        if isinstance(fault, Misfit):
            message = f"{fault} is not what the code of {spec.name} takes."
            return Failed(Code.TOOL_ARGUMENT_INVALID, message, nothing_happened=True)
        failed = failure_of(fault, spec=spec)
        if failed.tool_code:  # it is declared: nothing is wrong with the tool's code
            LOG.info("%s, operation %s: it reported %s", spec.name, invocation.operation_id, failed.tool_code)
            return failed
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        what = f"{spec.name}, operation {invocation.operation_id}:"
        report(LOG, what, fault=fault, redactor=redactor, level=logging.ERROR)
        return failed


def _is_its_own(fault: BaseException) -> bool:
    """Whether the code of the tool raised it: it did not where this call was cancelled, or the program is to end.

    Nor where its coroutine is closed unfinished, which happens in no task.
    """
    if isinstance(fault, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and not task.cancelling()
    if isinstance(fault, GeneratorExit):
        with suppress(RuntimeError):  # no loop runs any more
            return asyncio.current_task() is not None
        return False
    return not isinstance(fault, KeyboardInterrupt)
