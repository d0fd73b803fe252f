"""The contract notices stores that lose a change, show one tenant's documents to another, or write half of a change."""

import pytest

from interlock.core.documents import Document, DocumentKind, raises_epoch
from interlock.core.errors import DocumentChanged
from interlock.core.journal import Event
from interlock.ports import Registered
from interlock.store.memory import MemoryStore
from interlock.store.memory_documents import MemoryDocuments
from interlock.testing.store_contract_documents import DocumentContract
from interlock.testing.store_values import Values


class LastWins(MemoryDocuments):
    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        self._chain.append(event)
        return self._put({each.place: each for each in documents}, self._advance(raises_epoch(documents)))


class ForAll(MemoryDocuments):
    async def document(self, kind: DocumentKind, *, tenant: str, name: str) -> Document | None:
        return next((each for each in self._documents[kind].values() if each.name == name), None)


class OneByOne(MemoryDocuments):
    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        for each in documents:
            await super().save_documents((each,), event)
        return self._advance(0)


class Forgets(MemoryDocuments):
    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        epoch = await super().save_documents(documents, event)
        for found in self._documents.values():
            for each in [*found.values()]:
                if each.is_removed:
                    del found[each.place]
        return epoch


class Unheard(MemoryDocuments):
    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        epoch, found = await super().changed_documents(kind, since)
        return epoch, tuple(each for each in found if not each.is_removed)


class AllAnew(MemoryDocuments):
    async def changed_documents(self, kind: DocumentKind, since: int) -> tuple[int, tuple[Document, ...]]:
        return await super().changed_documents(kind, -1)


class AlwaysRaises(MemoryDocuments):
    async def save_documents(self, documents: tuple[Document, ...], event: Event) -> int:
        await super().save_documents(documents, event)
        return self._advance(not raises_epoch(documents))


class WhateverTheEpoch(MemoryDocuments):
    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        return await super().change_versions(found, documents, event, epoch=self._advance(0))


class VersionsFirst(MemoryDocuments):
    async def change_versions(
        self, found: tuple[Registered, ...], documents: tuple[Document, ...], event: Event, *, epoch: int
    ) -> int | None:
        after = await super().change_versions(found, (), event, epoch=epoch)
        return after if after is None else await self.save_documents(documents, event)


def store_with(kind: type[MemoryDocuments]) -> MemoryStore:
    store = MemoryStore()
    store.documents = kind(store._chain, advance=store._advance, versions=store._versions)
    return store


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (LastWins, DocumentContract.test_each_change_follows_on_the_one_before),
        (LastWins, DocumentContract.test_of_those_that_change_a_document_at_once_one_does),
        (ForAll, DocumentContract.test_no_tenant_and_no_kind_finds_what_is_anothers),
        (OneByOne, DocumentContract.test_all_of_a_change_is_written_or_nothing),
        (Unheard, DocumentContract.test_what_decisions_read_is_read_again_only_where_it_was_changed_or_removed),
        (AllAnew, DocumentContract.test_what_decisions_read_is_read_again_only_where_it_was_changed_or_removed),
        (Forgets, DocumentContract.test_what_was_removed_keeps_its_revision),
        (WhateverTheEpoch, DocumentContract.test_of_two_changes_of_versions_at_one_epoch_one_is_made),
        (VersionsFirst, DocumentContract.test_neither_changes_where_one_cannot),
        (AlwaysRaises, DocumentContract.test_only_kinds_that_decide_raise_the_epoch),
    ],
)
async def test_a_store_that_breaks_a_promise_is_noticed(kind: type[MemoryDocuments], test: object) -> None:
    with pytest.raises((AssertionError, DocumentChanged, ValueError, pytest.fail.Exception)):
        await test(DocumentContract(), store=store_with(kind), values=Values())  # type: ignore[operator]
