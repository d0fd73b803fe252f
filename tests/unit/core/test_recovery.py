"""Look-ups grow rarer, are counted before they are made, and end."""

import pytest

from interlock import SettingsInvalid
from interlock.core.recovery import NEVER_US, NO_LOOKS, Closing, Looks, LookUpRule, Word, weighed

RULE = LookUpRule(attempts=5, first_pause_s=5, growth=3, pause_max_s=60)

pytestmark = pytest.mark.requirement("IDEM-3")


def test_pauses_grow_up_to_the_longest() -> None:
    assert [RULE.pause_us(count) // 1_000_000 for count in range(1, 6)] == [5, 15, 45, 60, 60]


def test_the_first_pause_is_never_longer_than_the_longest() -> None:
    assert LookUpRule(first_pause_s=90, pause_max_s=60).pause_us(1) == 60_000_000


def test_a_look_up_is_counted_with_the_time_of_the_next() -> None:
    once = NO_LOOKS.and_another(RULE, now_us=7)
    assert once == Looks(1, 5_000_007)
    assert once.and_another(RULE, now_us=0) == Looks(2, 15_000_000)


def test_what_was_given_up_is_not_due_again_however_often_a_person_looks() -> None:
    given_up = Looks(5, 1).given_up()
    assert given_up == Looks(5, NEVER_US, escalated=True)
    assert given_up.and_another(RULE, now_us=0) == Looks(6, NEVER_US, escalated=True)


@pytest.mark.parametrize(
    "wrong",
    [{"attempts": 0}, {"at_once": 0}, {"attempts": 1.5}, {"growth": 0.5}, {"first_pause_s": 0}, {"timeout_s": -1}],
)
def test_a_rule_that_cannot_hold_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsInvalid, match="look_ups"):
        LookUpRule(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("proposed", "people", "amounts_to"),
    [
        (None, 1, Word.CLOSES),
        (None, 2, Word.PROPOSES),
        (("otto", True), 2, Word.CLOSES),
        (("olga", True), 2, Word.SAME_PERSON),
        (("otto", False), 2, Word.PROPOSES),
        (("olga", False), 3, Word.PROPOSES),
    ],
)
def test_two_people_close_a_call_by_saying_the_same(
    proposed: tuple[str, bool] | None, people: int, amounts_to: Word
) -> None:
    earlier = None if proposed is None else Closing(proposed[0], proposed[1], "seen", 1)
    assert weighed(Closing("olga", True, "seen", 2), proposed=earlier, people=people) is amounts_to
