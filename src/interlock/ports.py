"""What the runtime needs from the world, as Protocols of few methods; stores, runners and hosts provide them.

Every write is one method, one transaction, one event, all or nothing. A store never decides: it guards what was
decided, and says so when the guard no longer holds, whereupon the runtime looks again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from enum import StrEnum
from typing import Protocol, runtime_checkable

from interlock.core.approval import Approval, ApprovalState
from interlock.core.artifact import Artifact
from interlock.core.budget import NOTHING, Amounts, Reservation, ScopeKey, Usage
from interlock.core.call import Principal
from interlock.core.canonical import Json
from interlock.core.catalogue import Lifecycle
from interlock.core.chain import Head, Receipt
from interlock.core.checkpoint import Checkpoint, Mark
from interlock.core.compensation_plan import Plan
from interlock.core.decision import Prior
from interlock.core.effect import CallEvent, CallState
from interlock.core.frozen import frozen
from interlock.core.journal import AuditQuery, AuditRecord, Event
from interlock.core.labels import NO_LABELS, Labels
from interlock.core.operation import Operation
from interlock.core.outcome import Failed, Outcome
from interlock.core.policy import PolicySource
from interlock.core.recovery import NO_LOOKS, Closing, Looks
from interlock.core.resource import Resource
from interlock.core.run import RunFacts


@frozen
class Look:
    """One read before a decision. A key whose lifetime is over at `at_us` is free again: it has no prior call."""

    tenant: str
    key: str | None
    run: str | None
    scopes: tuple[ScopeKey, ...]
    at_us: int = 0


@frozen
class Seen:
    """What the store knows: the prior call under the key, the run, and one usage per scope asked for."""

    prior: Prior | None
    run: RunFacts | None
    usage: tuple[Usage, ...]


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
    `operation.digest`; the tool's epoch in the store is `epoch`; the run's version is `run_version` where given. The
    claim uses up the approval, voids other pending approvals of the same key, joins `ceiling` into the run's labels and
    adds the tool to its history at once. What the continued call held is used up: it may have happened.

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


@frozen
class Asking:
    """A question to people, with the frozen operation that will run. Charges count the proposal."""

    approval: Approval
    operation: StoredOperation
    event: Event
    charges: tuple[Reservation, ...] = ()


@frozen
class ApprovalChange:
    """A guarded step of one approval: nothing is written unless it is still in `expected` at its state and votes."""

    expected: Approval
    changed: Approval
    event: Event


class Approvals(Protocol):
    """Approvals and the operations they hold. Owned by `runtime.approvals`."""

    async def ask(self, asking: Asking) -> tuple[Approval, Receipt | None]:
        """Store the question, or give back the identical one (same key and binding) that is still pending.

        Without a receipt it is the pending one and nothing was written: neither the event, which names the approval
        that would have been, nor the charges.
        """

    async def approval(self, tenant: str, approval_id: str) -> tuple[Approval, StoredOperation] | None:
        """One approval with its operation."""

    async def approvals(self, tenant: str | None, state: ApprovalState | None = None) -> tuple[Approval, ...]:
        """All of a tenant, or of every tenant, oldest first."""

    async def change(self, change: ApprovalChange) -> Receipt | None:
        """Vote, withdraw, expire or void. None: it has changed meanwhile. A denial joins the run's `denied`."""


@frozen
class OpenCall:
    """A call as recovery finds it. `orphaned`: nobody is at work on it, be it that its worker is gone or has ended.

    `taken_over`: whoever claimed it first has lost it since. `looks` is filled by `LookUps.due`.
    """

    operation: StoredOperation
    state: CallState
    fence: int
    claimed_at_us: int
    orphaned: bool
    taken_over: bool
    observation: bytes | None = None
    looks: Looks = NO_LOOKS


class Recovery(Protocol):
    """Calls whose worker died, or whose outcome is unknown. Owned by `runtime.recovery`."""

    async def open_calls(self, tenant: str | None = None) -> tuple[OpenCall, ...]:
        """Every claimed or unknown call, oldest first."""

    async def take_over(self, found: OpenCall, event: Event) -> Claim | None:
        """Claim an orphaned or unknown call under a new fence, hold kept. None: another was faster."""

    async def find(self, tenant: str, operation_id: str) -> OpenCall | None:
        """One claimed, unknown or settled call; sees every write that was handed over before."""

    async def work_ended(self, claim: Claim, event: Event) -> Receipt:
        """Record what came, too late to be used, of work that went on; from now on nobody is at it under this claim."""


