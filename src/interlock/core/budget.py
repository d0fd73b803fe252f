"""Budgets: amounts reserved before a call and settled after it, per scope.

A scope is one thing that a limit is set on (a run, a principal, one tool within a run, ...); its window is 0 for a
lifetime limit, else the start of a rate window. A limit of N allows exactly N.

Every call adds amounts in each of its scopes twice, so what a scope sums up to is kept packed: six numbers in the lanes
of one, which one addition adds at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from operator import add, sub
from struct import Struct
from typing import Final, NamedTuple, NewType, Self, TypeVar, cast

from interlock.core.errors import SettingsInvalid
from interlock.core.frozen import frozen

E = TypeVar("E", bound=StrEnum)

_new = tuple.__new__  # what every call makes: a class of tuples has a constructor of its own, which is slow


class Unit(StrEnum):
    """What a limit counts; `place` is where `Amounts` holds it, `shift` how far from the right its lane is."""

    place: int
    shift: int

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


LANE_BITS: Final = 80
"""Wide enough for sums of `AMOUNT_MAX` for as long as a process lives."""

LANE: Final = (1 << LANE_BITS) - 1

for _unit in Unit:
    _unit.place = Amounts._fields.index(_unit.value)
    _unit.shift = _unit.place * LANE_BITS

AMOUNT_MAX = 10**15
"""The most of one unit that a tool may declare for a call, or report of one."""

SUM_MAX = 2**63 - 1
"""The most that any scope adds up to: what a durable store can hold."""

NOTHING = Amounts()
ONE_CALL = Amounts(calls=1)


class ScopeKind(StrEnum):
    """What a limit is set on. OPERATION counts identical operations of one run; TASK sums up what a task spent.

    VENDOR is who runs what is behind a tool. EFFECTS counts the effects on one type of resource that cached reads read;
    nobody sets a limit on it.
    """

    RUN = "run"
    AGENT = "agent"
    PRINCIPAL = "principal"
    TENANT = "tenant"
    TOOL = "tool"
    RUN_TOOL = "run_tool"
    TAG = "tag"
    VENDOR = "vendor"
    OPERATION = "operation"
    TASK = "task"
    EFFECTS = "effects"


LIMITED = tuple(kind for kind in ScopeKind if kind is not ScopeKind.EFFECTS)
"""What a limit may be set on."""

SHAREABLE = (ScopeKind.TOOL, ScopeKind.TAG, ScopeKind.VENDOR)
"""What all tenants may have one limit on together: what they call, never who they are."""


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `amount` of `unit` on a scope: for its lifetime (`window_s` 0) or in every window of so many seconds.

    Each tenant has the whole of it, unless it is `shared`: then all tenants have it together, as they have a vendor's
    quota, and what was refused does not count. Scope and unit may be given as text. Raises `SettingsInvalid` for what
    there is not, and for numbers below zero.
    """

    scope: ScopeKind
    unit: Unit
    amount: int
    window_s: int = 0
    shared: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scope", _member(LIMITED, self.scope, part="scope"))
        object.__setattr__(self, "unit", _member(Unit, self.unit, part="unit"))
        for part, number in (("amount", self.amount), ("window_s", self.window_s)):
            if type(number) is not int or number < 0:
                raise SettingsInvalid(f"a limit's {part} is a whole number from 0, not {number!r}")
        shared: object = self.shared
        if not isinstance(shared, bool) or (shared and self.scope not in SHAREABLE):
            raise SettingsInvalid(f"a limit that all tenants share is on one of {', '.join(SHAREABLE)}")
        if self.window_s and self.unit is Unit.CONCURRENT:
            raise SettingsInvalid("a limit on calls at once has no window: they count while they run")


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of an installation or run. Absent means unlimited; zero means none at all.

    They may be given as any collection. Raises `SettingsInvalid` for what is no limit.
    """

    limits: Sequence[Limit] = ()

    def __post_init__(self) -> None:
        given: object = self.limits
        found = tuple(given) if isinstance(given, Iterable) else (given,)
        for each in found:
            if not isinstance(each, Limit):
                raise SettingsInvalid(f'limits hold limits, such as Limit("run", "calls", 30), not {each!r}')
        object.__setattr__(self, "limits", found)


def _member(known: Iterable[E], value: str, *, part: str) -> E:
    known = tuple(known)
    if value in known:
        return known[known.index(cast(E, value))]
    raise SettingsInvalid(f"a limit's {part} is one of {', '.join(known)}, not {value!r}")


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


def charged(scopes: Iterable[ScopeKey], amounts: Amounts) -> tuple[Reservation, ...]:
    """The same amounts for each of these scopes, held under no limit."""
    return tuple([_new(Reservation, (scope, amounts, ())) for scope in scopes])


Packed = NewType("Packed", int)
"""Amounts in one number; such numbers may be added and subtracted."""


_LANES: Final = Struct("<" + "Q2x" * len(Unit))
"""The lanes of a number as bytes, where each holds at most `SUM_MAX`."""

_UNUSUAL: Final = sum(LANE - SUM_MAX << unit.shift for unit in Unit) + (1 << len(Unit) * LANE_BITS)
"""The bits of a number that are set where a lane is below zero, or more than `SUM_MAX`."""


@lru_cache(4_096)
def packed(amounts: Amounts) -> Packed:
    """The amounts in one number. Remembered, for the calls of a tool take the same time and again."""
    rounds, calls, tokens, cost_micros, working_ms, concurrent = amounts  # a loop takes twice the time
    low = rounds + (calls << LANE_BITS) + (tokens << 2 * LANE_BITS)
    return Packed(low + ((cost_micros + (working_ms << LANE_BITS) + (concurrent << 2 * LANE_BITS)) << 3 * LANE_BITS))


def unpacked(number: int) -> Amounts:
    """The amounts that a number holds, each at most `SUM_MAX`."""
    if number == 0:  # what is held is, between calls
        return NOTHING
    if not number & _UNUSUAL:  # as nearly all are: a number below zero has all of its high bits
        return _new(Amounts, _LANES.unpack(number.to_bytes(_LANES.size, "little")))
    rest, amounts = number, []
    for _ in Amounts._fields:
        lane = rest & LANE
        lane -= lane >> (LANE_BITS - 1) << LANE_BITS  # a lane below zero has borrowed from the next
        rest = (rest - lane) >> LANE_BITS
        amounts.append(min(lane, SUM_MAX))
    return Amounts._make(amounts)


_GUARDS: Final = sum(1 << unit.shift + LANE_BITS - 1 for unit in Unit)
"""The highest bit of each lane, which no amount sets: it is set where something was added that is too much."""

_MOST: Final = LANE >> 1

_COUNTED: Final = sum(LANE << unit.shift for unit in (Unit.ROUNDS, Unit.CALLS))
_SPENT_SHIFT: Final = Unit.TOKENS.shift
"""Where what a call has spent begins: tokens, cost and time stand side by side."""


Counted = tuple[int, int]
"""What a scope has used, and what calls in flight hold of it, packed; `Usage.read` reads it, as no call has to."""


class Usage(Counted):
    """What a scope has used, and what calls in flight hold of it. As a tuple it is both in their packed form."""

    __slots__ = ()

    def __new__(cls, used: Amounts = NOTHING, held: Amounts = NOTHING) -> Self:
        return tuple.__new__(cls, (packed(used), packed(held)))

    @staticmethod
    def read(counted: Counted) -> Usage:
        """The same, to be asked."""
        return counted if isinstance(counted, Usage) else _new(Usage, counted)

    @property
    def used(self) -> Amounts:
        """What calls that have ended used."""
        return unpacked(self[0])

    @property
    def held(self) -> Amounts:
        """What calls in flight may yet use."""
        return unpacked(self[1])

    def __repr__(self) -> str:
        return f"Usage(used={self.used!r}, held={self.held!r})"


@frozen
class Exhausted:
    """Which limit stands in the way: what is left, and when its window resets (microseconds; None: never)."""

    limit: Limit
    scope: ScopeKey
    left: int
    resets_us: int | None


def exhausted(reservation: Reservation, usage: Counted) -> Exhausted | None:
    """The first limit that the reservation would break, or None: the rule that every store guards by."""
    scope, amounts, limits = reservation
    if not limits:
        return None
    used, held = usage
    asked = used + held + packed(amounts)
    for limit in limits:
        if asked >> limit.unit.shift & LANE > limit.amount:
            return _exhausted(limit, scope, taken=(asked >> limit.unit.shift & LANE) - amounts[limit.unit.place])
    return None


def _exhausted(limit: Limit, scope: ScopeKey, *, taken: int) -> Exhausted:
    resets = scope.window_us + limit.window_s * 1_000_000 if limit.window_s else None
    return Exhausted(limit, scope, max(0, limit.amount - taken), resets)


def settled(reserved: Amounts, *, spent: Amounts) -> Amounts:
    """What an ended call has used of a scope: rounds and calls as reserved, the rest as spent; nothing runs now."""
    return Amounts(reserved.rounds, reserved.calls, spent.tokens, spent.cost_micros, spent.working_ms)


class Taken(tuple[Reservation, ...]):
    """The reservations of one call with all that adding and comparing them takes: worked out once for many calls.

    What lies beyond the limit of each unit is one lane of a number. Where that and what is taken sum up to more than a
    lane holds its guard is set, so one addition compares all units of a scope; where there is no limit nothing is.
    `written` is how a store writes them, once one has.
    """

    scopes: tuple[ScopeKey, ...]
    written: bytes | None = None
    _beyond: tuple[int, ...]
    _held: tuple[tuple[ScopeKey, int, int], ...]
    _settled: tuple[tuple[ScopeKey, int, int], ...]

    @staticmethod
    def of(reservations: Iterable[Reservation]) -> Taken:
        """These reservations; the same object where it is one already."""
        if type(reservations) is Taken:
            return reservations
        taken = Taken(reservations)
        taken.scopes = tuple([scope for scope, _, _ in taken])
        beyond, held, settled, sums = [], [], [], dict.fromkeys(taken.scopes, 0)
        for scope, amounts, limits in taken:
            need, over = packed(amounts), _beyond(limits)
            sums[scope] += need  # one call may name a scope twice; the second has to see the first
            beyond.append(over and over + need)
            held.append((scope, sums[scope], over))
            settled.append((scope, need, need & _COUNTED))
        taken._beyond, taken._held, taken._settled = tuple(beyond), tuple(held), tuple(settled)
        return taken

    def fit(self, usage: Sequence[Counted]) -> bool:
        """Whether none of them is `exhausted`, given the usage of each."""
        if len(usage) != len(self._beyond):
            raise ValueError("there is one usage for each reservation")
        for beyond, (used, held) in zip(self._beyond, usage):  # noqa: B905, SIM110 - `strict` is slow, and so is a generator
            if beyond and used + held + beyond & _GUARDS:
                return False
        return True

    def held(self, usage: Mapping[ScopeKey, Counted]) -> dict[ScopeKey, Counted] | None:
        """The usage of these scopes with all of them held; None where one is `exhausted`."""
        found: dict[ScopeKey, Counted] = {}
        for scope, need, beyond in self._held:
            used, held = usage[scope]
            held += need
            if beyond and used + held + beyond & _GUARDS:
                return None
            found[scope] = (used, held)
        return found

    def added(self, usage: Mapping[ScopeKey, Counted]) -> dict[ScopeKey, Counted]:
        """The same whether they fit or not."""
        found: dict[ScopeKey, Counted] = {}
        for scope, need, _ in self._held:
            used, held = usage[scope]
            found[scope] = (used, held + need)
        return found

    def settle(self, usage: MutableMapping[ScopeKey, Counted], *, spent: Amounts) -> None:
        """Have these scopes use what is `settled` in the place of what they held."""
        _, _, tokens, cost_micros, working_ms, _ = spent  # `packed`, spelled out: hardly two calls take the same time
        used_too = tokens + (cost_micros << LANE_BITS) + (working_ms << 2 * LANE_BITS) << _SPENT_SHIFT
        for scope, need, counted in self._settled:
            used, held = usage[scope]
            usage[scope] = (used + (counted + used_too), held - need)


def _beyond(limits: Iterable[Limit]) -> int:
    """What lies beyond the least limit of each unit, in its lane; nothing where there is no limit."""
    least: dict[Unit, int] = {}
    for limit in limits:
        least[limit.unit] = min(least.get(limit.unit, _MOST), limit.amount)
    return sum(_MOST - amount << unit.shift for unit, amount in least.items())
