"""Documents in SQLite are sealed to their revision, seen by every process, and copied with the store."""

import asyncio
from contextlib import closing
from pathlib import Path
from secrets import token_bytes

import apsw
import pytest

from interlock.core.errors import DocumentChanged, StoreError
from interlock.ports import Document
from interlock.store.backup import back_up
from interlock.store.backup_restore import copied, restore
from interlock.store.dump import dump, load
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_copies import Copy
from interlock.testing.store_contract_documents import AGENT, EXAMPLE, document, of, saved
from interlock.testing.store_values import TENANT, Values

SEAL = AesSeal(bytes(32), random=token_bytes)


async def test_a_document_is_sealed_and_no_older_revision_takes_its_place(tmp_path: Path) -> None:
    store, values = await SqliteStore.open(tmp_path / "s.db", chain="main", seal=SEAL), Values()
    first = Document(TENANT, EXAMPLE, "a", 1, b'"planted-secret"')
    await saved(store, values, first)
    with closing(apsw.Connection(str(store.path))) as admin:
        ((old,),) = admin.execute("SELECT body_sealed FROM documents").fetchall()
        await saved(store, values, first.changed(b'"another-secret"'))
        admin.execute("UPDATE documents SET body_sealed = ?", (old,))
    with pytest.raises(StoreError):
        await store.documents.document(EXAMPLE, tenant=TENANT, name="a")
    await store.close()
    kept = await asyncio.to_thread(lambda: [each.read_bytes() for each in tmp_path.iterdir() if each.is_file()])
    assert not any(b"-secret" in each for each in kept)


async def test_who_saves_beside_another_process_is_told_and_raises_its_epoch(tmp_path: Path) -> None:
    values = Values()
    one = await SqliteStore.open(tmp_path / "s.db", chain="main")
    other = await SqliteStore.open(tmp_path / "s.db", chain="peer")
    assert await saved(one, values, document()) == 1
    assert await other.epoch() == 1
    assert await saved(other, values, document(revision=2)) == 2
    assert await one.epoch() == 2
    with pytest.raises(DocumentChanged):
        await saved(one, values, document(revision=2))
    assert await of(one, AGENT) == (document(revision=2),)
    for store in (one, other):
        await store.close()


async def test_backup_and_dump_carry_documents(tmp_path: Path) -> None:
    store, values = await SqliteStore.open(tmp_path / "s.db", chain="main"), Values()
    await saved(store, values, document(), document("gone"))
    await saved(store, values, document("gone").changed(b""))
    back_up(store.path, tmp_path / "backup", copy=Copy("a", 1))
    dump(store.path, tmp_path / "dump")
    await store.close()
    restore(tmp_path / "b.db", fill=lambda draft: copied(tmp_path / "backup", draft), check=lambda _: Copy("a", 1, 2))
    with (tmp_path / "dump").open("rb") as lines:
        load(lines, tmp_path / "d.db")
    for path in (tmp_path / "b.db", tmp_path / "d.db"):
        again = await SqliteStore.open(path, chain="main")
        assert await again.documents.documents(AGENT) == (2, (document(),))
        with pytest.raises(DocumentChanged):
            await saved(again, values, document("gone"))
        await again.close()
