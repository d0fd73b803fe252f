"""A backup is proved with its store's key, restored only if it holds, and what it cannot know is void in it."""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from interlock import Gate, Host
from interlock.copies import create_backup, dump_store, load_store, move_store, restore_backup, verify_backup
from interlock.core.audit_log import Verified
from interlock.core.errors import ActRefused, BackupInvalid, KeyInvalid, NotWritten, StoreError, StoreMoved
from interlock.keys import Keys
from tests.gates import ALICE, ASKS, BOB, OPERATOR, Shelf, code, granted, opened, records, save, search, used


async def backed_up(tmp_path: Path, shelf: Shelf, *, host: Host | None = None) -> Path:
    """A backup taken while a save is under way and a grant is unused."""
    async with opened(str(tmp_path / "a.db"), shelf.tools, ASKS, host=host) as gate:
        await gate.call(search(), principal=ALICE, run="r")
        await granted(gate, save("unused"), task="unused")
        await create_backup(tmp_path / "a.db", tmp_path / "b")
    return tmp_path / "b"


@pytest.mark.requirement("AUD-2")
async def test_it_is_proved_with_the_key_that_lies_apart(tmp_path: Path) -> None:
    file = await backed_up(tmp_path, Shelf())
    with pytest.raises(KeyInvalid, match="there is no"):
        await verify_backup(file)
    with pytest.raises(KeyInvalid, match="was signed by the key"):
        await verify_backup(file, host=Host(keys=Keys.random()))
    (tmp_path / "a.db.key").rename(tmp_path / "b.key")
    found = await verify_backup(file)
    assert found.log.records > 4
    assert found.found.copy is not None


async def test_a_backup_of_a_sealed_store_is_proved_with_its_seal(tmp_path: Path) -> None:
    keys = Keys.random()
    file = await backed_up(tmp_path, Shelf(), host=Host(keys=keys, seal=bytes(32)))
    assert (await verify_backup(file, host=Host(keys=keys, seal=bytes(32)))).log.records
    with pytest.raises(StoreError, match="do not open"):
        await verify_backup(file, host=Host(keys=keys, seal=bytes(31) + b"x"))


@pytest.mark.requirement("AUD-6")
async def test_a_gate_copies_its_store_for_an_operator_and_puts_that_on_record(tmp_path: Path) -> None:
    async with opened(str(tmp_path / "a.db"), Shelf().tools) as gate:
        with pytest.raises(ActRefused):
            await gate.backup(tmp_path / "b", by=ALICE)
        assert not (tmp_path / "b").exists()
        made = await gate.backup(tmp_path / "b", by=OPERATOR)
        (record,) = await records(gate, "store.backed_up")
        assert (record["sha256"], record["principal"]) == (made.sha256, "olga")
    async with opened(":memory:", Shelf().tools) as gate:
        with pytest.raises(StoreError, match="only a store in a SQLite file"):
            await gate.backup(tmp_path / "c", by=OPERATOR)


@pytest.mark.requirement("AUD-2")
async def test_one_whose_log_was_edited_is_not_restored(tmp_path: Path) -> None:
    file = await backed_up(tmp_path, Shelf())
    with closing(apsw.Connection(str(file))) as edited:
        edited.execute("UPDATE audit SET tenant = 'globex' WHERE place % 4 = 3")
    (tmp_path / "a.db.key").rename(tmp_path / "c.db.key")
    with pytest.raises(BackupInvalid, match="not what was recorded"):
        await restore_backup(file, tmp_path / "c.db", by=OPERATOR)
    assert not (tmp_path / "c.db").exists()


