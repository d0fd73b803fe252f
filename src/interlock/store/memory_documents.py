"""Documents of the control plane in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from interlock.core.documents import DECIDING, Document, DocumentKind, Place, changes, raises_epoch, refuse_unkept
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
        self._documents: dict[DocumentKind, dict[Place, Document]] = {kind: {} for kind in DocumentKind}
        self._changed: dict[DocumentKind, list[tuple[int, Place]]] = {kind: [] for kind in DECIDING}

    async def documents(self, kind: DocumentKind, *, tenant: str | None = None) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and all of a kind that were not removed, of a tenant or of all, ordered by tenant and name."""
        found = self._documents[kind]
        kept = [each for each in found.values() if not each.is_removed and tenant in (None, each.tenant)]
        return self._advance(0), tuple(sorted(kept, key=lambda each: each.place))

    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and those of a kind that decisions read which were changed or removed after another."""
        changed = self._changed[kind]
        places = {place for _, place in changed[bisect_right(changed, since, key=lambda each: each[0]) :]}
        return self._advance(0), tuple(self._documents[kind][place] for place in sorted(places))

    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        """One document; a removed one is there without a body."""
        return self._documents[kind].get((tenant, kind, name))

    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        """Write them as one change with one event, or nothing; the new epoch."""
        refuse_unkept(documents)
        found = self._changes(documents)
        self._chain.append(event)
        return self._put(found, self._advance(raises_epoch(documents)))

    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        """Insert or move versions and write what belongs to that, as one change, if the epoch is still this one."""
        if self._advance(0) != epoch:
            return None
        changed = self._versions.checked(found)
        kept = self._changes(documents)
        self._chain.append(event)
        epoch = self._advance(bool(changed) or raises_epoch(documents))
        self._versions.put(changed, epoch)
        return self._put(kept, epoch)

    def _put(self, found: dict[Place, Document], epoch: int) -> int:
        for place, each in found.items():
            self._documents[each.kind][place] = each
            if each.kind in DECIDING:
                self._changed[each.kind].append((epoch, place))
        return epoch

    def _changes(self, documents: tuple[Document, ...]) -> dict[Place, Document]:
        there = (self._documents[each.kind].get(each.place) for each in documents)
        return changes(documents, stored={each.place: each.revision for each in there if each is not None})
