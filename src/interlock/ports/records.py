"""What is kept: the audit log, whole results, what was spent, and for how long."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Protocol

from interlock.core.artifact import Artifact
from interlock.core.budget import ScopeKey, Usage
from interlock.core.chain import Head, Receipt, Stretch
from interlock.core.checkpoint import Checkpoint, Mark, Span
from interlock.core.journal import AuditQuery, AuditRecord, Event


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


class Provers(Protocol):
    """Other processes that prove spans of the same log. Owned by `runtime.proof`."""

    def prove(
        self, spans: Iterable[Span], *, held: tuple[Head, ...]
    ) -> AsyncGenerator[tuple[Span, Stretch | None], None]:
        """What each span was shown to be, in order; None: who asks has to read it. It may end early.

        `held` are heads that were kept outside. Closing it ends the processes.
        """


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

    async def purge(self, before_us: int, *, windows_before_us: int | None = None) -> None:
        """Forget payloads, results and operations of closed calls from before then; records and chains stay whole.

        Usage of rate windows goes where they began before `windows_before_us` (`before_us` where it is not given): the
        store does not know how long they are, and whoever counts in one that goes on must find what was used.
        """


class Ledger(Protocol):
    """What was spent. Owned by `runtime.gate`'s callers that report."""

    async def usage(self, tenant: str) -> tuple[tuple[ScopeKey, Usage], ...]:
        """Every usage row of a tenant."""
