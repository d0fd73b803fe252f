"""Where a published version may stand, what each state allows, and where it may go from there, as literal tables.

    candidate -> restricted -> available -> retired         frozen and quarantined close it meanwhile

Whoever has to know whether a version may be pinned, bound, called or asked asks `ALLOWED`; what moves one asks `MOVES`.
The tables in the documentation are drawn from these (`interlock.core.lifecycle_drawn`). Retired is for good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from interlock.core.frozen import frozen
from interlock.core.refusals import Code


class Lifecycle(StrEnum):
    """Where a published version stands."""

    CANDIDATE = "candidate"
    AVAILABLE = "available"
    RESTRICTED = "restricted"
    FROZEN = "frozen"
    RETIRED = "retired"
    QUARANTINED = "quarantined"


class Use(StrEnum):
    """What a version may be wanted for.

    NAME: its name alone means it, where other versions are there too. NEW_PIN: an agent is pinned to it, or some of its
    calls are sent there. NEW_RUN: a run that starts is bound to it. BOUND_RUN: a run that is bound to it calls it.
    CALL: any other call. CODE: its code is asked what became of earlier calls.
    """

    NAME = "name"
    NEW_PIN = "new pin"
    NEW_RUN = "new run"
    BOUND_RUN = "bound run"
    CALL = "call"
    CODE = "code"


@frozen
class Rule:
    """Whether a use is allowed: `code` refuses it. `drains`: it is allowed until the version's own date for that."""

    code: Code | None = None
    drains: bool = False


YES: Final = Rule()
HIDDEN: Final = Rule(Code.TOOL_NOT_FOUND)
STOPPED: Final = Rule(Code.TOOL_FROZEN)
HELD: Final = Rule(Code.TOOL_QUARANTINED)
GONE: Final = Rule(Code.TOOL_RETIRED)
DRAINS: Final = Rule(Code.TOOL_RETIRED, drains=True)

ALLOWED: Final[Mapping[Lifecycle, Mapping[Use, Rule]]] = MappingProxyType(
    {
        Lifecycle.CANDIDATE: {
            Use.NAME: HIDDEN,
            Use.NEW_PIN: HIDDEN,
            Use.NEW_RUN: HIDDEN,
            Use.BOUND_RUN: HIDDEN,
            Use.CALL: HIDDEN,
            Use.CODE: HIDDEN,
        },
        Lifecycle.RESTRICTED: {
            Use.NAME: HIDDEN,
            Use.NEW_PIN: YES,
            Use.NEW_RUN: YES,
            Use.BOUND_RUN: YES,
            Use.CALL: YES,
            Use.CODE: YES,
        },
        Lifecycle.AVAILABLE: {
            Use.NAME: YES,
            Use.NEW_PIN: YES,
            Use.NEW_RUN: YES,
            Use.BOUND_RUN: YES,
            Use.CALL: YES,
            Use.CODE: YES,
        },
        Lifecycle.FROZEN: {
            Use.NAME: YES,
            Use.NEW_PIN: STOPPED,
            Use.NEW_RUN: YES,
            Use.BOUND_RUN: STOPPED,
            Use.CALL: STOPPED,
            Use.CODE: STOPPED,
        },
        Lifecycle.QUARANTINED: {
            Use.NAME: YES,
            Use.NEW_PIN: HELD,
            Use.NEW_RUN: YES,
            Use.BOUND_RUN: HELD,
            Use.CALL: HELD,
            Use.CODE: HELD,
        },
        Lifecycle.RETIRED: {
            Use.NAME: GONE,
            Use.NEW_PIN: GONE,
            Use.NEW_RUN: GONE,
            Use.BOUND_RUN: DRAINS,
            Use.CALL: GONE,
            Use.CODE: YES,
        },
    }
)
"""What each state allows. A name whose newest version is frozen or quarantined means that one, and is refused: falling
back on an older version would open what a person closed. A run that starts meanwhile is bound to it, and may call it
once it is released. A restricted version serves whom an agent sends to it, and stands for its name only where there is
no other."""

CLOSED: Final[Mapping[Lifecycle, Code]] = MappingProxyType(
    {state: rule.code for state in Lifecycle if (rule := ALLOWED[state][Use.CALL]).code is not None}
)
"""States in which a tool takes no calls, with the code that says so."""

OPEN: Final = frozenset(Lifecycle) - frozenset(CLOSED)
"""States in which a tool takes calls."""

NAMED: Final = frozenset(state for state in OPEN if ALLOWED[state][Use.NAME].code is None)
"""States of versions that a name may be promoted to."""


def refusal(state: Lifecycle, use: Use) -> Code | None:
    """The code that refuses this use of a version in this state; None: it is allowed. Draining counts as refused."""
    return ALLOWED[state][use].code


