"""Runs of models, as they are kept: a head that says where a run stands, and a journal of everything that moved it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from interlock.core.budget import Reservation
from interlock.core.chain import Receipt
from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.ports.calls import Entry, Settlement


@frozen
class RunEntry:
    """One thing that happened in a run, as it is appended. `data` is sealed: it may hold whole results.

    `kind` says what it is, in the words of `loop.machine`; the store reads neither. `sequence` counts from 1 without
    gaps and is given by the store: it is the cursor under which watchers resume.
    """

    kind: str
    at_us: int
    data: bytes
    sequence: int = 0


@frozen
class StoredRun:
    """Where a run stands. `state` is the machine's word for it; `version` is the sequence of its last entry.

    `wake_us` is when it wants to be looked at, if nobody holds it or something was said to it meanwhile; None: only
    when something is said to it. `held`: a process that is at work has it. `fence` rises with each process that takes
    it. `over`: it takes no more entries.
    """

    tenant: str
    id: str
    state: str
    version: int
    fence: int
    agent: str
    principal: str
    started_us: int
    changed_us: int
    wake_us: int | None = None
    held: bool = False
    over: bool = False


@frozen
class NewRun:
    """A run that begins, held by the process that begins it."""

    tenant: str
    id: str
    state: str
    agent: str
    principal: str
    entries: tuple[RunEntry, ...]
    at_us: int
    event: Event | None = None


@frozen
class RunClaim:
    """The right to move one run: fenced, and lost when its process is gone."""

    tenant: str
    id: str
    fence: int


class NotMoved(StrEnum):
    """Why a run was not moved, or told anything. `BEHIND`: something was said to it meanwhile; read on and look again.

    `LOST`: another process has it, or its process was gone for too long; `OVER`: it has ended; `MISSING`: the tenant
    has none of that id, or retention has dropped it.
    """

    BEHIND = "behind"
    LOST = "lost"
    OVER = "over"
    MISSING = "missing"


@frozen
class RunMove:
    """One step of a run, all or nothing: written only while `claim` holds and `version` is still the last entry's.

    `entries` are appended, `state` and `wake_us` set. `release` lets go of the run: who finds it due may take it.
    `ended` says why it takes no more entries, and nobody holds it then: from then on the gate refuses its calls with
    `RUN_ENDED` too. `charges` are added to usage without a guard, `event` to the audit log.

    An approval leaves no entry. Where one has made the run due since it was taken or last moved, it stays due
    (`wake_us` 0) whatever this says, once: the next move is by who can have seen the approval.
    """

    claim: RunClaim
    version: int
    entries: tuple[RunEntry, ...]
    state: str
    at_us: int
    wake_us: int | None = None
    release: bool = False
    ended: str | None = None
    charges: tuple[Reservation, ...] = ()
    event: Event | None = None


@frozen
class RunNote:
    """The step of a run that writes down what came of one of its calls, for the transaction that ends the call.

    `move` makes it, given the call's receipt: under `claim`, with no charges, no event and no end. It asks nothing of
    anybody and is quick; where a transaction is carried out once more it is made anew.
    """

    claim: RunClaim
    move: Callable[[Receipt], RunMove]


@frozen
class RunQuery:
    """Which runs: of one tenant or all, newest first, at most `limit`; `over` None means both.

    `before` is the (started_us, id) of the last run of the page before.
    """

    tenant: str | None
    state: str | None = None
    principal: str | None = None
    over: bool | None = None
    before: tuple[int, str] | None = None
    limit: int = 100


class Runs(Protocol):
    """Runs as they move. Owned by `loop`.

    A write that was handed over is carried out even when who awaits it is cancelled.
    """

    async def begin_run(self, new: NewRun) -> RunClaim | None:
        """Keep a new run. None: the tenant has one of that id already."""

    async def take_run(self, tenant: str, run_id: str, at_us: int) -> RunClaim | None:
        """Hold a run under a new fence. None: there is none, it is over, or a process at work holds it, also this.

        Who takes it reads it next, so that it is due no more for what was said to it before (`wake_us` 0).
        """

    async def move_run(self, move: RunMove) -> int | NotMoved:
        """Write one step; the run's version after it."""

    async def settle_in_run(
        self, ending: Settlement | Entry, note: RunNote
    ) -> tuple[Receipt | None, int | NotMoved | None]:
        """Settle a call of a run, or record one that claims nothing, and write down what came of it: what `settle` or
        `record` would say, and what `move_run` would.

        Both are written in one transaction, or the step in the next. Where the run does not stand as the step has it,
        or another process holds it, the other is written alone. None for the step: nothing of it is written, since
        nothing was settled or it cannot be; in that case `move_run` says why.
        """

    async def tell_run(
        self, tenant: str, run_id: str, entry: RunEntry, *, event: Event | None = None
    ) -> int | NotMoved:
        """Say something to a run, whoever holds it: the entry is appended and the run is due at once (`wake_us` 0)."""

    async def due_runs(self, at_us: int, limit: int) -> tuple[StoredRun, ...]:
        """Runs to be looked at, the longest due first: those that nobody at work holds and whose `wake_us` has come,
        those whose holder has died, and those that this process holds and that were told something (`wake_us` 0).

        An approval that is decided, withdrawn, expired, voided or used makes the run of its operation due at once.
        """


class RunReads(Protocol):
    """Runs as they are looked at. Owned by `loop`."""

    async def run(self, tenant: str, run_id: str) -> StoredRun | None:
        """One run; sees every write that was handed over before."""

    async def runs(self, query: RunQuery) -> tuple[StoredRun, ...]:
        """Runs, newest first."""

    async def run_entries(
        self, tenant: str, run_id: str, *, after: int = 0, limit: int = 1_000
    ) -> tuple[RunEntry, ...]:
        """What happened after an entry, in order; from the beginning after 0."""
