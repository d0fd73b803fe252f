"""The part of a store's contract about documents of the control plane: each change follows on the one before."""

# ruff: noqa: S101  (a contract is made of assertions)

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Protocol

import pytest

from interlock.core.documents import BODY_BYTES_MAX, DECIDING, TEXT_CHARS_MAX
from interlock.core.errors import DocumentChanged, DocumentInvalid, VersionExists
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.ports import Document, DocumentKind, DocumentStore
from interlock.testing.store_contract_shared import ContractTests, Store, verified
from interlock.testing.store_values import TENANT, Values

AGENT, EXAMPLE = DocumentKind.AGENT, DocumentKind.EXAMPLE


class DocumentsStore(Store, Protocol):
    """A store that keeps documents."""

    @property
    def documents(self) -> DocumentStore:
        """Where it keeps them."""


def document(name: str = "clerk", *, kind: DocumentKind = AGENT, tenant: str = TENANT, revision: int = 1) -> Document:
    """A document whose body says which revision it is."""
    return Document(tenant, kind, name, revision, b'{"revision":%d}' % revision)


async def saved(store: DocumentsStore, values: Values, *documents: Document) -> int:
    """The epoch after they were saved."""
    return await store.documents.save_documents(documents, values.event(EventKind.AGENT_SAVED))


async def of(store: DocumentsStore, kind: DocumentKind, tenant: str | None = None) -> tuple[Document, ...]:
    """All of a kind."""
    return (await store.documents.documents(kind, tenant=tenant))[1]


