"""Runs in SQLite: in one transaction with other writes, sealed, found by an index, dropped in steps."""

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes

import apsw
import pytest

from interlock.core.budget import Amounts, Reservation, Usage
from interlock.core.effect import CallEvent, CallState
from interlock.core.errors import StoreError
from interlock.ports import NotMoved, RunClaim, RunEntry, RunNote, RunQuery
from interlock.store import sqlite_retention, sqlite_runs
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.store.sqlite_desk import Desk
from interlock.store.sqlite_runs import _SettledInRun
from interlock.testing.store_contract_noted_runs import note, state_of
from interlock.testing.store_contract_runs import LATER_US, begun, due, found, let_go, new_run, sequences, step
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import NOW_US, RUN, SCOPE, TENANT, Values

values = Values()
SEAL = AesSeal(bytes(32), random=token_bytes)


async def test_moves_share_a_transaction_with_claims_and_records(tmp_path: Path) -> None:
    commits = list[tuple[str, ...]]()

    def on_commit(when: str, names: tuple[str, ...]) -> None:
        if when == "after":
            commits.append(names)

    store = await SqliteStore.open(tmp_path / "store.db", chain="main", on_commit=on_commit)
    claim = await begun(store)
    await asyncio.gather(
        store.runs.move_run(step(claim)),
        store.claim(values.intent("k")),
        store.record(values.entry()),
        store.runs.tell_run(TENANT, RUN, RunEntry("stop", NOW_US, b"")),
        store.runs.run(TENANT, RUN),
    )
    assert commits[1:] == [("move_run", "claim", "record", "tell_run", "run")]
    assert store._writer._batch.repeatable.issuperset(commits[1])
    await store.close()


