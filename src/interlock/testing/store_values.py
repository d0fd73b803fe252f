"""Builds the values that a store's contract is tested with: operations, intents, events, approvals, one line each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count

from interlock.core.approval import Approval, ApprovalState, Binding, Requirement, Vote
from interlock.core.budget import NOTHING, Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit
from interlock.core.chain import commitment
from interlock.core.effect import CallEvent
from interlock.core.journal import RECORD, Event, EventKind, Payload
from interlock.core.labels import NO_LABELS, Labels
from interlock.core.lifecycle import Lifecycle
from interlock.ports import ApprovalChange, Asking, Claim, Entry, Intent, Look, Registered, Settlement, StoredOperation

NOW_US = 1_764_460_800_000_000
DAY_US = 86_400_000_000
TENANT = "acme"
RUN = "run-1"
SCOPE = ScopeKey(TENANT, ScopeKind.RUN, RUN)


@dataclass(slots=True)
class Values:
    """Every value is a new one: ids and salts count up, so that a test is the same each time."""

    tenant: str = TENANT
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def operation(self, key: str | None = None, *, run: str | None = RUN, sealed: bytes = b"{}") -> StoredOperation:
        """An operation of a tool named `save`."""
        number = next(self._numbers)
        return StoredOperation(
            id=f"operation-{number}",
            tenant=self.tenant,
            tool="save",
            source="local",
            version="1",
            spec_digest="5" * 64,
            digest=f"{number:064x}",
            model_digest="e" * 64,
            principal="alice",
            call_id=f"call-{number}",
            sealed=sealed,
            key=key,
            run=run,
        )

    def event(self, kind: EventKind = EventKind.CLAIMED, *, subject: str = "", data: bytes = b"kept") -> Event:
        """An event with its record and one payload that is kept whole."""
        number = next(self._numbers)
        salt = number.to_bytes(16, "big")
        payloads = (Payload(RECORD, salt, b'{"number":%d}' % number), Payload("result", salt[::-1], data))
        commitments = tuple(sorted((each.name, commitment(each.salt, payload=each.data)) for each in payloads))
        return Event(
            kind,
            self.tenant,
            NOW_US + number,
            "ab" * 16,
            f"{number:032x}",
            (),
            commitments,
            payloads,
            call=f"call-{number}",
            subject=subject,
        )

    def intent(self, key: str | None = None, *, limit: int | None = None, run: str | None = RUN) -> Intent:
        """A claim of one call, under a limit of so many calls of the run where one is given."""
        operation = self.operation(key, run=run)
        return Intent(operation, self.event(subject=operation.id), reserve(limit), 0, NOW_US, DAY_US)

    def read(self, *, limit: int | None = None) -> Intent:
        """A claim that a store may hold in memory."""
        return replace(self.intent(limit=limit), fused=True, event=None)

    def granted(self, asking: Asking) -> ApprovalChange:
        """The step from pending to granted."""
        expected = asking.approval
        vote = Vote("bob", frozenset({"editor"}), approve=True, at_us=NOW_US)
        changed = replace(expected, state=ApprovalState.GRANTED, votes=(vote,))
        return ApprovalChange(expected, changed, self.event(EventKind.APPROVAL_VOTED))

    def asking(self, key: str | None = None, *, run: str | None = RUN) -> Asking:
        """A question about a new operation."""
        operation = self.operation(key, run=run)
        approval = Approval(
            id=f"approval-{next(self._numbers)}",
            tenant=self.tenant,
            operation_id=operation.id,
            binding=Binding(operation.digest, "save", "1", "5" * 64, "alice", 'Draft::"d1"', None),
            requirement=Requirement(frozenset({"editor"}), reasons=("a person looks first",)),
            summary="save d1",
            asked_at_us=NOW_US,
            expires_at_us=NOW_US + DAY_US,
            run=run,
            key=key,
            requesters=frozenset({"alice"}),
        )
        return Asking(approval, operation, self.event(EventKind.WAITING))

    def resumed(self, asking: Asking) -> Intent:
        """The claim that uses an approval up."""
        return replace(self.intent(asking.operation.key), operation=asking.operation, approval=asking.approval.id)

    def settlement(
        self, claim: Claim, what: CallEvent = CallEvent.SUCCEED, *, spent: Amounts = NOTHING, labels: Labels = NO_LABELS
    ) -> Settlement:
        """The end of a claim, a second later."""
        event = self.event(EventKind.SETTLED, subject=claim.operation_id)
        return Settlement(claim, what, event, NOW_US + 1_000_000, b'{"status":"succeeded"}', spent, labels)

    def entry(self, *, calls: int = 0) -> Entry:
        """A refusal that is charged so many calls."""
        charges = (Reservation(SCOPE, Amounts(calls=calls)),) if calls else ()
        return Entry(self.event(EventKind.REFUSED), charges, RUN)

    def look(self, key: str | None = None, *, at_us: int = NOW_US) -> Look:
        """A look at the key, the run and its scope."""
        return Look(self.tenant, key, RUN, (SCOPE,), at_us)

    def registered(self, name: str, *, digest: str = "1" * 64) -> Registered:
        """A published version."""
        return Registered(self.tenant, "local", name, "1", digest, Lifecycle.AVAILABLE, b'{"name":"x"}')


def reserve(limit: int | None, *, scope: ScopeKey = SCOPE, cost_micros: int = 0) -> tuple[Reservation, ...]:
    """One call that runs at once, under a limit of so many calls where one is given."""
    limits = () if limit is None else (Limit(ScopeKind.RUN, Unit.CALLS, limit),)
    return (Reservation(scope, Amounts(calls=1, cost_micros=cost_micros, concurrent=1), limits),)