@pytest.mark.requirement("AUD-6", "APR-4", "IDEM-3", "BUD-2")
async def test_what_was_under_way_is_unknown_in_it_and_what_was_granted_is_void(tmp_path: Path) -> None:
    shelf, target = Shelf(), tmp_path / "c.db"
    async with opened(str(tmp_path / "a.db"), shelf.tools, ASKS) as gate:
        approval = await granted(gate, save("under way"), task="t1")
        unused = await granted(gate, save("unused"), task="t2")
        shelf.open.clear()
        under_way = asyncio.create_task(gate.approvals.resume(approval, by=ALICE))
        await shelf.started.wait()
        await create_backup(tmp_path / "a.db", tmp_path / "b")
        shelf.open.set()
        await under_way
        assert code(await gate.approvals.resume(unused, by=ALICE)) == "ok"
    (tmp_path / "c.db.key").write_bytes((tmp_path / "a.db.key").read_bytes())
    made = await restore_backup(tmp_path / "b", target, by=OPERATOR)
    assert (made.voided, made.backup.found.open_calls) == (1, 1)
    async with opened(str(target), shelf.tools, None) as gate:
        assert gate.recovered.unknown == 1
        assert code(await gate.approvals.resume(unused, by=ALICE)) != "ok"
        assert len(shelf.saved) == 2
        (restored,) = await records(gate, "store.restored")
        assert (restored["principal"], restored["branch"]) == ("olga", made.branch)
        proved = await gate.audit.verify()
        assert isinstance(proved, Verified)
        assert {head.chain for head in proved.heads} == {"main", f"main~{made.branch}"}
        assert await used(gate, "calls") >= 1


async def test_only_operators_restore_and_only_where_nothing_is(tmp_path: Path) -> None:
    file = await backed_up(tmp_path, Shelf())
    with pytest.raises(ActRefused):
        await restore_backup(file, tmp_path / "c.db", by=BOB)
    with pytest.raises(NotWritten, match="exists already"):
        await restore_backup(file, tmp_path / "a.db", by=OPERATOR)


@pytest.mark.requirement("AUD-2")
async def test_two_stores_of_one_backup_write_different_chains(tmp_path: Path) -> None:
    file = await backed_up(tmp_path, Shelf())
    key = (tmp_path / "a.db.key").read_bytes()
    chains = set[str]()
    for name in ("c.db", "d.db"):
        (tmp_path / f"{name}.key").write_bytes(key)
        await restore_backup(file, tmp_path / name, by=replace(OPERATOR, actor="root"))
        async with Gate.open(tmp_path / name) as gate:
            chains |= {head.chain for head in await gate._world.audit.heads()}
    assert len(chains) == 3


@pytest.mark.requirement("AUD-2", "SCALE-2", "IDEM-2")
async def test_a_store_that_moves_keeps_its_chains_keys_grants_and_what_is_sealed(tmp_path: Path) -> None:
    shelf, host, target = Shelf(), Host(keys=Keys.random(), seal=bytes(32)), tmp_path / "b.db"
    async with opened(str(tmp_path / "a.db"), shelf.tools, ASKS, host=host) as gate:
        done = await granted(gate, save("done"), task="t1")
        assert code(await gate.approvals.resume(done, by=ALICE)) == "ok"
        unused = await granted(gate, save("unused"), task="t2")
    await move_store(tmp_path / "a.db", target, by=OPERATOR, host=host)
    with pytest.raises(StoreMoved):
        async with opened(str(tmp_path / "a.db"), shelf.tools, None, host=host):
            pass
    async with opened(str(target), shelf.tools, None, host=host) as gate:
        assert code(await gate.call(save("done"), principal=ALICE, task="t1")) == "ok"
        assert code(await gate.approvals.resume(unused, by=ALICE)) == "ok"
        assert [note for note, _ in shelf.saved] == ["done", "unused"]
        proved = await gate.audit.verify()
        assert isinstance(proved, Verified)
        assert [head.chain for head in proved.heads] == ["main"]
        assert await records(gate, "store.moved")


@pytest.mark.requirement("AUD-2", "APR-4")
async def test_a_store_that_was_loaded_from_a_dump_is_a_copy(tmp_path: Path) -> None:
    host = Host(keys=Keys.random())
    await backed_up(tmp_path, Shelf(), host=host)
    await dump_store(tmp_path / "a.db", tmp_path / "a.dump")
    with pytest.raises(ActRefused):
        await load_store(tmp_path / "a.dump", tmp_path / "c.db", by=ALICE, host=host)
    made = await load_store(tmp_path / "a.dump", tmp_path / "c.db", by=OPERATOR, host=host)
    assert made.voided == 1
    async with opened(str(tmp_path / "c.db"), Shelf().tools, None, host=host) as gate:
        heads = await gate._world.audit.heads()
        assert {head.chain for head in heads} == {"main", f"main~{made.branch}"}
