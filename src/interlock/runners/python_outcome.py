"""What a Python function gave back or raised, as an outcome."""

from __future__ import annotations

from interlock.core.budget import NOTHING, Amounts
from interlock.core.errors import ToolFault
from interlock.core.frozen import maker
from interlock.core.functions import Result
from interlock.core.outcome import NOTHING_MORE, Failed, Outcome, Partial, Produced, Succeeded
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec
from interlock.runners.encode import Unencodable, encode

make_succeeded = maker(Succeeded)

TRANSIENT = (ConnectionError, TimeoutError)
"""Exceptions of a handler after which a repeatable call may be tried again."""

_DONE = Succeeded(b"null")


def outcome_of(value: object) -> Outcome:
    """The outcome of a handler that returned."""
    produced = NOTHING_MORE
    open_items: tuple[str, ...] = ()
    if isinstance(value, Result):
        produced, open_items, value = _produced(value), value.open_items, value.value
    data = encode(value)
    if isinstance(data, Unencodable):
        message = f"It was executed, but its result cannot be shown: {data.reason}."
        return Failed(Code.OUTPUT_INVALID, message, spent=produced.spent or NOTHING)
    return Partial(data, open_items, produced) if open_items else make_succeeded(data, produced)


def precondition_of(value: object) -> Outcome:
    """None or True: go on. False, or a sentence that says why not: refused. Anything else is no clear yes."""
    if value is None or value is True:
        return _DONE
    message = value if isinstance(value, str) and value else "A condition of the operation does not hold."
    return Failed(Code.PRECONDITION_FAILED, message, nothing_happened=True)


def reconciled_of(value: object) -> Outcome:
    """A value: it happened. None: it did not."""
    if value is None:
        return Failed(Code.TOOL_ERROR, "It did not happen.", nothing_happened=True)
    return outcome_of(value)


def resource_of(value: object) -> Resource | None:
    """What a resolver gave back."""
    return value if isinstance(value, Resource) else None


def failure_of(fault: BaseException, *, spec: ToolSpec) -> Failed:
    """The outcome of a function that raised. Only words that the tool declared or wrote for callers are told."""
    if isinstance(fault, ToolFault):
        return _declared(fault, spec)
    message = f"{spec.name} failed with {type(fault).__name__}."
    return Failed(Code.TOOL_EXCEPTION, message, retryable=isinstance(fault, TRANSIENT))


def _declared(fault: ToolFault, spec: ToolSpec) -> Failed:
    for contract in spec.errors:
        if contract.code == fault.code:
            return Failed(
                Code.TOOL_ERROR,
                fault.message,
                tool_code=fault.code,
                retryable=contract.retryable,
                retry_after_s=fault.retry_after_s,
                nothing_happened=contract.nothing_happened,
            )
    return Failed(Code.TOOL_EXCEPTION, f"{spec.name} reported an error that it does not declare.")


def _produced(result: Result) -> Produced:
    reported = result.cost_micros is not None or result.tokens is not None
    return Produced(
        sources=tuple(result.sources),
        labels=result.labels,
        spent=Amounts(tokens=result.tokens or 0, cost_micros=result.cost_micros or 0) if reported else None,
        resource_version=result.resource_version,
        data_version=result.data_version,
        data_time_us=result.data_time_us,
        cost_reported=result.cost_micros is not None,
    )
