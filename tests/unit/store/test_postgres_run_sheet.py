"""The runs of one batch: what is read once, what is written, and where an entry stands."""

from interlock.ports import RunClaim
from interlock.store.postgres_ops import Op
from interlock.store.postgres_run_sheet import RunSheet, place_in_run, sequence_of
from interlock.store.postgres_runs import Beginning, Moving, Telling
from interlock.store.postgres_sheet import Desk, Needs, Sheet
from interlock.store.seal import NoSeal
from interlock.testing.store_contract_runs import WORDS, new_run, step
from interlock.testing.store_values import RUN, TENANT


def test_an_entry_stands_behind_those_of_its_run_and_before_those_of_the_next() -> None:
    places = [place_in_run(number, sequence=sequence) for number in (1, 2) for sequence in (1, 2, 2**32 - 1)]
    assert places == sorted(places)
    assert [sequence_of(place) for place in places] == [1, 2, 2**32 - 1] * 2


def test_a_run_that_is_begun_moved_and_told_in_one_batch_is_written_once() -> None:
    sheet = Sheet(Desk(NoSeal(), owner=1, chain=1, name="main", number=0, sequence=0, digest=bytes(32)))
    ops: list[Op[object]] = [
        Beginning(new_run()),
        Moving(step(RunClaim(TENANT, RUN, 1))),
        Telling(TENANT, RUN, WORDS, None),
        Beginning(new_run()),
    ]
    needs = Needs()
    for op in ops:
        op.needs(needs, sheet)
    assert [name for name, _ in sheet.reads(needs)] == ["take_run_numbers", "lock_run_heads"]
    sheet.runs.take_in({"take_run_numbers": [(7,)]}, begun=needs.begun)
    assert [op.run(sheet) for op in ops] == [RunClaim(TENANT, RUN, 1), 2, 3, None]
    assert [name for name, _ in sheet.writes()] == ["insert_run_heads", "insert_run_entries"]
    (head,) = sheet.runs.heads.values()
    assert (head.number, head.version, head.wake_us) == (7, 3, 0)


def test_nothing_is_read_or_written_for_a_batch_without_runs() -> None:
    assert RunSheet().reads(set(), begun=set()) == RunSheet().writes() == []
