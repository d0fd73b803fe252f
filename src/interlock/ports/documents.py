"""Documents of the control plane, changed by one at a time."""

from __future__ import annotations

from typing import Protocol

from interlock.core.documents import Document, DocumentKind
from interlock.core.journal import Event
from interlock.ports.catalogue import Registered


class DocumentStore(Protocol):
    """What people have saved about tools and agents, and the epoch that some of it raises."""

    async def documents(self, kind: DocumentKind, *, tenant: str | None = None) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and all of a kind that were not removed, of a tenant or of all, ordered by tenant and name."""

    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and those of a kind that decisions read which were changed or removed after another."""

    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        """One document. One that was removed is there with its revision and no body; None: there never was one."""

    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        """Write them as one change with one event, or nothing; the new epoch, which only kinds raise that decide.

        Each must carry the revision after the stored one (1 where there is none): `DocumentChanged`. What cannot be
        kept is refused: `DocumentInvalid`.
        """

    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        """Insert or move versions and write what belongs to that, as one change with one event; the new epoch.

        None, and nothing is written, where the epoch is another than the one that was decided on. Raises what
        `CatalogueStore.publish` and `save_documents` raise.
        """