@frozen
class Due:
    """Calls that something is to be done about, and how many are unknown altogether, due or not."""

    calls: tuple[OpenCall, ...]
    unknown: int


class LookUps(Protocol):
    """How often unknown calls were looked up. Owned by `runtime.recovery`. A new fence begins to count anew."""

    async def due(self, at_us: int, limit: int) -> Due:
        """At most so many orphaned calls, oldest first: those claimed, and those unknown whose time has come."""

    async def looks(self, tenant: str | None = None) -> Mapping[tuple[str, str], Looks]:
        """Of every unknown call that was looked up or escalated, by tenant and operation id."""

    async def note_looks(self, call: OpenCall, looks: Looks, event: Event) -> Receipt | None:
        """Count a look-up before it is made, or give up. None: the call or its `looks` are not as `call` has them."""


class Closings(Protocol):
    """What one person proposes of an unknown call, for another to confirm. Owned by `runtime.recovery`.

    A proposal is about the call as it was found: under a new fence there is none.
    """

    async def closings(self, tenant: str) -> Mapping[str, Closing]:
        """What is proposed of a tenant's unknown calls, by operation id."""

    async def propose_closing(self, call: OpenCall, closing: Closing, event: Event) -> Receipt | None:
        """Propose one, in place of any before it. None: the call is not unknown any more, or under another fence."""


@frozen
class Effects:
    """Which effects are meant: those of one run, of one task, or some operations by id."""

    tenant: str
    run: str | None = None
    task: str | None = None
    operations: tuple[str, ...] = ()


@frozen
class EffectCall:
    """An effect that was done, or that may yet turn out to have been, and the plan that undoes it, if one does."""

    call: OpenCall
    plan: str | None = None


@frozen
class PlanChange:
    """A new plan, or a guarded step of one: nothing is written unless `expected` is what is there, `None` if nothing.

    A new plan takes its operations: none of them may be in another. `restated` replaces the stored observations of
    operations that have succeeded, in full or in part.
    """

    expected: Plan | None
    changed: Plan
    event: Event
    restated: tuple[tuple[str, bytes], ...] = ()


class Compensations(Protocol):
    """Plans that undo effects. Owned by `runtime.compensation`."""

    async def effects(self, wanted: Effects) -> tuple[EffectCall, ...]:
        """Calls with a key that are claimed, unknown, succeeded or partial; the last to end comes first."""

    async def plan(self, tenant: str, plan_id: str) -> Plan | None:
        """One plan; sees every write that was handed over before."""

    async def plans(self, tenant: str | None, *, going_on: bool = False) -> tuple[Plan, ...]:
        """All of a tenant, or of every tenant, oldest first; `going_on`: only those that run or wait."""

    async def write_plan(self, change: PlanChange) -> Receipt | None:
        """Begin a plan, or write down what became of a step. None: a guard did not hold."""


@frozen
class Registered:
    """A published version as it is stored. `spec` is canonical JSON."""

    tenant: str
    source: str
    name: str
    version: str
    digest: str
    state: Lifecycle
    spec: bytes
    replacement: str = ""


