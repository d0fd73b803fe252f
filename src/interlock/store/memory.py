"""A store in memory, for tests, for trying things out, and for runs that need no durability.

It holds the same contract as the durable ones and keeps real chain records, bytes in and bytes out. Its methods are
async but never wait, so on one event loop each is a transaction. A purge empties calls here too, but drops none of
them; nothing of it is left afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from interlock.core.approval import Approval, ApprovalState
from interlock.core.budget import ScopeKey, Usage
from interlock.core.chain import Head, Receipt
from interlock.core.checkpoint import BEGINNING, Checkpoint, Mark
from interlock.core.effect import CallState
from interlock.core.facts import Prior
from interlock.core.journal import AuditQuery, AuditRecord, Event
from interlock.core.labels import NO_LABELS
from interlock.core.policy import PolicySource
from interlock.ports import (
    ApprovalChange,
    Asking,
    Claim,
    Entry,
    Intent,
    Look,
    NotClaimed,
    Registered,
    Seen,
    Settlement,
    StoredOperation,
)
from interlock.store.books import KeptBooks, RunBook, UsageBook, kept_while_unknown
from interlock.store.memory_artifacts import MemoryArtifacts
from interlock.store.memory_compensations import MemoryCompensations
from interlock.store.memory_documents import MemoryDocuments
from interlock.store.memory_recovery import Call, Key
from interlock.store.memory_runs import MemoryRuns
from interlock.store.memory_versions import MemoryVersions
from interlock.store.rules import (
    FIRST_FENCE,
    STANDING,
    denied_in_run,
    is_key_over,
    is_same_question,
    is_usable,
    may_continue,
    may_fuse,
    settled_state,
    still_as_expected,
    used_up,
    voided,
)

_UNKNOWN = CallState.UNKNOWN  # looking it up in its class costs as much as a call


class MemoryStore(MemoryCompensations):
    """All of the ports that a store provides, in dictionaries. It has no address: no other process finds it."""

    address = ""

    def __init__(self, *, chain: str = "memory") -> None:
        super().__init__(chain=chain)
        self._books = KeptBooks(UsageBook(), runs=RunBook())
        self._keys: dict[Key, Call] = {}
        self._approvals: dict[Key, tuple[Approval, StoredOperation]] = {}
        self._standing: dict[Key, dict[str, None]] = {}
        self._versions = MemoryVersions()
        self._policies: dict[str, tuple[PolicySource, ...]] = {}
        self._checkpoints: list[Checkpoint] = []
        self.artifacts = MemoryArtifacts()
        self.runs = MemoryRuns(self._books, chain=self._chain, settle=self.settle)
        self.documents = MemoryDocuments(self._chain, advance=self._advance, versions=self._versions)
        self._epoch = 0

    async def close(self) -> None:
        """Nothing to let go of."""

    def abandon(self) -> None:
        """As if the process that runs the claimed calls and holds the runs had died: for tests and simulations."""
        super().abandon()
        self.runs.abandon()

    # --- calls --------------------------------------------------------------------------------------------------------

    async def look(self, look: Look) -> Seen:
        """One consistent read."""
        run = None if look.run is None else self._books.runs[look.tenant, look.run]
        usage = self._books.usage
        prior = None if look.key is None else self._prior((look.tenant, look.key), at_us=look.at_us)
        return Seen(prior, run, usage.of(look.scopes))

    async def claim(self, intent: Intent) -> Claim | NotClaimed:
        """Take everything the intent names, or nothing."""
        refused = self._refused(intent)
        if refused is not None:
            return refused
        usage = self._books.fitting(intent.reservations)
        if usage is None:
            return NotClaimed.BUDGET
        if intent.continues is not None:
            claim = self._continue(self._calls[intent.operation.tenant, intent.continues], intent)
        else:
            self._books.enter(usage)
            claim = self._take(intent)
        operation = intent.operation
        if operation.key is not None or intent.approval is not None:
            self._use_approvals(intent)
        if operation.run is not None:
            self._books.join((operation.tenant, operation.run), labels=intent.ceiling, tool=operation.tool)
        if intent.event is not None:
            self._chain.append(intent.event)
        return claim

    async def settle(self, settlement: Settlement) -> Receipt | None:
        """Write the outcome and release the hold. None: fenced, or ended already."""
        claim = settlement.claim
        place = (claim.tenant, claim.operation_id)
        call = self._open.get(place)
        state = None if call is None or call.fence != claim.fence else settled_state(call.state, what=settlement.what)
        if call is None or state is None:
            return None
        if state is _UNKNOWN:
            kept = kept_while_unknown(call.holds, spent=settlement.spent)
            self._books.exchange(call.holds, kept=kept)
            call.holds = kept
            call.at_work = settlement.goes_on
            self._keep(call)
        else:
            self._books.settle(call.holds, spent=settlement.spent)
            call.holds = ()
            del self._open[place]
        call.state, call.observation = state, settlement.observation
        call.labels, call.settled_us = settlement.labels, settlement.at_us
        run = call.operation.run
        if run is not None and settlement.labels is not NO_LABELS:
            self._books.join((claim.tenant, run), labels=settlement.labels)
        return self._chain.append(settlement.event)

    async def record(self, entry: Entry) -> Receipt:
        """Write a record that claims nothing."""
        return self.runs.record(entry)

    def _refused(self, intent: Intent) -> NotClaimed | None:
        """The first guard that does not hold, the budget aside."""
        operation = intent.operation
        tenant = operation.tenant
        if intent.epoch != self._epoch:
            return NotClaimed.EPOCH
        run = operation.run
        if run is not None and not self._books.takes_calls((tenant, run), at=intent.run_version):
            return NotClaimed.RUN
        if not self._is_free(intent):
            return NotClaimed.KEY
        if intent.approval is not None and not is_usable(self._approval((tenant, intent.approval)), intent=intent):
            return NotClaimed.APPROVAL
        return None

    def _is_free(self, intent: Intent) -> bool:
        """Whether the operation was never claimed and its key is free, or continues the call that holds it."""
        operation = intent.operation
        tenant = operation.tenant
        if operation.key is None and intent.continues is None:  # as every read is
            place = (tenant, operation.id)
            return place not in self._open and place not in self._calls
        if intent.continues is not None:
            continued = self._calls.get((tenant, intent.continues))
            return (
                continued is not None
                and may_continue(continued.state, at_work=continued.at_work)
                and continued.operation.key == operation.key
            )
        if (tenant, operation.id) in self._calls:
            return False
        holder = None if operation.key is None else self._keys.get((tenant, operation.key))
        return holder is None or is_key_over(holder.state, until_us=holder.until_us, at_us=intent.at_us)

    def _take(self, intent: Intent) -> Claim:
        """Hold it as a new call. Of a read that is written with its settlement nothing but that record is left then."""
        operation = intent.operation
        call = Call(operation, intent.at_us, intent.at_us + intent.lifetime_us, intent.reservations)
        self._open[operation.tenant, operation.id] = call
        if not may_fuse(intent):
            self._keep(call)
            if operation.key is not None:
                self._keys[operation.tenant, operation.key] = call
        return Claim(operation.id, operation.tenant, FIRST_FENCE)

    def _continue(self, call: Call, intent: Intent) -> Claim:
        self._books.use_up(call.holds)
        self._books.exchange((), kept=intent.reservations)
        call.holds = intent.reservations
        self._open[call.operation.tenant, call.operation.id] = call
        return self._take_again(call)

    def _prior(self, key: Key, *, at_us: int) -> Prior | None:
        call = self._keys.get(key)
        if call is None or is_key_over(call.state, until_us=call.until_us, at_us=at_us):
            return None
        operation = call.operation
        done_us = call.at_us if call.settled_us is None else call.settled_us
        return Prior(
            operation.id,
            operation.tool,
            operation.model_digest,
            call.state,
            call.observation,
            done_us,
            call.labels,
            goes_on=call.state is CallState.UNKNOWN and call.at_work,
        )

    # --- approvals ----------------------------------------------------------------------------------------------------

    async def ask(self, asking: Asking) -> tuple[Approval, Receipt | None]:
        """Store the question, or find the identical one that stands, and then write nothing."""
        asked = asking.approval
        standing = self._same_question(asked)
        if standing is not None:
            return standing, None
        self._books.charge(asking.charges)
        self._put(asked, operation=asking.operation)
        return asked, self._chain.append(asking.event)

    async def approval(self, tenant: str, approval_id: str) -> tuple[Approval, StoredOperation] | None:
        """One approval with its operation."""
        return self._approvals.get((tenant, approval_id))

    async def approvals(self, tenant: str | None, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of a tenant, or of every tenant, oldest first."""
        stored = [approval for approval, _ in self._approvals.values()]
        found = [each for each in stored if tenant in (None, each.tenant) and state in (None, each.state)]
        return tuple(sorted(found, key=lambda each: each.asked_at_us))

    async def change(self, change: ApprovalChange) -> Receipt | None:
        """Vote, withdraw, expire or void. None: it has changed meanwhile."""
        place = (change.expected.tenant, change.expected.id)
        stored = self._approvals.get(place)
        if stored is None or not still_as_expected(stored[0], change=change):
            return None
        self._put(change.changed, operation=stored[1])
        if change.changed.state is not change.expected.state:
            self.runs.wake(place[0], change.changed.run)
        denied = denied_in_run(change)
        if denied is not None:
            self._books.join((place[0], denied[0]), labels=NO_LABELS, denied=denied[1])
        return self._chain.append(change.event)

    def _approval(self, place: Key) -> Approval | None:
        found = self._approvals.get(place)
        return None if found is None else found[0]

    def _put(self, approval: Approval, *, operation: StoredOperation) -> None:
        self._approvals[approval.tenant, approval.id] = (approval, operation)
        if approval.key is None:
            return
        standing = self._standing.setdefault((approval.tenant, approval.key), {})
        if approval.state in STANDING:
            standing[approval.id] = None
        else:
            standing.pop(approval.id, None)

    def _same_question(self, asked: Approval) -> Approval | None:
        for found in self._standing.get((asked.tenant, asked.key or ""), ()):
            approval = self._approvals[asked.tenant, found][0]
            if is_same_question(asked, standing=approval):
                return approval
        return None

    def _use_approvals(self, intent: Intent) -> None:
        """Use up the claim's own approval; the others that wait on its key are void."""
        tenant, key = intent.operation.tenant, intent.operation.key
        if intent.approval is not None:
            approval, operation = self._approvals[tenant, intent.approval]
            self._put(used_up(approval), operation=operation)
            self.runs.wake(tenant, approval.run)
        for other in tuple(self._standing.get((tenant, key), ())) if key is not None else ():
            approval, operation = self._approvals[tenant, other]
            if approval.state is ApprovalState.PENDING:
                self._put(voided(approval), operation=operation)
                self.runs.wake(tenant, approval.run)

    # --- catalogue and policies ---------------------------------------------------------------------------------------

    async def versions(self) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and every version, oldest first."""
        return self._epoch, self._versions.all()

    async def changes(self, since: int) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and the versions that were published or moved after another, oldest first."""
        return self._epoch, self._versions.since(since)

    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        """Insert or move versions as one change; the new epoch, which is the old one where nothing changed."""
        changed = self._versions.checked(found)
        self._epoch += bool(changed)
        self._versions.put(changed, self._epoch)
        self._chain.append(event)
        return self._epoch

    async def policies(self) -> tuple[int, tuple[PolicySource, ...]]:
        """The epoch, and every policy source."""
        return self._epoch, tuple(source for tenant in sorted(self._policies) for source in self._policies[tenant])

    async def save_policies(self, sources: tuple[PolicySource, ...], event: Event) -> int:
        """Replace all sources of the tenants named in `sources`; the new epoch."""
        named = sorted(sources, key=lambda source: source.name)
        replaced = {each.tenant: tuple(own for own in named if own.tenant == each.tenant) for each in named}
        self._epoch += any(self._policies.get(tenant) != own for tenant, own in replaced.items())
        self._policies.update(replaced)
        self._chain.append(event)
        return self._epoch

    async def epoch(self) -> int:
        """The present epoch."""
        return self._epoch

    def _advance(self, by: int) -> int:
        self._epoch += by
        return self._epoch

    # --- audit --------------------------------------------------------------------------------------------------------

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""
        return self._chain.records(query)

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""
        return self._chain.heads()

    async def append(self, event: Event) -> Receipt:
        """An act of the control plane."""
        return self._chain.append(event)

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""
        return tuple(self._checkpoints)

    async def checkpoint(self, draw: Callable[[tuple[Head, ...], Mark], Checkpoint]) -> Checkpoint:
        """Write the checkpoint that `draw` makes of the heads at this moment and the last mark."""
        mark = self._checkpoints[-1].mark if self._checkpoints else BEGINNING
        drawn = draw(self._chain.heads(), mark)
        self._checkpoints.append(drawn)
        return drawn

    async def usage(self, tenant: str) -> tuple[tuple[ScopeKey, Usage], ...]:
        """Every usage row of a tenant."""
        found = [(scope, Usage.read(each)) for scope, each in self._books.usage.items() if scope.tenant == tenant]
        return tuple(sorted(found))

    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        """Forget what was kept whole before then, but of open calls and of calls whose key still answers, and usage."""
        self.runs.drop(before_us)
        self._drop_plans(before_us)
        self._drop_questions(before_us)
        self._chain.purge(before_us, open_subjects=frozenset(call.operation.id for call in self._open.values()))
        for call in self._calls.values():
            if call.state.is_final and (call.settled_us or 0) < before_us and call.until_us <= before_us:
                call.operation = replace(call.operation, sealed=b"")
                call.observation = None

    def _drop_questions(self, before_us: int) -> None:
        """Retention: forget closed questions with their operations, unless their call is open or its key answers."""
        for place, (approval, _) in tuple(self._approvals.items()):
            is_open = approval.state in (ApprovalState.PENDING, ApprovalState.GRANTED)
            call = None if approval.key is None else self._keys.get((approval.tenant, approval.key))
            answers = call is not None and (not call.state.is_final or call.until_us > before_us)
            if not is_open and not answers and approval.asked_at_us < before_us:
                del self._approvals[place]
