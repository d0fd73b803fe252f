"""Finds the open runs that are bound to a version of a tool: who would lose it in the middle of their work."""

from __future__ import annotations

from typing import Final

from interlock.core.errors import StoreError
from interlock.loop.entries import Begun, read
from interlock.ports import RunQuery, RunReads, StoredRun

PAGE: Final = 256

RUNS_MAX: Final = 10_000
"""How many open runs are looked at, the newest first."""


class BoundRuns:
    """Looks through open runs. `runtime.references` asks it, which knows nothing of journals."""

    def __init__(self, reads: RunReads) -> None:
        self._reads = reads

    async def __call__(self, digest: str, *, tenant: str | None) -> tuple[str, ...]:
        """The open runs of a tenant, or of all, that are bound to this version, as `tenant/run`."""
        found: list[str] = []
        before: tuple[int, str] | None = None
        for _ in range(RUNS_MAX // PAGE):
            page = await self._reads.runs(RunQuery(tenant, over=False, before=before, limit=PAGE))
            found += [f"{run.tenant}/{run.id}" for run in page if await self._is_bound(run, digest)]
            if len(page) < PAGE:
                break
            before = page[-1].started_us, page[-1].id
        return tuple(found)

    async def _is_bound(self, run: StoredRun, digest: str) -> bool:
        """One whose beginning cannot be read may be bound to anything, and so to this."""
        first = await self._reads.run_entries(run.tenant, run.id, limit=1)
        if not first:
            return False
        try:
            body = read(first[0]).body
        except StoreError:
            return True
        return isinstance(body, Begun) and any(each.digest == digest for each in body.bound)
