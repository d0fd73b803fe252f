"""What a Python function gave back or raised, as an outcome."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from interlock.core.budget import NOTHING
from interlock.core.errors import ToolFault
from interlock.core.functions import Binary, Result
from interlock.core.outcome import NOTHING_MORE, Failed, Outcome, Partial, Produced, Succeeded, Whole
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import ToolSpec
from interlock.runners.encode import Unencodable, encode
from interlock.runners.python_result import Misstated, read_result

MESSAGE_CHARS_MAX = 65_536
WAIT_MAX_S = 31_536_000.0
_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")

TRANSIENT = (ConnectionError, TimeoutError)
"""Exceptions of a handler after which a repeatable call may be tried again."""

_DONE = Succeeded(b"null")

NOT_HAPPENED = Failed(Code.TOOL_ERROR, "It did not happen.", nothing_happened=True)
"""What a look-up says that gives back None; this very value, for one that raises may use the same words."""


def outcome_of(value: object) -> Outcome:
    """The outcome of a handler that returned."""
    produced = NOTHING_MORE
    open_items: tuple[str, ...] = ()
    if isinstance(value, Result):
        said = read_result(value)
        if isinstance(said, Misstated):
            message = f"It was executed, but what it says of its result cannot be used: {said.part}."
            return Failed(Code.OUTPUT_INVALID, message, spent=said.spent)
        produced, open_items, value = said.produced, said.open_items, value.value
    if isinstance(value, Binary):
        value, produced = _binary(value, produced)
    data = encode(value)
    if isinstance(data, Unencodable):
        message = f"It was executed, but its result cannot be shown: {data.reason}."
        return Failed(Code.OUTPUT_INVALID, message, spent=produced.spent or NOTHING)
    return Partial(data, open_items, produced) if open_items else Succeeded(data, produced)


def _binary(value: Binary, produced: Produced) -> tuple[object, Produced]:
    """What is shown of bytes, and the bytes to be kept."""
    whole = Whole(value.media_type, len(value.data), value.data)
    shown = {"media_type": value.media_type, "size_bytes": len(value.data), "name": value.name}
    return shown, replace(produced, whole=whole)


def precondition_of(value: object) -> Outcome:
    """None or True: go on. False, or a sentence that says why not: refused. Anything else is no clear yes."""
    if value is None or value is True:
        return _DONE
    message = value if isinstance(value, str) and value else "A condition of the operation does not hold."
    return Failed(Code.PRECONDITION_FAILED, message, nothing_happened=True)


def reconciled_of(value: object) -> Outcome:
    """A value: it happened. None: it did not."""
    if value is None:
        return NOT_HAPPENED
    return outcome_of(value)


def resource_of(value: object) -> Resource | None:
    """What a resolver gave back, where it can be judged and recorded."""
    if not isinstance(value, Resource) or not isinstance(value.attributes, Mapping):
        return None
    texts = (value.type, value.id, "" if value.version is None else value.version)
    if not all(type(each) is str for each in texts) or _UNSTORABLE.search("".join(texts)) is not None:
        return None
    return None if isinstance(encode(value.attributes), Unencodable) else value


def failure_of(fault: BaseException, *, spec: ToolSpec) -> Failed:
    """The outcome of a function that raised. Only words that the tool declared or wrote for callers are told."""
    if isinstance(fault, ToolFault):
        return _declared(fault, spec)
    message = f"{spec.name} failed with {type(fault).__name__}."
    return Failed(Code.TOOL_EXCEPTION, message, retryable=isinstance(fault, TRANSIENT))


def _declared(fault: ToolFault, spec: ToolSpec) -> Failed:
    """The error that the tool declares under this code. What it says is a text, or else is not said."""
    code: object = fault.code
    message: object = fault.message
    for contract in spec.errors:
        if type(code) is str and contract.code == code:
            return Failed(
                Code.TOOL_ERROR,
                message[:MESSAGE_CHARS_MAX] if isinstance(message, str) else f"{spec.name} reported {contract.code}.",
                tool_code=contract.code,
                retryable=contract.retryable,
                retry_after_s=_wait_s(fault.retry_after_s),
                nothing_happened=contract.nothing_happened,
            )
    return Failed(Code.TOOL_EXCEPTION, f"{spec.name} reported an error that it does not declare.")


def _wait_s(given: object) -> float | None:
    """How long to wait, where that is a time at all."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= WAIT_MAX_S:
        return None
    return float(given)
