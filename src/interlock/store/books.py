"""Usage and runs in memory: what is used, what is held, what a run has read; every store counts by these rules."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.core.budget import Amounts, Counted, Reservation, ScopeKey, Taken, Usage, packed, settled
from interlock.core.labels import Labels
from interlock.core.run import RunFacts

RunKey = tuple[str, str]
"""Tenant and run."""

UNUSED = Usage()


class UsageBook(dict[ScopeKey, Counted]):
    """Usage by scope; a scope that was never used has used nothing."""

    def __missing__(self, scope: ScopeKey) -> Counted:
        return UNUSED

    def of(self, scopes: Iterable[ScopeKey]) -> tuple[Counted, ...]:
        """The usage of each."""
        return tuple(map(self.__getitem__, scopes))


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

    def fitting(self, reservations: Iterable[Reservation]) -> dict[ScopeKey, Counted] | None:
        """The usage with every reservation held, to be entered with `enter`; None where one of them does not fit."""
        return (reservations if type(reservations) is Taken else Taken.of(reservations)).held(self.usage)

    def takes_calls(self, run: RunKey, *, at: int | None) -> bool:
        """Whether it has not ended, and nothing that a decision may read of it has changed since a version."""
        facts = self.runs[run]
        return facts.ended is None and (at is None or facts.version == at)

    def enter(self, usage: dict[ScopeKey, Counted]) -> None:
        """Make this the usage of these scopes."""
        self.usage.update(usage)
        self.changed_usage.update(usage)

    def settle(self, holds: Iterable[Reservation], *, spent: Amounts) -> None:
        """Replace what an ended call held by what it used."""
        taken = Taken.of(holds)
        taken.settle(self.usage, spent=spent)
        self.changed_usage.update(taken.scopes)

    def exchange(self, holds: Iterable[Reservation], *, kept: Iterable[Reservation]) -> None:
        """Hold `kept` in the place of `holds`."""
        for scope, amounts, _ in holds:
            self._move(scope, held=-packed(amounts))
        for scope, amounts, _ in kept:
            self._move(scope, held=packed(amounts))

    def use_up(self, holds: Iterable[Reservation]) -> None:
        """Count as used what is held."""
        for scope, amounts, _ in holds:
            self._move(scope, used=packed(settled(amounts, spent=amounts)), held=-packed(amounts))

    def charge(self, charges: Iterable[Reservation]) -> None:
        """Count what was used without having been held."""
        usage, changed, last, more = self.usage, self.changed_usage, None, 0
        for scope, amounts, _ in charges:  # written out: every request to a model comes by, with one amount for all
            if amounts is not last:
                last, more = amounts, packed(amounts)
            used, held = usage[scope]
            usage[scope] = (used + more, held)
            changed.add(scope)

    def _move(self, scope: ScopeKey, *, used: int = 0, held: int = 0) -> None:
        """Add packed amounts to a scope."""
        was_used, was_held = self.usage[scope]
        self.usage[scope] = (was_used + used, was_held + held)
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
        tools, declined = run.tools | {tool} if tool else run.tools, run.denied | {denied} if denied else run.denied
        self.runs[key] = RunFacts(run.id, run.version + 1, joined, tools, declined, run.ended)
        self.changed_runs.add(key)

    def end(self, key: RunKey, *, why: str) -> None:
        """A run takes no more calls."""
        run = self.runs[key]
        self.runs[key] = RunFacts(run.id, run.version + 1, run.labels, run.tools, run.denied, why)
        self.changed_runs.add(key)


class KeptBooks(Books):
    """Books that are nowhere written down: what has changed in the usage is not noted."""

    def enter(self, usage: dict[ScopeKey, Counted]) -> None:
        """Make this the usage of these scopes."""
        self.usage.update(usage)

    def settle(self, holds: Iterable[Reservation], *, spent: Amounts) -> None:
        """Replace what an ended call held by what it used."""
        (holds if type(holds) is Taken else Taken.of(holds)).settle(self.usage, spent=spent)


def kept_while_unknown(holds: Iterable[Reservation], *, spent: Amounts) -> tuple[Reservation, ...]:
    """What a call holds once its outcome is unknown: what it will have used, should it turn out to have happened."""
    return tuple(Reservation(scope, settled(amounts, spent=spent)) for scope, amounts, _ in holds)
