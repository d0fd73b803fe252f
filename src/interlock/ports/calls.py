"""Calls, from look to settle: what one claim takes, and what one settlement writes."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from interlock.core.budget import NOTHING, Amounts, Counted, Reservation, ScopeKey
from interlock.core.chain import Receipt
from interlock.core.effect import CallEvent
from interlock.core.facts import Prior
from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.core.labels import NO_LABELS, Labels
from interlock.core.run import RunFacts


@frozen
class Look:
    """One read before a decision. A key whose lifetime is over at `at_us` is free again: it has no prior call.

    `may_guess`: where looking costs something the store may say that no call has the key, and what it saw of run and
    usage before. A claim finds out, since it guards the key, each limit and the version of the run, which a claim on a
    guess has to give; whoever then does anything but claim has to look once more, and may not guess.
    """

    tenant: str
    key: str | None
    run: str | None
    scopes: tuple[ScopeKey, ...]
    at_us: int = 0
    may_guess: bool = False


@frozen
class Seen:
    """What the store knows: the prior call under the key, the run, and one usage per scope asked for.

    `guessed`: that there is no prior call was not looked up; run and usage may be those of an earlier moment.
    """

    prior: Prior | None
    run: RunFacts | None
    usage: tuple[Counted, ...]
    guessed: bool = False


@frozen
class StoredOperation:
    """A frozen operation as it is kept, to be resumed, recovered or replayed. `sealed` is JSON bytes (a payload).

    `sealed` holds principal, arguments, call, caller and resource; the rest are its indexes.
    """

    id: str
    tenant: str
    tool: str
    source: str
    version: str
    spec_digest: str
    digest: str
    model_digest: str
    principal: str
    call_id: str
    sealed: bytes
    key: str | None = None
    run: str | None = None
    task: str | None = None
    repeatable: bool = False


@frozen
class Intent:
    """All that one claim takes, all or nothing.

    Guards: no live or finished call holds `operation.key` (unless it is `continues`, which is unknown and at which
    nobody is at work); every reservation fits; `approval` is granted, unexpired at `at_us`, and bound to
    `operation.digest`; the tool's epoch in the store is `epoch`; the run has not ended, and has the version
    `run_version` where given. The claim uses up the approval, voids other pending approvals of the same key, joins
    `ceiling` into the run's labels and adds the tool to its history at once. What the continued call held is used up:
    it may have happened.

    `fused`: a read without key or approval that may be held in memory and written together with its settlement, as one
    event; a store that cannot prove that no other process shares its budgets and runs claims it durably instead. A
    fused intent has no event: a read needs no durable intent, and its one record is written when it is settled.
    """

    operation: StoredOperation
    event: Event | None
    reservations: tuple[Reservation, ...]
    epoch: int
    at_us: int
    lifetime_us: int
    ceiling: Labels = NO_LABELS
    run_version: int | None = None
    approval: str | None = None
    continues: str | None = None
    fused: bool = False


@frozen
class Claim:
    """The right to execute one operation once: fenced, and lost when the lease is."""

    operation_id: str
    tenant: str
    fence: int


class NotClaimed(StrEnum):
    """Which guard no longer held. The runtime looks again, at most five times."""

    EPOCH = "epoch"
    RUN = "run"
    KEY = "key"
    BUDGET = "budget"
    APPROVAL = "approval"


@frozen
class Settlement:
    """What came of a claim. `spent` replaces what was held, for every scope of the claim; `labels` join the run.

    A lost outcome goes on holding what was spent until the call is closed or repeated. `goes_on`: work that could not
    be stopped may still do it, until `Recovery.work_ended` says that it has ended, or its process has.
    """

    claim: Claim
    what: CallEvent
    event: Event
    at_us: int
    observation: bytes | None
    spent: Amounts = NOTHING
    labels: Labels = NO_LABELS
    goes_on: bool = False


@frozen
class Entry:
    """A record that claims nothing: a refusal, a replay. `charges` are added to usage without a guard."""

    event: Event
    charges: tuple[Reservation, ...] = ()
    run: str | None = None
    labels: Labels = NO_LABELS


class Calls(Protocol):
    """Calls, from look to settle. Owned by `runtime.gate`.

    A write that was handed over is carried out even when who awaits it is cancelled.
    """

    async def look(self, look: Look) -> Seen:
        """One consistent read."""

    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        """Take everything the intent names, durably, or nothing."""

    async def settle(self, settlement: Settlement) -> Receipt | None:
        """Write the outcome and release the hold, durably. None: the claim's fence is no longer the newest."""

    async def record(self, entry: Entry) -> Receipt:
        """Write a record that claims nothing."""