class DocumentContract(ContractTests):
    """What a store promises of documents."""

    async def test_documents_of_a_kind_come_ordered_by_tenant_and_name(
        self, *, store: DocumentsStore, values: Values
    ) -> None:
        found = [document(name, tenant=tenant) for tenant in ("a", "b") for name in ("Z", "a", "z", "ä", "\U0001f600")]
        await saved(store, values, *reversed(found), document("other", kind=EXAMPLE))
        assert await of(store, AGENT) == tuple(found)
        assert await of(store, AGENT, "b") == tuple(found[5:])
        assert await of(store, AGENT, "c") == ()
        assert await of(store, EXAMPLE) == (document("other", kind=EXAMPLE),)

    async def test_what_decisions_read_is_read_again_only_where_it_was_changed_or_removed(
        self, *, store: DocumentsStore, values: Values
    ) -> None:
        async def heard(since: int, kind: DocumentKind = AGENT) -> tuple[int, tuple[Document, ...]]:
            return await store.documents.changed_documents(kind, since)

        one, other = document("one"), document("other")
        begun = await saved(store, values, other, one)
        assert await heard(-1) == await heard(begun - 1) == (begun, (one, other))
        assert await heard(begun) == (begun, ())
        stop = document("s", kind=DocumentKind.STOP)
        changed = await saved(store, values, one.changed(b"{}"), stop)
        assert await heard(begun) == (changed, (one.changed(b"{}"),))
        assert await heard(begun, DocumentKind.STOP) == (changed, (stop,))
        gone = await saved(store, values, other.changed(b""))
        assert await heard(changed) == (gone, (other.changed(b""),))
        assert (await heard(-1))[1] == (one.changed(b"{}"), other.changed(b""))
        later = await store.documents.change_versions(
            (), (document("third"),), values.event(EventKind.AGENT_SAVED), epoch=gone
        )
        assert await heard(gone) == (later, (document("third"),))

    async def test_no_tenant_and_no_kind_finds_what_is_anothers(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document())
        assert await store.documents.document(AGENT, tenant=TENANT, name="clerk") == document()
        assert await store.documents.document(AGENT, tenant="globex", name="clerk") is None
        assert await store.documents.document(EXAMPLE, tenant=TENANT, name="clerk") is None
        await saved(store, values, document(tenant="globex"))
        assert await store.documents.document(AGENT, tenant=TENANT, name="clerk") == document()

    async def test_each_change_follows_on_the_one_before(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document())
        for revision in (0, 1, 3):
            with pytest.raises(DocumentChanged):
                await saved(store, values, document(revision=revision))
        with pytest.raises(DocumentChanged):
            await saved(store, values, document("new", revision=2))
        await saved(store, values, document(revision=2))
        assert await of(store, AGENT) == (document(revision=2),)

    async def test_of_those_that_change_a_document_at_once_one_does(
        self, *, store: DocumentsStore, values: Values
    ) -> None:
        await saved(store, values, document())
        bodies = [Document(TENANT, AGENT, "clerk", 2, b"[%d]" % number) for number in range(5)]
        done = await asyncio.gather(*[saved(store, values, each) for each in bodies], return_exceptions=True)
        (won,) = [each for each, epoch in zip(bodies, done, strict=True) if isinstance(epoch, int)]
        assert sum(isinstance(each, DocumentChanged) for each in done) == 4
        assert await of(store, AGENT) == (won,)
        assert (await verified(store))[0].sequence == 2

    async def test_all_of_a_change_is_written_or_nothing(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document())
        with pytest.raises(DocumentChanged):
            await saved(store, values, document("first"), document(), document("last"))
        with pytest.raises(DocumentInvalid):
            await saved(store, values, document("first"), document(""))
        assert await of(store, AGENT) == (document(),)
        assert await store.epoch() == 1
        assert (await store.heads())[0].sequence == 1

    async def test_one_document_may_change_twice_in_one_change(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document(), document(revision=2))
        assert await of(store, AGENT) == (document(revision=2),)

    async def test_only_kinds_that_decide_raise_the_epoch(self, *, store: DocumentsStore, values: Values) -> None:
        raised = []
        for kind in DocumentKind:
            before = await store.epoch()
            after = await saved(store, values, document(kind=kind))
            assert after == await store.epoch() == (await store.documents.documents(kind))[0]
            raised += [kind] * (after - before)
        assert raised == [kind for kind in DocumentKind if kind in DECIDING]
        after = len(DECIDING) + 1
        assert await saved(store, values, document("b"), document("b", kind=EXAMPLE)) == after
        assert await saved(store, values) == after
        assert (await verified(store))[0].sequence == len(DocumentKind) + 2

    async def test_what_was_removed_keeps_its_revision(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document())
        removed = document().changed(b"")
        await saved(store, values, removed)
        assert await of(store, AGENT) == ()
        assert await store.documents.document(AGENT, tenant=TENANT, name="clerk") == removed
        with pytest.raises(DocumentChanged):
            await saved(store, values, document())
        await saved(store, values, document(revision=3))
        assert await of(store, AGENT) == (document(revision=3),)

    @pytest.mark.parametrize("text", ["", "a\x00b", "\ud800", "x" * (TEXT_CHARS_MAX + 1)])
    async def test_what_cannot_be_kept_is_refused(self, text: str, *, store: DocumentsStore, values: Values) -> None:
        for hostile in (document(text), document(tenant=text)):
            with pytest.raises(DocumentInvalid):
                await saved(store, values, hostile)
        assert await of(store, AGENT) == ()

    async def test_the_longest_names_and_bodies_are_kept(self, *, store: DocumentsStore, values: Values) -> None:
        long = "\U0001f600" * TEXT_CHARS_MAX
        kept = Document(long, EXAMPLE, long, 1, b"1" * 1_000_000)
        await saved(store, values, kept)
        assert await of(store, EXAMPLE, long) == (kept,)
        with pytest.raises(DocumentInvalid):
            await saved(store, values, kept.changed(b"1" * (BODY_BYTES_MAX + 1)))

    async def test_names_are_compared_to_the_letter(self, *, store: DocumentsStore, values: Values) -> None:
        names = ("a", "A", "á", "a\u0301", " a", "a' OR '1'='1", "%", "_")
        await saved(store, values, *[document(name) for name in names])
        assert {each.name for each in await of(store, AGENT)} == {*names}

    async def test_documents_outlive_the_process(self, *, store: DocumentsStore, values: Values) -> None:
        await saved(store, values, document(), document("gone"))
        await saved(store, values, document("gone").changed(b""))
        after: DocumentsStore = await self.after_crash(store)  # type: ignore[assignment]
        assert await of(after, AGENT) == (document(),)
        with pytest.raises(DocumentChanged):
            await saved(after, values, document("gone"))

    async def test_versions_and_documents_change_together_at_the_epoch_that_was_decided_on(
        self, *, store: DocumentsStore, values: Values
    ) -> None:
        found = values.registered("a")
        change = store.documents.change_versions
        kept = document(kind=DocumentKind.EVIDENCE)
        assert await change((found,), (kept,), values.event(), epoch=0) == 1
        assert (await store.versions(), await of(store, DocumentKind.EVIDENCE)) == ((1, (found,)), (kept,))
        frozen = replace(found, state=Lifecycle.FROZEN)
        other = document(kind=DocumentKind.EVIDENCE, revision=2)
        assert await change((frozen,), (other,), values.event(), epoch=0) is None
        assert (await store.versions(), await of(store, DocumentKind.EVIDENCE)) == ((1, (found,)), (kept,))
        assert (await store.heads())[0].sequence == 1
        assert await change((frozen,), (other,), values.event(), epoch=1) == 2
        assert await store.versions() == (2, (frozen,))
        await verified(store)

    async def test_neither_changes_where_one_cannot(self, *, store: DocumentsStore, values: Values) -> None:
        found, change = values.registered("a"), store.documents.change_versions
        with pytest.raises(DocumentChanged):
            await change((found,), (document(revision=2),), values.event(), epoch=0)
        assert (await store.versions(), await of(store, AGENT)) == ((0, ()), ())
        await store.publish((found,), values.event())
        with pytest.raises(VersionExists):
            await change((replace(found, digest="2" * 64),), (document(),), values.event(), epoch=1)
        assert (await store.versions(), await of(store, AGENT)) == ((1, (found,)), ())
        assert await change((), (document(),), values.event(), epoch=1) == 2
        assert await change((), (document(kind=EXAMPLE),), values.event(), epoch=2) == 2

    async def test_of_two_changes_of_versions_at_one_epoch_one_is_made(
        self, *, store: DocumentsStore, values: Values
    ) -> None:
        found = values.registered("a")
        await store.publish((found,), values.event())
        states = (Lifecycle.FROZEN, Lifecycle.RETIRED)
        moves = [
            store.documents.change_versions((replace(found, state=state),), (), values.event(), epoch=1)
            for state in states
        ]
        assert sorted(await asyncio.gather(*moves), key=str) == [2, None]
        assert (await store.versions())[0] == 2
