"""A proposal as a model makes it, beside what is trusted about who makes it.

The two never mix: `ToolCall` holds what a model said, `Caller` what the authenticated channel knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from interlock.core.frozen import frozen


class PrincipalKind(StrEnum):
    """Who acts."""

    HUMAN = "human"
    AGENT = "agent"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, as the authenticated channel knows them.

    A host may name the kind as text, the groups as any collection, and everybody by members of an enum of texts. A kind
    that there is not raises `ValueError`; one text for the groups, or a name that is no text, `TypeError`.
    `acting_for` is the principal id on whose behalf an agent or service acts. `claims` are attested values (such as a
    region or a customer number) that a tool may have injected into its arguments. `actor` is who really sat at it where
    several people share one principal, such as the operator of a command line: recorded, never decided on.
    """

    tenant: str
    id: str
    kind: PrincipalKind = PrincipalKind.HUMAN
    groups: frozenset[str] = frozenset()
    acting_for: str | None = None
    actor: str = ""
    claims: Mapping[str, str | int | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        kind: object = self.kind
        groups: object = self.groups
        names = (self.tenant, self.id, self.acting_for or "", self.actor)
        if (
            type(kind) is PrincipalKind
            and type(groups) is frozenset
            and _PLAIN.issuperset(map(type, (*names, *groups)))
        ):
            return
        if isinstance(groups, str):
            raise TypeError("the groups of a principal are a collection, not one text")
        object.__setattr__(self, "kind", PrincipalKind(self.kind))
        object.__setattr__(self, "groups", frozenset([_plain(each, "group") for each in self.groups]))
        for name in ("tenant", "id", "actor"):
            object.__setattr__(self, name, _plain(getattr(self, name), name))
        if self.acting_for is not None:
            object.__setattr__(self, "acting_for", _plain(self.acting_for, "acting_for"))

    @property
    def acts_for_another(self) -> bool:
        """Whether somebody else stands behind what it does."""
        return self.on_behalf_of != self.id

    @property
    def on_behalf_of(self) -> str:
        """The principal id that an effect is made for."""
        return self.acting_for or self.id


_PLAIN = frozenset({str})


def _plain(text: object, name: str) -> str:
    """The text itself, where it is given as a member of an enum, say, which shows itself otherwise."""
    if not isinstance(text, str):
        raise TypeError(f"the {name} of a principal is a text, not {type(text).__name__}")
    return plain_text(text)


@frozen
class Origin:
    """Which way a call came in: the door, and where known the agent, the model and the trace."""

    door: str = "library"
    agent: str = ""
    model: str = ""
    trace_id: str = ""
    actor: str = ""


LIBRARY = Origin()

SHADOW_DOOR = "shadow"
"""The door of reads that are run beside the version in use, to be compared. They count in nobody's limits."""

RUNS_DOOR = "loop"
"""The door that a run's calls come through."""


@frozen
class Caller:
    """Everything trusted about one proposal.

    `run` and `turn`/`position` place the call in a run; `task` is the business task, `key` the caller's idempotency
    key; `deadline_ms` bounds one attempt of the whole call and restarts when a waiting call is resumed. `pin` is the
    digest of the spec that the name means here: a run is bound to the versions of its start.
    """

    principal: Principal
    run: str | None = None
    task: str | None = None
    key: str | None = None
    turn: int = 0
    position: int = 0
    deadline_ms: int | None = None
    origin: Origin = LIBRARY
    user_requested: bool = False
    pin: str | None = None

    def at(self, position: int) -> Caller:
        """The same, at another place in its turn: written out, as every call of a batch is given one."""
        return Caller(
            self.principal,
            self.run,
            self.task,
            self.key,
            self.turn,
            position,
            self.deadline_ms,
            self.origin,
            self.user_requested,
            self.pin,
        )

    def pinned(self, pin: str | None) -> Caller:
        """The same, who means the spec of this digest by a name; None: the one published last. Written out as well."""
        return Caller(
            self.principal,
            self.run,
            self.task,
            self.key,
            self.turn,
            self.position,
            self.deadline_ms,
            self.origin,
            self.user_requested,
            pin,
        )


@frozen
class ToolCall:
    """What a model proposed. `arguments` is raw JSON text (or an object); `id` is only a label for answering.

    `expectation` is what the model says it expects: untrusted, recorded, shown to approvers, used for nothing.
    """

    id: str
    name: str
    arguments: str | bytes | Mapping[str, object] | None = None
    expectation: str | None = None


_UNSTORABLE = re.compile("[\\x00\\ud800-\\udfff]")


def plain_text(text: str) -> str:
    """The text itself, of a class that is more than text."""
    return str.__str__(text)


def is_storable(text: str) -> bool:
    """Whether the text can be recorded as it is: without NUL and halves of surrogate pairs."""
    return (text.isascii() and "\0" not in text) or _UNSTORABLE.search(text) is None


def storable(text: str) -> str:
    """The text with U+FFFD where it cannot be recorded."""
    return text if is_storable(text) else _UNSTORABLE.sub("\ufffd", text)


def legible(call: ToolCall) -> ToolCall:
    """The same call with texts that can be recorded: NUL, and half of a surrogate pair, become U+FFFD.

    Raises `TypeError` where one of them is no text.
    """
    said = call.id + call.name
    if is_storable(said if call.expectation is None else said + call.expectation):
        return call
    expectation = None if call.expectation is None else storable(call.expectation)
    return replace(call, id=storable(call.id), name=storable(call.name), expectation=expectation)