async def test_what_fails_beside_a_move_leaves_the_move_as_if_it_were_alone(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main")
    claim = await begun(store)
    spent = (Reservation(SCOPE, Amounts(tokens=7)),)
    move = replace(step(claim, ended="done"), charges=spent, event=values.event())
    bad = replace(new_run("other"), entries=(RunEntry("words\ud800", NOW_US, b""),), event=values.event())
    moved, failed, late = await asyncio.gather(
        store.runs.move_run(move),
        store.runs.begin_run(bad),
        store.runs.move_run(step(claim, 2)),
        return_exceptions=True,
    )
    assert (moved, isinstance(failed, UnicodeEncodeError), late) == (2, True, NotMoved.OVER)
    assert await sequences(store) == [1, 2]
    seen = await store.look(values.look())
    assert (Usage.read(seen.usage[0]).used, seen.run and seen.run.ended, seen.run and seen.run.version) == (
        spent[0].amounts,
        "done",
        1,
    )
    assert [head.sequence for head in await verified(store)] == [1]
    assert await store.runs.run(TENANT, "other") is None
    await store.close()


async def test_a_call_of_a_run_is_settled_and_written_down_in_one_transaction(tmp_path: Path) -> None:
    commits = list[tuple[str, ...]]()
    store = await SqliteStore.open(
        tmp_path / "store.db",
        chain="main",
        on_commit=lambda when, names: commits.append(names) if when == "after" else None,
    )
    run = await begun(store)
    call = await claimed(store, intent=values.read())
    receipt, moved = await store.runs.settle_in_run(values.settlement(call), note(run))
    assert (receipt is not None, moved) == (True, 2)
    assert commits == [("begin_run",), ("settle", "move_run")]
    await store.close()


async def test_a_step_that_cannot_be_written_leaves_its_call_settled(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main")
    run, call = await begun(store), await claimed(store, intent=values.intent("k"))
    bad = replace(step(run), entries=(RunEntry("words\ud800", NOW_US, b""),))
    receipt, moved = await store.runs.settle_in_run(values.settlement(call), RunNote(run, lambda _: bad))
    assert (receipt is not None, moved) == (True, None)
    assert await state_of(store, call) is CallState.SUCCEEDED
    assert await sequences(store) == [1]
    assert [head.sequence for head in await verified(store)] == [2]
    assert await store.runs.move_run(step(run)) == 2
    await store.close()


async def test_of_a_settlement_that_was_carried_out_and_never_written_nothing_is_written_down(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main")
    run, call = await begun(store), await claimed(store, intent=values.intent("k"))
    both = _SettledInRun(store._desk, values.settlement(call), note=note(run))

    def lost() -> None:
        assert both.settle() is not None
        raise StoreError("another program has held the database")

    both.settling = store._writer.write("settle", run=lost)
    with pytest.raises(StoreError):
        await both.settling
    assert await store._writer.write("move_run", run=both.move) is None
    assert await sequences(store) == [1]
    await store.close()


async def test_entries_are_sealed_and_bound_to_their_place(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main", seal=SEAL)
    await store.runs.begin_run(new_run(entries=2))
    await store.close()
    assert b"hello" not in (tmp_path / "store.db").read_bytes()
    with closing(apsw.Connection(str(tmp_path / "store.db"))) as connection:
        connection.execute(
            "UPDATE run_entries SET data_sealed = (SELECT data_sealed FROM run_entries LIMIT 1 OFFSET 1)"
        )
    store = await SqliteStore.open(tmp_path / "store.db", chain="main", seal=SEAL)
    with pytest.raises(StoreError):
        await store.runs.run_entries(TENANT, RUN)
    assert [each.sequence for each in await store.runs.run_entries(TENANT, RUN, after=1)] == [2]
    await store.close()


async def test_a_run_goes_from_process_to_process(tmp_path: Path) -> None:
    first, second = [await SqliteStore.open(tmp_path / "store.db", chain=chain) for chain in ("main", "peer")]
    claim = await begun(first)
    assert await second.runs.take_run(TENANT, RUN, NOW_US) is None
    assert await second.runs.move_run(step(claim)) is NotMoved.LOST
    assert (await found(second)).held
    assert await second.runs.tell_run(TENANT, RUN, RunEntry("stop", NOW_US, b"")) == 2
    assert await due(second) == []
    assert await due(first) == [RUN]
    await first.close()
    assert await due(second) == [RUN]
    assert await second.runs.take_run(TENANT, RUN, LATER_US) == RunClaim(TENANT, RUN, 2)
    await second.close()


async def test_a_store_that_is_closed_while_work_goes_on_holds_no_runs(tmp_path: Path) -> None:
    first, second = [await SqliteStore.open(tmp_path / "store.db", chain=chain) for chain in ("main", "peer")]
    await begun(first)
    call = await claimed(first, intent=values.intent("k"))
    await first.settle(replace(values.settlement(call, CallEvent.LOSE_OUTCOME), goes_on=True))
    await first.close()
    assert await due(second) == [RUN]
    assert (await found(second)).held is False
    await second.close()


def test_retention_drops_short_runs_together_and_a_long_one_in_steps(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_retention, "STEP_ROWS", 10)
    for number, entries in enumerate((3, 25, 0, 10, 2, 2)):
        claim = sqlite_runs.begin(desk, new=new_run(f"run-{number}", entries=entries))
        assert claim is not None
        sqlite_runs.move_on(desk, move=replace(step(claim, entries, ended="done"), entries=()))
    sqlite_runs.begin(desk, new=new_run("open", entries=4))
    gone, count = [], "SELECT count(*) FROM run_entries"
    for each in sqlite_retention.steps(desk.db, before_us=LATER_US):
        (before,) = desk.db.connection.execute(count).fetchone() or (0,)
        sqlite_retention.purge(desk.db, step=each)
        (after,) = desk.db.connection.execute(count).fetchone() or (0,)
        gone += [before - after] if before != after else []
    assert gone == [10, 10, 8, 10, 4]
    assert [each.id for each in sqlite_runs.runs(desk.db, query=RunQuery(None), presence=desk.presence)] == ["open"]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("owner > 0 AND over = 0", "run_heads_held"),
        ("owner = 3 AND wake_us = 0 AND over = 0", "run_heads_told"),
        ("owner = 0 AND wake_us <= 7 AND over = 0", "run_heads_waiting"),
    ],
)
def test_what_is_due_is_found_by_an_index(desk: Desk, query: str, index: str) -> None:
    sql = f"EXPLAIN QUERY PLAN SELECT id FROM run_heads WHERE {query}"
    assert index in str(desk.db.connection.execute(sql).fetchall())


async def test_runs_wait_for_nothing_while_many_are_let_go(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main")
    await asyncio.gather(*[let_go(store, f"run-{number}", wake_us=NOW_US + number) for number in range(50)])
    assert await due(store, NOW_US + 9) == [f"run-{number}" for number in range(10)]
    await store.close()
