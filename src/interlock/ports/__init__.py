"""What the runtime needs from the world, as Protocols of few methods; stores, runners and hosts provide them.

Every write is one method, one transaction, one event, all or nothing. A store never decides: it guards what was
decided, and says so when the guard no longer holds, whereupon the runtime looks again.
"""

from __future__ import annotations

from interlock.core.documents import Document, DocumentKind
from interlock.ports.approvals import ApprovalChange, Approvals, Asking
from interlock.ports.calls import Calls, Claim, Entry, Intent, Look, NotClaimed, Seen, Settlement, StoredOperation
from interlock.ports.catalogue import CatalogueStore, Registered
from interlock.ports.compensations import Compensations, EffectCall, Effects, PlanChange
from interlock.ports.documents import DocumentStore
from interlock.ports.finding import Ranked, Ranker
from interlock.ports.host import Clock, Entropy, FactSource, Onlooker, Principals, Progressed, Secrets, Signer
from interlock.ports.records import Artifacts, Audit, Ledger, Provers, Retention
from interlock.ports.recovery import Closings, Due, Lease, LookUps, OpenCall, Recovery, Wakes
from interlock.ports.runs import (
    NewRun,
    NotMoved,
    RunClaim,
    RunEntry,
    RunMove,
    RunNote,
    RunQuery,
    RunReads,
    Runs,
    StoredRun,
)
from interlock.ports.tools import Attempt, Invocation, Runner

__all__ = [
    "ApprovalChange",
    "Approvals",
    "Artifacts",
    "Asking",
    "Attempt",
    "Audit",
    "Calls",
    "CatalogueStore",
    "Claim",
    "Clock",
    "Closings",
    "Compensations",
    "Document",
    "DocumentKind",
    "DocumentStore",
    "Due",
    "EffectCall",
    "Effects",
    "Entropy",
    "Entry",
    "FactSource",
    "Intent",
    "Invocation",
    "Lease",
    "Ledger",
    "Look",
    "LookUps",
    "NewRun",
    "NotClaimed",
    "NotMoved",
    "Onlooker",
    "OpenCall",
    "PlanChange",
    "Principals",
    "Progressed",
    "Provers",
    "Ranked",
    "Ranker",
    "Recovery",
    "Registered",
    "Retention",
    "RunClaim",
    "RunEntry",
    "RunMove",
    "RunNote",
    "RunQuery",
    "RunReads",
    "Runner",
    "Runs",
    "Secrets",
    "Seen",
    "Settlement",
    "Signer",
    "StoredOperation",
    "StoredRun",
    "Wakes",
]
