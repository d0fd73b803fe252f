"""Published versions of tools, and policies."""

from __future__ import annotations

from typing import Protocol

from interlock.core.frozen import frozen
from interlock.core.journal import Event
from interlock.core.lifecycle import Lifecycle
from interlock.core.policy import PolicySource


@frozen
class Registered:
    """A published version as it is stored. `spec` is canonical JSON, and so is `retirement` (a `core.retirement`),
    which is empty while nothing was said about one."""

    tenant: str
    source: str
    name: str
    version: str
    digest: str
    state: Lifecycle
    spec: bytes
    retirement: str = ""


class CatalogueStore(Protocol):
    """Published versions and the epoch that guards claims. Owned by `runtime.catalogue`."""

    async def versions(self) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and every version, oldest first."""

    async def changes(self, since: int) -> tuple[int, tuple[Registered, ...]]:
        """The epoch, and the versions that were published or moved after another, oldest first."""

    async def publish(self, found: tuple[Registered, ...], event: Event) -> int:
        """Insert or move versions as one change; the new epoch. A digest never changes: `VersionExists`."""

    async def policies(self) -> tuple[int, tuple[PolicySource, ...]]:
        """The epoch, and every policy source."""

    async def save_policies(self, sources: tuple[PolicySource, ...], event: Event) -> int:
        """Replace all sources of the tenants named in `sources`; the new epoch (unchanged where nothing changed)."""

    async def epoch(self) -> int:
        """The present epoch, from memory where no other process can have changed it."""