def drains(state: Lifecycle, use: Use, *, until_us: int | None, now_us: int) -> bool:
    """Whether a use that the state refuses is allowed for a while yet."""
    return ALLOWED[state][use].drains and until_us is not None and now_us < until_us


def precedence(state: Lifecycle) -> int:
    """Which version a name means: the newest of those with the highest, whatever else is published."""
    if ALLOWED[state][Use.NAME].code is None:
        return 3
    return 2 if state in OPEN else 1 if state is Lifecycle.RETIRED else 0


def first_state(others: Collection[Lifecycle], *, gated: bool) -> Lifecycle:
    """Where a new version begins, beside the others of its name: a frozen name stays frozen.

    It is frozen where some of its versions are and none is open. `gated`: nothing opens without passing a gate.
    """
    if gated:
        return Lifecycle.CANDIDATE
    is_frozen = Lifecycle.FROZEN in others and OPEN.isdisjoint(others)
    return Lifecycle.FROZEN if is_frozen else Lifecycle.AVAILABLE


class Need(StrEnum):
    """What the gate of a move may ask for."""

    REASON = "reason"
    OWNER = "owner"
    SCHEMAS = "schemas"
    IDEMPOTENCY = "idempotency"
    CANCELLATION = "cancellation"
    ERRORS = "errors"
    AUDIT_FIELDS = "audit fields"
    EXAMPLES = "examples"
    REVIEW = "review"
    ROLLBACK = "rollback"
    NOTICE = "notice"
    CONFIRMATION = "confirmation"


@frozen
class MoveGate:
    """What a move needs. `firm` is never waived; `waivable` may be, by a named person and with a reason."""

    firm: frozenset[Need] = frozenset()
    waivable: frozenset[Need] = frozenset()

    @property
    def needs(self) -> tuple[Need, ...]:
        """All of them, in the order of `Need`."""
        return tuple(each for each in Need if each in self.firm or each in self.waivable)


_CONTRACT: Final = frozenset({Need.CANCELLATION, Need.ERRORS, Need.AUDIT_FIELDS})
_PROMISES: Final = frozenset({Need.REASON, Need.OWNER, Need.SCHEMAS, Need.IDEMPOTENCY})

AT_ONCE: Final = MoveGate(firm=frozenset({Need.REASON}))
"""What closes a version must not wait for anything but a reason."""

TRIAL: Final = MoveGate(firm=_PROMISES, waivable=_CONTRACT | {Need.REVIEW})
"""What serves few: the contract has to be there, and somebody else has looked."""

RELEASE: Final = MoveGate(firm=_PROMISES, waivable=_CONTRACT | {Need.EXAMPLES, Need.REVIEW, Need.ROLLBACK})
"""What serves all."""

REVIEWED: Final = MoveGate(firm=_PROMISES | {Need.REVIEW}, waivable=_CONTRACT | {Need.EXAMPLES, Need.ROLLBACK})
"""What was held back because it is in doubt: nobody opens it alone."""

FAREWELL: Final = MoveGate(firm=frozenset({Need.REASON}), waivable=frozenset({Need.NOTICE, Need.CONFIRMATION}))
"""What others may rest on."""

MOVES: Final[Mapping[Lifecycle, Mapping[Lifecycle, MoveGate]]] = MappingProxyType(
    {
        Lifecycle.CANDIDATE: {
            Lifecycle.RESTRICTED: TRIAL,
            Lifecycle.AVAILABLE: RELEASE,
            Lifecycle.QUARANTINED: AT_ONCE,
            Lifecycle.RETIRED: AT_ONCE,
        },
        Lifecycle.RESTRICTED: {
            Lifecycle.AVAILABLE: RELEASE,
            Lifecycle.FROZEN: AT_ONCE,
            Lifecycle.QUARANTINED: AT_ONCE,
            Lifecycle.RETIRED: FAREWELL,
        },
        Lifecycle.AVAILABLE: {
            Lifecycle.RESTRICTED: AT_ONCE,
            Lifecycle.FROZEN: AT_ONCE,
            Lifecycle.QUARANTINED: AT_ONCE,
            Lifecycle.RETIRED: FAREWELL,
        },
        Lifecycle.FROZEN: {
            Lifecycle.RESTRICTED: TRIAL,
            Lifecycle.AVAILABLE: RELEASE,
            Lifecycle.QUARANTINED: AT_ONCE,
            Lifecycle.RETIRED: FAREWELL,
        },
        Lifecycle.QUARANTINED: {
            Lifecycle.RESTRICTED: REVIEWED,
            Lifecycle.AVAILABLE: REVIEWED,
            Lifecycle.RETIRED: FAREWELL,
        },
        Lifecycle.RETIRED: {},
    }
)
"""Where a version may go from where it stands, and what each move needs. Retired is for good.

What was frozen goes back through the gate of where it goes, where what it met before holds: see `core.move_gates`."""
