"""Documents of the control plane in memory."""

from __future__ import annotations

from collections.abc import Callable

from interlock.core.documents import Document, DocumentKind, Place, changes, raises_epoch, refuse_unkept
from interlock.core.journal import Event
from interlock.ports import Registered
from interlock.store.memory_chain import MemoryChain
from interlock.store.memory_versions import MemoryVersions


class MemoryDocuments:
    """The port `DocumentStore`, in a dictionary. `advance` raises the store's epoch by so much, and says it."""

    def __init__(self, chain: MemoryChain, *, advance: Callable[[int], int], versions: MemoryVersions) -> None:
        self._chain = chain
        self._advance = advance
        self._versions = versions
        self._documents: dict[Place, Document] = {}

    async def documents(self, kind: DocumentKind, *, tenant: str | None = None) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and all of a kind that were not removed, of a tenant or of all, ordered by tenant and name."""
        found = [self._documents[place] for place in sorted(self._documents) if place[1] is kind]
        kept = [each for each in found if not each.is_removed and tenant in (None, each.tenant)]
        return self._advance(0), tuple(kept)

    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        """One document; a removed one is there without a body."""
        return self._documents.get((tenant, kind, name))

    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        """Write them as one change with one event, or nothing; the new epoch."""
        refuse_unkept(documents)
        self._documents |= self._changes(documents)
        self._chain.append(event)
        return self._advance(raises_epoch(documents))

    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        """Insert or move versions and write what belongs to that, as one change, if the epoch is still this one."""
        if self._advance(0) != epoch:
            return None
        changed = self._versions.checked(found)
        self._documents |= self._changes(documents)
        self._chain.append(event)
        epoch = self._advance(bool(changed) or raises_epoch(documents))
        self._versions.put(changed, epoch)
        return epoch

    def _changes(self, documents: tuple[Document, ...]) -> dict[Place, Document]:
        return changes(documents, stored={place: each.revision for place, each in self._documents.items()})
