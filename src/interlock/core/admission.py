"""Lets in only what can be recorded: texts of a call and its caller that the store and its log can hold.

What a model says is mended (`legible`), as its words mean nothing by themselves. What the channel says is refused where
it cannot be kept as it is: two tasks whose names are mended to the same one would share their effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from interlock.core.call import LIBRARY, Caller, Origin, Principal, ToolCall, is_storable, legible, plain_text, storable
from interlock.core.decision import Deny
from interlock.core.frozen import fields_of
from interlock.core.refusals import Code

CALL_ID_CHARS_MAX = 256
TEXT_CHARS_MAX = 512
"""How long a name may be that the channel gives: of a tenant, a principal, a run, a task, a key, a group."""


def admit(call: ToolCall, caller: Caller) -> tuple[ToolCall, Caller, Deny | None]:
    """The call and its caller as they can be recorded, and where they may not go on as they are, why."""
    try:
        call = legible(call)
    except TypeError:
        return _without_words(call, caller)
    wrong = None
    if not _is_plain(caller):
        caller = _spelled(caller)
        wrong = next(_unfit(caller), None)
    if wrong is not None:
        message = f"The session's {wrong} cannot be recorded: it is too long, or no text."
        return replace(call, id=call.id[:CALL_ID_CHARS_MAX]), _mended(caller), Deny(Code.CONTEXT_MISSING, message)
    if len(call.id) > CALL_ID_CHARS_MAX:
        message = f"The call's id is longer than {CALL_ID_CHARS_MAX} characters."
        return replace(call, id=call.id[:CALL_ID_CHARS_MAX]), caller, Deny(Code.TOOL_ARGUMENT_INVALID, message)
    return call, caller, None


def _without_words(call: ToolCall, caller: Caller) -> tuple[ToolCall, Caller, Deny]:
    """A call that names something by what is no text, as a model's JSON may: refused, and kept without it."""
    expectation: object = "" if call.expectation is None else call.expectation
    said: dict[str, object] = {"id": call.id, "name": call.name, "expectation": expectation}
    wrong = [name for name, text in said.items() if not isinstance(text, str)]
    call, caller, deny = admit(replace(call, **dict.fromkeys(wrong, "")), caller)
    return call, caller, deny or Deny(Code.TOOL_ARGUMENT_INVALID, f"The call's {' and '.join(wrong)} must be text.")


def _is_plain(caller: Caller) -> bool:
    """Whether all of it is surely in order. This is done for every call, so those who call often are looked at once."""
    principal, origin = caller.principal, caller.origin
    if principal.claims or (caller.key is not None and not _fits(caller.key)):
        return False
    names: tuple[str | None, ...] = (
        principal.tenant,
        principal.id,
        principal.acting_for,
        principal.actor,
        caller.run,
        caller.task,
    )
    if origin is not LIBRARY:
        names = (*names, origin.door, origin.agent, origin.model, origin.trace_id, origin.actor)
    try:
        return _are_plain(principal.groups, names, (caller.run.__class__, caller.task.__class__))
    except TypeError:  # a list, say, where a name should be
        return False


_PLAIN: Final = frozenset({str, type(None)})


@lru_cache(maxsize=4_096)
def _are_plain(groups: frozenset[str], names: tuple[str | None, ...], kinds: tuple[type, ...]) -> bool:
    """`kinds` are those of run and task, which keys are made of: a member of an enum is equal to its text, and none."""
    return _PLAIN.issuperset(kinds) and all(map(_fits, groups)) and all(map(_fits, filter(None, names)))


def _fits(text: str) -> bool:
    return type(text) is str and len(text) <= TEXT_CHARS_MAX and is_storable(text)


def _spelled(caller: Caller) -> Caller:
    """The caller with texts in the place of what are more than texts, such as members of enums."""
    given = {"run": caller.run, "task": caller.task, "key": caller.key}
    spelled = {name: _spelling(text) for name, text in given.items() if _spelling(text) is not text}
    told = tuple(fields_of(caller.origin).values())
    if any(_spelling(text) is not text for text in told):
        spelled["origin"] = Origin(*map(_spelling, told))  # type: ignore[arg-type]  # what is no text is refused next
    return replace(caller, **spelled) if spelled else caller  # type: ignore[arg-type]


def _spelling(text: object) -> object:
    return plain_text(text) if isinstance(text, str) and type(text) is not str else text


def _unfit(caller: Caller) -> Iterator[str]:
    """What is named so that it cannot be recorded."""
    for name, text in _named(caller):
        if text is not None and not _fits(text):
            yield name
    for claim, value in caller.principal.claims.items():
        given: object = value
        if not isinstance(given, str | int | float) or not is_storable(f"{claim}{value}"):
            yield "claim"


def _named(caller: Caller) -> Iterator[tuple[str, str | None]]:
    principal, origin = caller.principal, caller.origin
    yield from (("tenant", principal.tenant), ("principal", principal.id), ("acting_for", principal.acting_for))
    yield from (("run", caller.run), ("task", caller.task), ("key", caller.key), ("actor", principal.actor))
    yield from (("group", each) for each in principal.groups)
    yield from (("door", origin.door), ("agent", origin.agent), ("model", origin.model))
    yield from (("trace id", origin.trace_id), ("actor", origin.actor))


def _mended(caller: Caller) -> Caller:
    """The caller as the record of the refusal has it. No policy is asked about it."""
    principal, origin = caller.principal, caller.origin
    return replace(
        caller,
        principal=Principal(
            _text(principal.tenant),
            _text(principal.id),
            principal.kind,
            frozenset(map(_text, principal.groups)),
            None if principal.acting_for is None else _text(principal.acting_for),
            _text(principal.actor),
        ),
        run=None if caller.run is None else _text(caller.run),
        task=None if caller.task is None else _text(caller.task),
        key=None if caller.key is None else _text(caller.key),
        origin=Origin(*map(_text, (origin.door, origin.agent, origin.model, origin.trace_id, origin.actor))),
    )


def _text(text: object) -> str:
    return storable(text)[:TEXT_CHARS_MAX] if isinstance(text, str) else ""
