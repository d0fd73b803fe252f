"""Everything outside that the runtime is given at its start, in one frozen place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.ports import (
    Approvals,
    Artifacts,
    Audit,
    Calls,
    CatalogueStore,
    Clock,
    Closings,
    Compensations,
    DocumentStore,
    Entropy,
    FactSource,
    Lease,
    Ledger,
    LookUps,
    Principals,
    Provers,
    Ranker,
    Recovery,
    Retention,
    Runner,
    RunReads,
    Runs,
    Secrets,
    Signer,
    Wakes,
)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """The ports, wired. One store usually stands behind several of them; `runners` are by handler kind.

    `lease` is there where a claim ends by the clock: where it is not, it lasts as long as the process. `wakes` tell
    those who wait what another process lets go of. `provers` share the work where a long log is proved.
    `ranker` is the host's own.
    """

    calls: Calls
    approvals: Approvals
    recovery: Recovery
    look_ups: LookUps
    closings: Closings
    compensations: Compensations
    catalogue: CatalogueStore
    documents: DocumentStore
    audit: Audit
    ledger: Ledger
    retention: Retention
    artifacts: Artifacts
    runs: Runs
    run_reads: RunReads
    runners: Mapping[str, Runner]
    clock: Clock
    entropy: Entropy
    signer: Signer
    facts: FactSource | None = None
    principals: Principals | None = None
    secrets: Secrets | None = None
    lease: Lease | None = None
    wakes: Wakes | None = None
    provers: Provers | None = None
    ranker: Ranker | None = None

    def new_id(self) -> str:
        """An id of its own."""
        return new_id(self.clock.now_us(), self.entropy)


def new_id(now_us: int, entropy: Entropy) -> str:
    """An id with 80 random bits, after the time, so that indexes of ids grow at their end."""
    return ((now_us // 1_000).to_bytes(6) + entropy.bytes(10)).hex()