class CatalogueStore(Protocol):
    """Published versions and the epoch that guards claims. Owned by `runtime.catalogue`."""

    async def versions(self) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and every version, oldest first."""

    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        """Insert or move versions as one change; the new epoch. A digest never changes: `VersionExists`."""

    async def policies(self) -> tuple[int, tuple[PolicySource, ...]]:
        """The epoch, and every policy source."""

    async def save_policies(self, sources: tuple[PolicySource, ...], event: Event) -> int:
        """Replace all sources of the tenants named in `sources`; the new epoch (unchanged where nothing changed)."""

    async def epoch(self) -> int:
        """The present epoch, from memory where no other process can have changed it."""


class Audit(Protocol):
    """The chains. Owned by `runtime.audit`."""

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""

    async def heads(self) -> tuple[Head, ...]:
        """Where every chain stands."""

    async def append(self, event: Event) -> Receipt:
        """An act of the control plane."""

    async def checkpoints(self) -> tuple[Checkpoint, ...]:
        """All of them, by number."""

    async def checkpoint(self, draw: Callable[[tuple[Head, ...], Mark], Checkpoint]) -> Checkpoint:
        """Write the checkpoint that `draw` makes and signs of the heads and the last mark at that moment."""


@runtime_checkable
class Lease(Protocol):
    """How long a claim is this process's own, where that ends by the clock and not with the process alone.

    By a monotonic clock, counted from before the request that renewed it. Owned by `runtime.execute`.
    """

    def remaining_s(self, claim: Claim) -> float:
        """So long nobody takes the claim over; zero or less where that may have happened."""

    async def renew(self, claim: Claim, seconds: float) -> bool:
        """Have it last so long at least; False where it is lost, or cannot be renewed now."""


class Artifacts(Protocol):
    """Results too long to be shown whole. Owned by `runtime.results`."""

    async def append(self, tenant: str, artifact_id: str, *, number: int, data: bytes, at_us: int) -> None:
        """Keep one part (`core.artifact.PART_BYTES`, but the last); nobody can read it before the artifact is kept."""

    async def keep(self, artifact: Artifact) -> None:
        """All parts are there."""

    async def artifact(self, tenant: str, artifact_id: str) -> Artifact | None:
        """What is known of one."""

    async def part(self, tenant: str, artifact_id: str, *, number: int) -> bytes | None:
        """One part of a kept one."""

    async def forget(self, before_us: int) -> None:
        """Forget what was kept before then, in steps that let others write."""


class Retention(Protocol):
    """How long things are kept whole. Owned by `runtime.audit`."""

    async def purge(self, before_us: int) -> None:
        """Forget payloads, results and operations of closed calls from before then; records and chains stay whole."""


class Ledger(Protocol):
    """What was spent. Owned by `runtime.gate`'s callers that report."""

    async def usage(self, tenant: str) -> tuple[tuple[ScopeKey, Usage], ...]:
        """Every usage row of a tenant."""


@frozen
class Invocation:
    """One attempt at one operation, as a runner gets it. `deadline_s` is on the event loop's clock.

    `secrets` are values by name; they reach the tool's code only. `key` and `fence` travel to tools that can use them.
    """

    operation: Operation
    operation_id: str
    key: str
    fence: int
    deadline_s: float
    secrets: Mapping[str, str] = field(default_factory=dict)
    attempt: int = 1


@frozen
class Attempt:
    """What one attempt came to. `tail` completes with the late outcome of work that could not be stopped."""

    outcome: Outcome
    tail: Awaitable[Outcome] | None = None


class Runner(Protocol):
    """Runs one kind of handler. Total: whatever the tool's code does becomes an outcome; only cancellation escapes."""

    async def run(self, invocation: Invocation) -> Attempt:
        """One attempt, bounded by its deadline."""

    async def precondition(self, invocation: Invocation) -> Failed | None:
        """The tool's business condition, checked just before the effect."""

    async def reconcile(self, invocation: Invocation) -> Outcome | None:
        """Look up whether the operation happened; None: this tool cannot tell."""

    async def resolve(self, operation: Operation) -> Resource | None:
        """The resource with attributes and version, where the tool has a resolver."""


class FactSource(Protocol):
    """Facts from outside, for policies. Owned by `runtime.look`."""

    async def fetch(self, names: frozenset[str], operation: Operation) -> Mapping[str, Json]:
        """As many of the named facts as arrive in time; a missing one denies."""


class Principals(Protocol):
    """Who a principal is today: groups are resolved anew when a waiting call resumes."""

    async def current(self, principal: Principal) -> Principal | None:
        """The principal as of now; None: no longer known."""


class Secrets(Protocol):
    """Credentials, per principal or tenant, for handlers only."""

    async def fetch(self, names: tuple[str, ...], principal: Principal) -> Mapping[str, str]:
        """The named secrets; a missing one is absent."""


class Clock(Protocol):
    """Time."""

    def now_us(self) -> int:
        """Microseconds since 1970 UTC."""

    def monotonic_s(self) -> float:
        """Seconds on a clock that never goes back; the event loop's."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class Entropy(Protocol):
    """Randomness."""

    def bytes(self, count: int) -> bytes:
        """So many unguessable bytes."""


class Signer(Protocol):
    """Signs checkpoints of the audit log."""

    def sign(self, message: bytes) -> bytes:
        """An Ed25519 signature."""

    def public_key(self) -> bytes:
        """The raw 32 bytes."""
