"""Events of the journal: what is written, before anything is answered, for every proposal and every act of control.

The chain hashes keyed ids and salted commitments only. The complete record (redacted summaries, keyed digests) and what
must be kept whole (arguments, results, approvals' texts) go beside it as payloads, so retention never breaks a chain.
"""

from __future__ import annotations

from enum import StrEnum

from interlock.core.audit_entry import NONCE_BYTES_MIN, encode_fields
from interlock.core.chain import Record
from interlock.core.frozen import frozen


class EventKind(StrEnum):
    """What happened."""

    REFUSED = "call.refused"
    WAITING = "call.waiting"
    CLAIMED = "call.claimed"
    SETTLED = "call.settled"
    REPLAYED = "call.replayed"
    CACHED = "call.cached"
    RESULT_READ = "result.read"
    LATE = "call.late"
    TAKEN_OVER = "call.taken_over"
    CLOSED = "call.closed"
    LOOKED_UP = "call.looked_up"
    ESCALATED = "call.escalated"
    CLOSING_PROPOSED = "call.closing_proposed"
    COMPENSATION_STARTED = "compensation.started"
    COMPENSATION_STEP = "compensation.step"
    COMPENSATION_FAILED = "compensation.failed"
    COMPENSATION_ENDED = "compensation.ended"
    COMPENSATION_RESUMED = "compensation.resumed"
    APPROVAL_VOTED = "approval.voted"
    APPROVAL_RESUMED = "approval.resumed"
    APPROVAL_WITHDRAWN = "approval.withdrawn"
    APPROVAL_EXPIRED = "approval.expired"
    APPROVAL_VOID = "approval.void"
    TOOL_REGISTERED = "tool.registered"
    TOOL_MOVED = "tool.moved"
    TOOL_SIGNED_OFF = "tool.signed_off"
    TOOL_ANNOUNCED = "tool.announced"
    TOOL_CONFIRMED = "tool.confirmed"
    TOOL_REPLACED = "tool.replaced"
    TOOL_STOPPED = "tool.stopped"
    TOOL_STOP_LIFTED = "tool.stop_lifted"
    TOOL_PROMOTED = "tool.promoted"
    TOOL_ROLLED_BACK = "tool.rolled_back"
    AGENT_SAVED = "agent.saved"
    SHADOW_KEPT = "shadow.kept"
    DOCUMENT_SAVED = "document.saved"
    EXAMPLES_SAVED = "examples.saved"
    EXAMPLES_RAN = "examples.ran"
    EXAMPLE_ACCEPTED = "example.accepted"
    EXAMPLE_TAKEN = "example.taken"
    CHOICES_MADE = "choices.made"
    TOOL_PROBED = "tool.probed"
    TOOL_PROBING = "tool.probing"
    POLICY_SAVED = "policy.saved"
    LIMITS_SAVED = "limits.saved"
    RUN_STARTED = "run.started"
    RUN_TOLD = "run.told"
    RUN_ENDED = "run.ended"
    RUN_REPLAYED = "run.replayed"
    MODEL_ASKED = "model.asked"
    REVEALED = "secret.revealed"
    EXPORTED = "audit.exported"
    REVIEWED = "tools.reviewed"
    PURGED = "audit.purged"
    BACKED_UP = "store.backed_up"
    RESTORED = "store.restored"
    STORE_MOVED = "store.moved"
    CHECKPOINT = "audit.checkpoint"


@frozen
class Payload:
    """Something kept whole beside the chain: `name` within its event, a random salt, the bytes."""

    name: str
    salt: bytes
    data: bytes


RECORD = "record"
"""The name of the payload that holds an event's complete, redacted record (JSON): a sink, not a sealed store."""


@frozen
class Event:
    """One thing that happened, ready for a chain: only chain and sequence are missing, which the store adds.

    `tenant_mark` is the tenant as the chain may show it (keyed), `nonce` random hex, `ids` and `commitments` sorted
    pairs. `payloads` hold what was committed to; the first is the record. `call` and `subject` (an operation, an
    approval, a tool) are indexes for finding it again.
    """

    kind: EventKind
    tenant: str
    at_us: int
    tenant_mark: str
    nonce: str
    ids: tuple[tuple[str, str], ...]
    commitments: tuple[tuple[str, str], ...]
    payloads: tuple[Payload, ...]
    call: str = ""
    subject: str = ""

    def body(self, chain: str, sequence: int) -> bytes:
        """The bytes that the chain hashes, once its place is known."""
        nonce, mark, ids, commitments = self.nonce, self.tenant_mark, self.ids, self.commitments
        if len(ids) == len(commitments) == 1 and len(nonce) >= 2 * NONCE_BYTES_MIN:  # as most have
            ((name, keyed),), ((payload, commitment),) = ids, commitments
            told = f"{chain}{payload}{commitment}{name}{keyed}{nonce}{mark}"
            if told.isascii() and told.encode().isalnum():  # nothing to escape; of bytes it is seen sooner
                return (
                    f'{{"chain":"{chain}","commitments":{{"{payload}":"{commitment}"}},"ids":{{"{name}":"{keyed}"}},'
                    f'"kind":"{self.kind}","nonce":"{nonce}","sequence":{sequence},"tenant":"{mark}",'
                    f'"time_us":{self.at_us}}}'
                ).encode()
        return encode_fields(
            {
                "chain": chain,
                "commitments": dict(self.commitments),
                "ids": dict(self.ids),
                "kind": str(self.kind),
                "nonce": nonce,
                "sequence": sequence,
                "tenant": mark,
                "time_us": self.at_us,
            },
            nonce=nonce,
        )


@frozen
class AuditQuery:
    """Which records to read: those after `(chain, sequence)` that match every given field, at most `limit`."""

    tenant: str | None = None
    kind: str | None = None
    call: str | None = None
    subject: str | None = None
    since_us: int | None = None
    after: tuple[str, int] | None = None
    limit: int = 1_000


@frozen
class AuditRecord:
    """One stored record with what is still kept of its payloads."""

    record: Record
    tenant: str
    kind: str
    at_us: int
    call: str
    subject: str
    payloads: tuple[Payload, ...]
