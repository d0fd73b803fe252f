"""Usage and runs in memory: what is used, what is held, what a run has read; every store counts by these rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from interlock.core.budget import SUM_MAX, Amounts, Reservation, ScopeKey, Usage, exhausted, settled
from interlock.core.labels import Labels
from interlock.core.run import RunFacts

RunKey = tuple[str, str]
"""Tenant and run."""

UNUSED = Usage()


class UsageBook(dict[ScopeKey, Usage]):
    """Usage by scope; a scope that was never used has used nothing."""

    def __missing__(self, scope: ScopeKey) -> Usage:
        return UNUSED


class RunBook(dict[RunKey, RunFacts]):
    """Runs by tenant and id; a run that was never seen has done nothing."""

    def __missing__(self, key: RunKey) -> RunFacts:
        return RunFacts(key[1])


class Books:
    """The two books with what has changed in them since `changed_usage` and `changed_runs` were last emptied."""

    def __init__(self, usage: UsageBook, *, runs: RunBook) -> None:
        self.usage = usage
        self.runs = runs
        self.changed_usage: set[ScopeKey] = set()
        self.changed_runs: set[RunKey] = set()

    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Usage] | None:
        """The usage with every reservation held, to be entered with `enter`; None where one of them does not fit."""
        held: dict[ScopeKey, Usage] = {}
        for reservation in reservations:
            scope = reservation.scope
            # One call may name a scope twice; the second has to see the first.
            usage = held[scope] if scope in held else self.usage[scope]
            if reservation.limits and exhausted(reservation, usage) is not None:
                return None
            held[scope] = _holding(usage, amounts=reservation.amounts)
        return held

    def is_at(self, version: int | None, *, run: RunKey) -> bool:
        """Whether nothing that a decision may read of the run has changed since that version, where one is given."""
        return version is None or self.runs[run].version == version

    def enter(self, usage: dict[ScopeKey, Usage]) -> None:
        """Make this the usage of these scopes."""
        self.usage.update(usage)
        self.changed_usage.update(usage)

    def settle(self, holds: Iterable[Reservation], *, spent: Amounts) -> None:
        """Replace what an ended call held by what it used."""
        for scope, amounts, _ in holds:
            self.usage[scope] = _settled(self.usage[scope], amounts=amounts, spent=spent)
            self.changed_usage.add(scope)

    def exchange(self, holds: Iterable[Reservation], *, kept: Iterable[Reservation]) -> None:
        """Hold `kept` in the place of `holds`."""
        for scope, amounts, _ in holds:
            usage = self.usage[scope]
            self.usage[scope] = Usage(usage.used, usage.held.minus(amounts))
            self.changed_usage.add(scope)
        for scope, amounts, _ in kept:
            self.usage[scope] = _holding(self.usage[scope], amounts=amounts)
            self.changed_usage.add(scope)

    def use_up(self, holds: Iterable[Reservation]) -> None:
        """Count as used what is held."""
        for scope, amounts, _ in holds:
            self.usage[scope] = _settled(self.usage[scope], amounts=amounts, spent=amounts)
            self.changed_usage.add(scope)

    def charge(self, charges: Iterable[Reservation]) -> None:
        """Count what was used without having been held."""
        for scope, amounts, _ in charges:
            usage = self.usage[scope]
            self.usage[scope] = Usage(usage.used.plus(amounts), usage.held)
            self.changed_usage.add(scope)

    def join(self, key: RunKey, *, labels: Labels, tool: str = "", denied: str = "") -> None:
        """Add to what a run has read, called and was denied; its version rises only where that changes something."""
        run = self.runs[key]
        joined = run.labels.join(labels)
        if (
            (joined is run.labels or joined == run.labels)
            and (not tool or tool in run.tools)
            and (not denied or denied in run.denied)
        ):
            return
        self.runs[key] = replace(
            run,
            version=run.version + 1,
            labels=joined,
            tools=run.tools | {tool} if tool else run.tools,
            denied=run.denied | {denied} if denied else run.denied,
        )
        self.changed_runs.add(key)


def kept_while_unknown(holds: Iterable[Reservation], *, spent: Amounts) -> tuple[Reservation, ...]:
    """What a call holds once its outcome is unknown: what it will have used, should it turn out to have happened."""
    return tuple(Reservation(scope, settled(amounts, spent=spent)) for scope, amounts, _ in holds)


# The two below are most of what counting costs, so they spell out `Amounts.plus`, `minus` and `core.budget.settled`.
_new = tuple.__new__


def _holding(usage: Usage, *, amounts: Amounts) -> Usage:
    used, (h0, h1, h2, h3, h4, h5) = usage
    a0, a1, a2, a3, a4, a5 = amounts
    return _new(Usage, (used, _new(Amounts, (h0 + a0, h1 + a1, h2 + a2, h3 + a3, h4 + a4, h5 + a5))))


def _settled(usage: Usage, *, amounts: Amounts, spent: Amounts) -> Usage:
    (u0, u1, u2, u3, u4, u5), (h0, h1, h2, h3, h4, h5) = usage
    a0, a1, a2, a3, a4, a5 = amounts
    _, _, tokens, cost_micros, working_ms, _ = spent
    tokens += u2
    cost_micros += u3
    if tokens > SUM_MAX or cost_micros > SUM_MAX:
        tokens, cost_micros = min(tokens, SUM_MAX), min(cost_micros, SUM_MAX)
    used = _new(Amounts, (u0 + a0, u1 + a1, tokens, cost_micros, u4 + working_ms, u5))
    return _new(Usage, (used, _new(Amounts, (h0 - a0, h1 - a1, h2 - a2, h3 - a3, h4 - a4, h5 - a5))))
