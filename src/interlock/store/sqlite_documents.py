"""Documents of the control plane in SQLite, sealed where the store is."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from interlock.core.documents import Document, DocumentKind, Place, changes, raises_epoch, refuse_unkept
from interlock.core.journal import Event
from interlock.ports import Registered
from interlock.store import sqlite_catalogue
from interlock.store.seal import opened_document, sealed_document
from interlock.store.sqlite_db import Db
from interlock.store.sqlite_desk import Desk
from interlock.store.writer import Writer


class SqliteDocuments:
    """The port `DocumentStore` of a SQLite store: it writes through the store's writer, and reads beside it."""

    def __init__(self, writer: Writer, desk: Desk, *, reader: Db) -> None:
        self._writer = writer
        self._desk = desk
        self._reader = reader

    async def documents(self, kind: DocumentKind, *, tenant: str | None = None) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and all of a kind that were not removed, of a tenant or of all, ordered by tenant and name."""
        self._writer.check()
        db = self._reader
        with db.one_moment():
            rows = db.named("select_documents", {"kind": kind, "tenant": tenant})
            return sqlite_catalogue.epoch(db), tuple(opened_document(row, seal=db.seal) for row in rows)

    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and those of a kind that decisions read which were changed or removed after another."""
        self._writer.check()
        db = self._reader
        with db.one_moment():
            rows = db.all("select_changed_documents", kind, since)
            return sqlite_catalogue.epoch(db), tuple(opened_document(row, seal=db.seal) for row in rows)

    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        """One document; a removed one is there without a body."""
        self._writer.check()
        row = self._reader.one("select_document", tenant, kind, name)
        return None if row is None else opened_document(row, seal=self._reader.seal)

    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        """Write them as one change with one event, or nothing; the new epoch."""
        refuse_unkept(documents)
        run = partial(save, self._desk, documents=documents, event=event)
        return await self._writer.write("save_documents", run=run)

    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        """Insert or move versions and write what belongs to that, as one change, if the epoch is still this one."""
        run = partial(change_versions, self._desk, found=found, documents=documents, event=event, epoch=epoch)
        return await self._writer.write("change_versions", run=run)


def change_versions(
    desk: Desk, *, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, epoch: int
) -> int | None:
    """Insert or move versions and write what belongs to that, as one change; None: the epoch is another by now."""
    if desk.epoch != epoch:
        return None
    changed = sqlite_catalogue.put_versions(desk, found=found)
    _put(desk, documents)
    return sqlite_catalogue.finish(desk, changed=changed or raises_epoch(documents), event=event)


def save(desk: Desk, *, documents: tuple[Document, ...], event: Event) -> int:
    """Write them as one change with one event, or nothing; the new epoch."""
    _put(desk, documents)
    return sqlite_catalogue.finish(desk, changed=raises_epoch(documents), event=event)


def _put(desk: Desk, documents: tuple[Document, ...]) -> None:
    for each in changes(documents, stored=_revisions(desk.db, [each.place for each in documents])).values():
        sealed = sealed_document(each, seal=desk.db.seal)
        desk.db.run("put_document", *each.place, each.revision, sealed, desk.epoch + 1)


def _revisions(db: Db, places: Iterable[Place]) -> dict[Place, int]:
    rows = {place: db.one("select_document_revision", *place) for place in places}
    return {place: row[0] for place, row in rows.items() if row is not None}
