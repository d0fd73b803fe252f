"""What stands in SQLite stands in PostgreSQL after it was loaded, row by row, and goes on from there."""

from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import psycopg
import pytest

from interlock.core.artifact import Artifact
from interlock.core.effect import CallEvent
from interlock.core.errors import BackupInvalid, NotWritten
from interlock.core.labels import NO_LABELS
from interlock.core.recovery import Looks
from interlock.ports import Claim, NotMoved
from interlock.store import dump_postgres
from interlock.store.dump import lines_of
from interlock.store.dump_postgres import load
from interlock.store.move_postgres import make_tables
from interlock.store.postgres import PostgresStore
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_runs import begun, due, let_go, new_run, sequences, step
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import NOW_US, TENANT, Values
from tests.postgres import Opens

SEAL = AesSeal(bytes(32), random=lambda count: b"n" * count)


@pytest.fixture
async def full(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A sealed store with something in most tables, an open call and a question among it."""
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main", seal=SEAL), Values()
    for number in range(4):
        claim = await store.claim(values.intent(f"k{number}", limit=9))
        assert isinstance(claim, Claim)
        if number:
            await store.settle(values.settlement(claim))
    await store.ask(values.asking("waiting"))
    await store.save_policies((), values.event())
    await store.publish((values.registered("a"),), values.event())
    await store.artifacts.append(TENANT, "art", number=0, data=b"part", at_us=NOW_US)
    known = (TENANT, "art", "operation-1", "save", "alice", "text/plain", 4)
    await store.artifacts.keep(Artifact(*known, NO_LABELS, NOW_US, b"whole"))
    yield store
    await store.close()


def lines(path: Path) -> list[bytes]:
    with closing(apsw.Connection(str(path))) as connection:
        return list(lines_of(connection))


async def loaded(source: SqliteStore, url: str) -> None:
    await source.close()
    await make_tables(url)
    with psycopg.connect(url) as connection:
        assert load(lines(source.path), connection).rows > 5


@pytest.mark.requirement("SCALE-2", "AUD-2", "IDEM-2", "BUD-2")
async def test_calls_keys_budgets_questions_and_chains_are_as_they_were(
    full: SqliteStore, postgres_url: str, postgres_stores: Opens
) -> None:
    values = Values()
    before = (
        await verified(full),
        await full.usage(TENANT),
        await full.approvals(TENANT),
        await full.versions(),
        [each.operation for each in await full.open_calls()],
        (await full.look(values.look("k1"))).prior,
        (await full.look(values.look())).run,
    )
    await loaded(full, postgres_url)
    store: PostgresStore = await postgres_stores(seal=SEAL)
    after = (
        await verified(store),
        await store.usage(TENANT),
        await store.approvals(TENANT),
        await store.versions(),
        [each.operation for each in await store.open_calls()],
        (await store.look(values.look("k1"))).prior,
        (await store.look(values.look())).run,
    )
    assert after == before
    assert await store.artifacts.part(TENANT, "art", number=0) == b"part"
    kept = await store.artifacts.artifact(TENANT, "art")
    assert kept is not None
    assert kept.sealed == b"whole"


async def test_how_often_an_unknown_call_was_looked_up_is_known_there(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await SqliteStore.open(tmp_path / "a.db", chain="main"), Values()
    claim = await store.claim(values.intent("k"))
    assert isinstance(claim, Claim)
    await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME))
    (call,) = await store.open_calls()
    with closing(apsw.Connection(str(store.path))) as connection:
        row = (TENANT, call.operation.id, call.fence, 3, NOW_US, 1)
        connection.execute("INSERT INTO look_ups VALUES (?, ?, ?, ?, ?, ?)", row)
    await loaded(store, postgres_url)
    looks = await (await postgres_stores()).looks()
    assert looks == {(TENANT, call.operation.id): Looks(3, NOW_US, escalated=True)}


async def test_runs_go_on_there_with_all_that_happened_in_them(
    full: SqliteStore, postgres_url: str, postgres_stores: Opens
) -> None:
    asking = Values().asking("asked", run="waits")
    await full.ask(asking)
    held = await begun(full, "held")
    await full.runs.begin_run(new_run("long", entries=40))
    await let_go(full, "waits", wake_us=None)
    before = [await full.runs.run_entries(TENANT, each) for each in ("held", "long", "waits")]
    await loaded(full, postgres_url)
    store: PostgresStore = await postgres_stores(seal=SEAL)
    assert [await store.runs.run_entries(TENANT, each) for each in ("held", "long", "waits")] == before
    assert set(await due(store)) == {"held", "long"}
    assert await store.runs.move_run(step(held)) is NotMoved.LOST
    assert await store.runs.take_run(TENANT, "held", NOW_US) == replace(held, fence=2)
    assert await store.change(Values().granted(asking)) is not None
    assert set(await due(store)) == {"long", "waits"}
    assert await store.runs.begin_run(new_run("new", entries=3)) is not None
    assert [await sequences(store, each) for each in ("new", "waits")] == [[1, 2, 3], [1, 2]]


async def test_no_owner_and_no_number_of_a_run_is_given_again_there(
    tmp_path: Path, postgres_url: str, postgres_stores: Opens
) -> None:
    await (await SqliteStore.open(tmp_path / "a.db", chain="main")).close()
    store = await SqliteStore.open(tmp_path / "a.db", chain="main")
    for run in ("one", "two", "three"):
        await begun(store, run)
    await loaded(store, postgres_url)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT last_value FROM run_heads_number_seq").fetchone() == (3,)
    assert set(await due(await postgres_stores())) == {"one", "two", "three"}


@pytest.mark.requirement("IDEM-3", "IDEM-5")
async def test_a_call_that_was_open_is_orphaned_there_and_can_be_taken_over(
    full: SqliteStore, postgres_url: str, postgres_stores: Opens
) -> None:
    await loaded(full, postgres_url)
    store = await postgres_stores(seal=SEAL)
    (call,) = await store.open_calls()
    assert call.orphaned
    taken = await store.take_over(call, Values().event())
    assert taken is not None
    assert taken.fence > call.fence


async def test_a_database_in_which_somebody_has_been_is_left_alone(
    full: SqliteStore, postgres_url: str, postgres_stores: Opens
) -> None:
    await full.close()
    await postgres_stores()
    with psycopg.connect(postgres_url) as connection, pytest.raises(NotWritten, match="holds a store already"):
        load(lines(full.path), connection)


async def test_what_came_of_a_row_otherwise_is_found_out(
    full: SqliteStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await full.close()
    await make_tables(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(
            "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.at_us = 1; RETURN NEW; END $$"
        )
        connection.execute("CREATE TRIGGER spoils BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION spoil()")
        with pytest.raises(BackupInvalid, match="audit does not hold"):
            load(lines(full.path), connection)


async def test_a_table_that_it_does_not_know_is_refused(
    full: SqliteStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(dump_postgres._MADE, "approvals")
    await full.close()
    await make_tables(postgres_url)
    with psycopg.connect(postgres_url) as connection, pytest.raises(BackupInvalid, match="approvals"):
        load(lines(full.path), connection)


async def test_every_table_of_the_dump_has_a_place_there(full: SqliteStore) -> None:
    tables = {line.split(b'"')[3].decode() for line in lines(full.path) if line.startswith(b'{"table"')}
    assert tables == {*dump_postgres._MADE, "look_ups"}
