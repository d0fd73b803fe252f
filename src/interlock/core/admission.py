"""Lets in only what can be recorded: texts of a call and its caller that the store and its log can hold.

What a model says is mended (`legible`), as its words mean nothing by themselves. What the channel says is refused where
it cannot be kept as it is: two tasks whose names are mended to the same one would share their effects.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from interlock.core.call import LIBRARY, Caller, Origin, Principal, ToolCall, is_storable, legible, storable
from interlock.core.decision import Deny
from interlock.core.refusals import Code

CALL_ID_CHARS_MAX = 256
TEXT_CHARS_MAX = 512
"""How long a name may be that the channel gives: of a tenant, a principal, a run, a task, a key, a group."""


def admit(call: ToolCall, caller: Caller) -> tuple[ToolCall, Caller, Deny | None]:
    """The call and its caller as they can be recorded, and where they may not go on as they are, why."""
    call = legible(call)
    wrong = None if _is_plain(caller) else next(_unfit(caller), None)
    if wrong is not None:
        message = f"The session's {wrong} cannot be recorded: it is too long, or no text."
        return replace(call, id=call.id[:CALL_ID_CHARS_MAX]), _mended(caller), Deny(Code.CONTEXT_MISSING, message)
    if len(call.id) > CALL_ID_CHARS_MAX:
        message = f"The call's id is longer than {CALL_ID_CHARS_MAX} characters."
        return replace(call, id=call.id[:CALL_ID_CHARS_MAX]), caller, Deny(Code.TOOL_ARGUMENT_INVALID, message)
    return call, caller, None


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
    return _are_plain(principal.groups, names)


@lru_cache(maxsize=4_096)
def _are_plain(groups: frozenset[str], names: tuple[str | None, ...]) -> bool:
    return all(map(_fits, groups)) and all(map(_fits, filter(None, names)))


def _fits(text: str) -> bool:
    return len(text) <= TEXT_CHARS_MAX and is_storable(text)


def _unfit(caller: Caller) -> Iterator[str]:
    """What is named so that it cannot be recorded."""
    for name, text in _named(caller):
        if text is not None and not _fits(text):
            yield name
    for claim, value in caller.principal.claims.items():
        if not is_storable(f"{claim}{value}"):
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


def _text(text: str) -> str:
    return storable(text)[:TEXT_CHARS_MAX]
