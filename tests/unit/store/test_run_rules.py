"""What moves a run, as a table of guards: the first that does not hold is the answer."""

import pytest

from interlock.ports import NotMoved, RunClaim, RunEntry, RunMove
from interlock.store.run_rules import Standing, not_moved, numbered, wake_after

MOVE = RunMove(RunClaim("acme", "run-1", 3), 7, (), "thinking", 1, wake_us=9)


@pytest.mark.parametrize(
    ("stands", "says"),
    [
        (Standing(7, 3, own=True, over=False, woken=False), None),
        (Standing(8, 3, own=True, over=False, woken=False), NotMoved.BEHIND),
        (Standing(8, 4, own=True, over=False, woken=False), NotMoved.LOST),
        (Standing(8, 3, own=False, over=False, woken=False), NotMoved.LOST),
        (Standing(8, 4, own=False, over=True, woken=False), NotMoved.OVER),
        (None, NotMoved.MISSING),
    ],
)
def test_the_first_guard_that_does_not_hold_is_told(stands: Standing | None, says: NotMoved | None) -> None:
    assert not_moved(MOVE, stands=stands) is says


def test_an_approval_outlasts_one_move_unless_the_run_is_over() -> None:
    ended = RunMove(MOVE.claim, 7, (), "ended", 1, wake_us=9, ended="done")
    assert [wake_after(move, woken=woken) for move in (MOVE, ended) for woken in (False, True)] == [9, 0, None, None]


def test_entries_count_on_without_gaps() -> None:
    entries = (RunEntry("a", 1, b""), RunEntry("b", 2, b""))
    assert numbered(entries, after=4) == [(5, entries[0]), (6, entries[1])]
