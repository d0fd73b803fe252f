"""Documents of several processes on PostgreSQL, and of a SQLite store that was moved there."""

import asyncio
from pathlib import Path
from secrets import token_bytes

import psycopg
import pytest

from interlock.core.errors import DocumentChanged, StoreError
from interlock.ports import Document, DocumentKind, NotClaimed
from interlock.store.move_postgres import make_tables, move_to_postgres
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_documents import AGENT, EXAMPLE, document, of, saved
from interlock.testing.store_values import NOW_US, TENANT, Values
from tests.postgres import Opens

SEAL = AesSeal(bytes(32), random=token_bytes)


@pytest.mark.parametrize("kind", [AGENT, EXAMPLE])
async def test_of_processes_that_save_at_once_one_does(kind: DocumentKind, postgres_stores: Opens) -> None:
    stores, values = [await postgres_stores() for _ in range(4)], Values()
    for revision in range(1, 9):
        changed = document(kind=kind, revision=revision)
        done = await asyncio.gather(*[saved(store, values, changed) for store in stores], return_exceptions=True)
        assert sorted(type(each).__name__ for each in done) == [*["DocumentChanged"] * 3, "int"]


async def test_who_changes_what_decides_waits_for_the_claims_on_their_way(
    postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await postgres_stores(), Values()
    async with await psycopg.AsyncConnection.connect(postgres_url) as claiming:
        await claiming.execute("SELECT pg_advisory_xact_lock_shared(7310, 2)")
        saving = asyncio.create_task(saved(store, values, document()))
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 2 AND NOT granted"
        while (await (await claiming.execute(waits)).fetchone()) == (0,):
            assert not saving.done(), "it did not wait"
        await claiming.commit()
        assert await saving == 1


async def test_claims_under_the_epoch_before_a_change_are_refused_in_every_process(
    postgres_stores: Opens,
) -> None:
    stores, values = [await postgres_stores() for _ in range(3)], Values()
    await saved(stores[0], values, document())
    assert {await store.epoch() for store in stores} == {1}
    assert [await store.claim(values.intent(f"k{number}")) for number, store in enumerate(stores)] == (
        [NotClaimed.EPOCH] * 3
    )


async def test_what_no_decision_reads_holds_up_nobody_who_claims(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    with psycopg.connect(postgres_url) as claiming:
        claiming.execute("SELECT pg_advisory_xact_lock_shared(7310, 2)")
        await saved(store, values, document(kind=EXAMPLE))
    assert await of(store, EXAMPLE) == (document(kind=EXAMPLE),)


async def test_no_older_revision_takes_the_place_of_a_document(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(seal=SEAL), Values()
    first = Document(TENANT, EXAMPLE, "a", 1, b'"secret"')
    await saved(store, values, first)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        ((old,),) = admin.execute("SELECT body_sealed FROM documents").fetchall()
        assert b"secret" not in old
        await saved(store, values, first.changed(b'"other"'))
        admin.execute("UPDATE documents SET body_sealed = %s", (old,))
    with pytest.raises(StoreError):
        await store.documents.document(EXAMPLE, tenant=TENANT, name="a")


async def test_a_move_carries_documents(tmp_path: Path, postgres_url: str, postgres_stores: Opens) -> None:
    source, values = await SqliteStore.open(tmp_path / "s.db", chain="main", seal=SEAL), Values()
    await saved(source, values, document(), document("gone"))
    await saved(source, values, document("gone").changed(b""))
    await source.close()
    await make_tables(postgres_url)
    await asyncio.to_thread(move_to_postgres, source.path, postgres_url, at_us=NOW_US, check=lambda _: None)
    store = await postgres_stores(seal=SEAL)
    assert await store.documents.documents(AGENT) == (2, (document(),))
    with pytest.raises(DocumentChanged):
        await saved(store, values, document("gone"))
