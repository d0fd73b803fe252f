"""Budgets: amounts reserved before a call and settled after it, per scope.

A scope is one thing that a limit is set on (a run, a principal, one tool within a run, ...); its window is 0 for a
lifetime limit, else the start of a rate window. A limit of N allows exactly N.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from operator import add, sub
from typing import NamedTuple, TypeVar

from interlock.core.errors import SettingsInvalid
from interlock.core.frozen import frozen

E = TypeVar("E", bound=StrEnum)


class Unit(StrEnum):
    """What a limit counts; `place` is where `Amounts` holds it."""

    place: int

    ROUNDS = "rounds"
    CALLS = "calls"
    TOKENS = "tokens"
    COST_MICROS = "cost_micros"
    WORKING_MS = "working_ms"
    CONCURRENT = "concurrent"


class Amounts(NamedTuple):
    """One number for each unit. A tuple, because every call adds and compares them."""

    rounds: int = 0
    calls: int = 0
    tokens: int = 0
    cost_micros: int = 0
    working_ms: int = 0
    concurrent: int = 0

    def plus(self, other: Amounts) -> Amounts:
        """Both together."""
        return Amounts._make(map(add, self, other))

    def minus(self, other: Amounts) -> Amounts:
        """What is left without the other."""
        return Amounts._make(map(sub, self, other))


for _unit in Unit:
    _unit.place = Amounts._fields.index(_unit.value)

AMOUNT_MAX = 10**15
"""The most of one unit that a tool may declare for a call, or report of one."""

SUM_MAX = 2**63 - 1
"""The most that any scope adds up to: what a durable store can hold."""

NOTHING = Amounts()
ONE_CALL = Amounts(calls=1)


class ScopeKind(StrEnum):
    """What a limit is set on. OPERATION counts identical operations of one run; TASK sums up what a task spent."""

    RUN = "run"
    AGENT = "agent"
    PRINCIPAL = "principal"
    TENANT = "tenant"
    TOOL = "tool"
    RUN_TOOL = "run_tool"
    TAG = "tag"
    OPERATION = "operation"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `amount` of `unit` on a scope: for its lifetime (`window_s` 0) or in every window of so many seconds.

    Scope and unit may be given as text. Raises `SettingsInvalid` for what there is not, and for numbers below zero.
    """

    scope: ScopeKind
    unit: Unit
    amount: int
    window_s: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", _member(ScopeKind, self.scope, part="scope"))
        object.__setattr__(self, "unit", _member(Unit, self.unit, part="unit"))
        for part, number in (("amount", self.amount), ("window_s", self.window_s)):
            if type(number) is not int or number < 0:
                raise SettingsInvalid(f"a limit's {part} is a whole number from 0, not {number!r}")


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of an installation or run. Absent means unlimited; zero means none at all.

    They may be given as any collection. Raises `SettingsInvalid` for what is no limit.
    """

    limits: tuple[Limit, ...] = ()

    def __post_init__(self) -> None:
        given: object = self.limits
        found = tuple(given) if isinstance(given, Iterable) else (given,)
        for each in found:
            if not isinstance(each, Limit):
                raise SettingsInvalid(f'limits hold limits, such as Limit("run", "calls", 30), not {each!r}')
        object.__setattr__(self, "limits", found)


def _member(kind: type[E], value: str, *, part: str) -> E:
    if value in list(kind):
        return kind(value)
    raise SettingsInvalid(f"a limit's {part} is one of {', '.join(kind)}, not {value!r}")


class ScopeKey(NamedTuple):
    """One usage row: tenant, what it counts for, and the window it counts in (microseconds since 1970; 0: lifetime)."""

    tenant: str
    kind: ScopeKind
    id: str
    window_us: int = 0


class Reservation(NamedTuple):
    """What one call takes from one scope: `amounts` held until settled, `limits` (unit, amount) to hold it under."""

    scope: ScopeKey
    amounts: Amounts
    limits: tuple[Limit, ...] = ()


class Usage(NamedTuple):
    """What a scope has used, and what calls in flight hold of it."""

    used: Amounts = NOTHING
    held: Amounts = NOTHING


@frozen
class Exhausted:
    """Which limit stands in the way: what is left, and when its window resets (microseconds; None: never)."""

    limit: Limit
    scope: ScopeKey
    left: int
    resets_us: int | None


def exhausted(reservation: Reservation, usage: Usage) -> Exhausted | None:
    """The first limit that the reservation would break, or None: the rule that every store guards by."""
    for limit in reservation.limits:
        place = limit.unit.place
        taken = usage.used[place] + usage.held[place]
        if taken + reservation.amounts[place] > limit.amount:
            window_us = reservation.scope.window_us
            resets = window_us + limit.window_s * 1_000_000 if limit.window_s else None
            return Exhausted(limit, reservation.scope, max(0, limit.amount - taken), resets)
    return None


def settled(reserved: Amounts, *, spent: Amounts) -> Amounts:
    """What an ended call has used of a scope: rounds and calls as reserved, the rest as spent; nothing runs now."""
    return Amounts(reserved.rounds, reserved.calls, spent.tokens, spent.cost_micros, spent.working_ms)
