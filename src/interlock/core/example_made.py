"""Makes an example of what is on record of a real call: redacted, with the world as it answered then.

What is no longer kept, was hidden, or cannot be known is left out, and said in the example's remarks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from interlock.core.call import Caller, PrincipalKind
from interlock.core.canonical import Json
from interlock.core.example import (
    EXPECTS,
    NO_VALUES,
    Answer,
    ExampleCaller,
    ExampleKind,
    ExampleWorld,
    Expected,
    ToolExample,
)
from interlock.core.frozen import frozen
from interlock.core.observation import Observation, Status
from interlock.core.redaction import MASK
from interlock.core.refusals import Code
from interlock.core.tool import Document

_KINDS: Final[Mapping[str, ExampleKind]] = {
    Code.PERMISSION_DENIED: ExampleKind.PERMISSION_DENIED,
    Code.TOOL_NOT_ALLOWED: ExampleKind.PERMISSION_DENIED,
    Code.TOOL_NOT_FOUND: ExampleKind.PERMISSION_DENIED,
    Code.CONTEXT_MISSING: ExampleKind.MISSING_ARGUMENT,
    Code.TOOL_TIMEOUT: ExampleKind.TIMEOUT,
    Code.TOOL_UNAVAILABLE: ExampleKind.DEGRADED,
    Code.OUTCOME_UNKNOWN: ExampleKind.DEGRADED,
    Code.TOOL_EXCEPTION: ExampleKind.DEGRADED,
    Code.APPROVAL_REQUIRED: ExampleKind.APPROVAL,
}
"""What a call that ended with a code is an example of; of the kind `wrong` with any other."""


@frozen
class OnRecord:
    """What is still known of a call. `record` is its redacted record, `arguments` an object, redacted, or None.

    `observation` and `caller` are there while they are kept whole. `injected` names arguments that no model gave.
    """

    record: Mapping[str, Json]
    arguments: Json = None
    observation: Observation | None = None
    caller: Caller | None = None
    injected: frozenset[str] = frozenset()
    is_effect: bool = False
    remarks: tuple[str, ...] = ()


def made(known: OnRecord, *, name: str, seen: str = "") -> ToolExample:
    """The example. It expects what the caller was told; a code that was masked is among the remarks."""
    record = known.record
    status, code = _status(record), _text(record, "told") or _text(record, "code")
    kind = _kind(status, code, record)
    return ToolExample(
        name=name,
        tool=_text(record, "tool"),
        kind=kind,
        version=_text(record, "version"),
        expected=Expected(
            status=status,
            code=code,
            tool_code=_tool_code(known),
            data=_data(known),
            effects=1 if known.is_effect and status is Status.OK else None,
        ),
        task=_text(record, "task"),
        caller=_caller(known),
        arguments=_arguments(known),
        world=_world(known, status, code),
        approve=_text(record, "approval") != "" and status is not Status.WAITING,
        seen=seen,
        made_from=_text(record, "subject") or _text(record, "call_id"),
        remarks=tuple(_remarks(known, code)),
    )


def _status(record: Mapping[str, Json]) -> Status:
    said = _text(record, "status")
    return Status(said) if said in list(Status) else Status.UNKNOWN


def _kind(status: Status, code: str, record: Mapping[str, Json]) -> ExampleKind:
    if record.get("replayed") is True and status in EXPECTS[ExampleKind.REPLAY]:
        return ExampleKind.REPLAY
    if status in (Status.OK, Status.PARTIAL):
        return ExampleKind.TYPICAL
    if status in EXPECTS[ExampleKind.ROLLBACK]:
        return ExampleKind.ROLLBACK
    if code == Code.TOOL_ARGUMENT_INVALID and " is missing; " in _text(record, "says"):
        return ExampleKind.MISSING_ARGUMENT
    kind = _KINDS.get(code, ExampleKind.WRONG)
    return kind if status in EXPECTS[kind] else next(each for each in ExampleKind if status in EXPECTS[each])


def _tool_code(known: OnRecord) -> str:
    error = None if known.observation is None else known.observation.error
    return "" if error is None else str(error.details.get("tool_code", ""))


def _data(known: OnRecord) -> Document | None:
    result = known.record.get("result")
    if result is None or _is_summary(result):
        return None
    return Document.of(result)


def _caller(known: OnRecord) -> ExampleCaller:
    caller, record = known.caller, known.record
    behalf = _text(record, "on_behalf_of")
    plain = ExampleCaller(
        id=_text(record, "principal") or "example",
        kind=PrincipalKind(_text(record, "kind") or PrincipalKind.HUMAN),
        acting_for=behalf if behalf and behalf != _text(record, "principal") else None,
        agent=_text(record, "agent"),
        task=_text(record, "task") or "example",
    )
    if caller is None:
        return plain
    return replace(plain, groups=caller.principal.groups, user_requested=caller.user_requested)


def _arguments(known: OnRecord) -> Document:
    if not isinstance(known.arguments, dict):
        return NO_VALUES
    return Document.of({name: each for name, each in known.arguments.items() if name not in known.injected})


def _world(known: OnRecord, status: Status, code: str) -> ExampleWorld:
    """What stood behind the tool, as far as the call came to it."""
    record, says = known.record, _text(known.record, "says")
    result = record.get("result")
    if status in (Status.OK, Status.PARTIAL):
        items = () if known.observation is None else known.observation.open_items
        gives = Document(b"null") if result is None or _is_summary(result) else Document.of(result)
        return ExampleWorld(answers=(Answer(gives=gives, open_items=items),))
    if status is Status.UNKNOWN:
        return ExampleWorld(answers=(Answer(lost=True),), cannot_tell=True)
    if status is Status.FAILED and code == Code.TOOL_TIMEOUT:
        return ExampleWorld(answers=(Answer(hangs=True),))
    if status is Status.FAILED:
        return ExampleWorld(answers=(Answer(fails=_tool_code(known) or code, says=says),))
    return ExampleWorld()


def _remarks(known: OnRecord, code: str) -> Iterator[str]:
    yield from known.remarks
    true_code = _text(known.record, "code")
    if true_code and true_code != code:
        yield f"the caller was told {code}; the true code was {true_code}"
    if known.caller is None:
        yield "who called is not kept whole any more, or never was: their groups and claims are missing"
    elif known.caller.principal.claims:
        yield f"the claims of the caller are left out: {', '.join(sorted(known.caller.principal.claims))}"
    if known.arguments is None:
        yield "the arguments are not kept any more, or made no object: they are missing"
    elif MASK in Document.of(known.arguments).text.decode():
        yield f"something in the arguments was hidden: put a value that is no secret where {MASK} stands"
    if _is_summary(known.record.get("result")):
        yield "the result was too long for its record: it is missing"


def _is_summary(value: Json) -> bool:
    """Whether a record holds the size and the digest of something in its place."""
    return (
        isinstance(value, dict)
        and value.keys() >= {"bytes", "digest"}
        and len(value) <= len(("bytes", "digest", "head"))
    )


def _text(record: Mapping[str, Json], name: str) -> str:
    found = record.get(name)
    return found if isinstance(found, str) else ""
