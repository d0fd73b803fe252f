"""Documents of the control plane in PostgreSQL, sealed where the store is; each change is a batch of its own."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.documents import Document, DocumentKind, changes, raises_epoch, refuse_unkept
from interlock.core.journal import Event
from interlock.ports import Registered
from interlock.store.postgres_arrays import bigints, blobs, texts
from interlock.store.postgres_control import finish, put_versions, stored_of
from interlock.store.postgres_line import Line, Row, Step
from interlock.store.postgres_reads import Reader
from interlock.store.postgres_rows import place_of
from interlock.store.postgres_sheet import Sheet
from interlock.store.postgres_writer import Writer
from interlock.store.seal import Seal, opened_document, sealed_document


class PostgresDocuments:
    """The port `DocumentStore` of a PostgreSQL store: it writes through the store's writer, and reads beside it."""

    def __init__(self, writer: Writer, reader: Reader, *, seal: Seal) -> None:
        self._writer = writer
        self._reader = reader
        self._seal = seal

    async def documents(self, kind: DocumentKind, *, tenant: str | None = None) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and all of a kind that were not removed, of a tenant or of all, ordered by tenant and name."""
        self._writer.check()
        values: dict[str, object] = {"kind": str(kind), "tenant": tenant}
        _, ((epoch,),), rows, _ = await self._reader.trip(
            ("one_moment", ()), ("select_epoch", ()), ("select_documents", values), ("commit", ())
        )
        return epoch, tuple(opened_document(row, seal=self._seal) for row in rows)

    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        """The epoch, and those of a kind that decisions read which were changed or removed after another."""
        self._writer.check()
        _, ((epoch,),), rows, _ = await self._reader.trip(
            ("one_moment", ()), ("select_epoch", ()), ("select_changed_documents", (str(kind), since)), ("commit", ())
        )
        return epoch, tuple(opened_document(row, seal=self._seal) for row in rows)

    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        """One document; a removed one is there without a body."""
        self._writer.check()
        (rows,) = await self._reader.trip(("select_document", (place_of(tenant, kind, name),)))
        return opened_document(rows[0], seal=self._seal) if rows else None

    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        """Write them as one change with one event, or nothing; the new epoch."""
        refuse_unkept(documents)
        return await self._writer.write_alone("save_documents", SavingDocuments(documents, event))

    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        """Insert or move versions and write what belongs to that, as one change, if the epoch is still this one."""
        return await self._writer.write_alone("change_versions", ChangingVersions(found, documents, event, epoch))


@dataclass(frozen=True, slots=True)
class ChangingVersions:
    """Insert or move versions and write what belongs to that; None: the epoch is another by now."""

    found: tuple[Registered, ...]
    documents: tuple[Document, ...]
    event: Event
    epoch: int

    async def carry_out(self, line: Line, sheet: Sheet) -> int | None:
        places = blobs([place_of(*each.place) for each in self.documents])
        *_, ((epoch,),), versions, rows = await line.trip(
            ("lock_documents", ()),
            ("change_epoch", ()),
            ("select_epoch", ()),
            stored_of(self.found),
            ("select_document_revisions", (places,)),
        )
        if epoch != self.epoch:
            return None
        changed = await put_versions(line, self.found, rows=versions, epoch=epoch + 1)
        await _put(line, _Puts(self.documents, epoch + 1), rows=rows, sheet=sheet)
        changed = changed or raises_epoch(self.documents)
        return await finish(line, sheet, epoch=epoch + changed, event=self.event)


@dataclass(frozen=True, slots=True)
class SavingDocuments:
    """Write documents as one change; the new epoch.

    Who changes what decisions read waits for the claims on their way, and they for him; the rest holds nobody up.
    """

    documents: tuple[Document, ...]
    event: Event

    async def carry_out(self, line: Line, sheet: Sheet) -> int:
        raised = raises_epoch(self.documents)
        places = blobs([place_of(*each.place) for each in self.documents])
        lock: list[Step] = [("change_epoch", ())] if raised else []
        *_, ((epoch,),), rows = await line.trip(
            ("lock_documents", ()), *lock, ("select_epoch", ()), ("select_document_revisions", (places,))
        )
        await _put(line, _Puts(self.documents, epoch + 1), rows=rows, sheet=sheet)
        if not raised:
            sheet.append(self.event)
            return int(epoch)
        return await finish(line, sheet, epoch=epoch + 1, event=self.event)


@dataclass(frozen=True, slots=True)
class _Puts:
    """What is written within a change that leads to that epoch, if it leads to any."""

    documents: tuple[Document, ...]
    epoch: int


async def _put(line: Line, puts: _Puts, *, rows: list[Row], sheet: Sheet) -> None:
    """Write documents within a change, where `rows` are the revisions that are stored."""
    stored = {(tenant, DocumentKind(kind), name): revision for tenant, kind, name, revision in rows}
    found = [*changes(puts.documents, stored=stored).values()]
    if found:
        await line.trip(("upsert_documents", (puts.epoch, *_columns(found, seal=sheet.seal))))


def _columns(documents: list[Document], *, seal: Seal) -> tuple[object, ...]:
    return (
        blobs([place_of(*each.place) for each in documents]),
        texts([each.tenant for each in documents]),
        texts([each.kind for each in documents]),
        texts([each.name for each in documents]),
        bigints([each.revision for each in documents]),
        blobs([sealed_document(each, seal=seal) for each in documents]),
    )
