"""The steps of a run say which tool was exchanged for which, what was mended, and which way was gone again."""

import pytest

from interlock.core.review_runs import STEPS_MAX, Signs, Step, Trail, Went, detours, hash_of_json, signs

WELL, FAILED, ABSENT, ARGUMENTS, DENIED, PEOPLE = (
    Went.WELL, Went.FAILED, Went.ABSENT, Went.ARGUMENTS, Went.DENIED, Went.PEOPLE
)  # fmt: skip


def steps(*told: tuple[str, Went] | tuple[str, Went, int]) -> list[Step]:
    """A run; the third of each is the hash of its arguments."""
    return [Step(index, "main", index, *each) for index, each in enumerate(told)]


@pytest.mark.requirement("REG-11")
def test_a_tool_that_was_refused_and_left_for_another_was_turned_away() -> None:
    found = signs([steps(("old", ABSENT), ("new", WELL)), steps(("old", DENIED), ("old", WELL))])
    assert (found["old"].turned_away, found["new"].turned_away) == (1, 0)


@pytest.mark.requirement("REG-11")
def test_another_tool_on_the_same_thing_is_an_exchange_and_a_change_after_a_look_is_none() -> None:
    read = Step(1, "main", 1, "find_note", WELL, about=7)
    other = Step(2, "main", 2, "get_note", WELL, about=7)
    change = Step(2, "main", 2, "drop_note", WELL, about=7, is_effect=True)
    elsewhere = Step(2, "main", 2, "get_note", WELL, about=8)
    assert signs([[read, other]])["find_note"] == Signs(steps=1, exchanged=1)
    assert signs([steps(("a", WELL, 5), ("b", WELL, 5))])["a"].exchanged == 1
    for none in ([read, change], [read, elsewhere], steps(("a", WELL), ("b", WELL))):
        assert {each.exchanged for each in signs([none]).values()} == {0}


@pytest.mark.requirement("REG-11")
def test_arguments_that_were_refused_and_then_taken_are_repaired_once_a_run() -> None:
    mended = steps(("save", ARGUMENTS), ("save", ARGUMENTS), ("save", WELL), ("save", WELL))
    given_up = steps(("save", ARGUMENTS), ("other", WELL))
    assert signs([mended, given_up])["save"] == Signs(steps=5, misspelt=2, repaired=1)


@pytest.mark.requirement("REG-11")
def test_a_run_that_people_stopped_counts_for_the_tool_before() -> None:
    found = signs([steps(("save", WELL), ("", PEOPLE), ("find", WELL))])
    assert found == {"find": Signs(steps=1), "save": Signs(steps=1, stopped=1)}


def test_what_policy_refuses_again_in_a_run_is_told_once_for_the_run() -> None:
    assert signs([steps(("save", DENIED), ("save", DENIED), ("save", DENIED))]) == {
        "save": Signs(steps=3, denied_again=1)
    }


@pytest.mark.requirement("REG-11")
def test_the_same_way_gone_again_is_a_detour_and_one_tool_over_and_over_is_none() -> None:
    there = [("find", WELL), ("open", WELL)]
    (first, *_) = detours([steps(*there * 3), steps(*there)], times=2, most=5)
    assert (first.tools, first.times, first.runs, first.again) == (("find", "open"), 4, 2, 2)
    assert detours([steps(*[("find", WELL)] * 9)], times=1, most=5) == ()
    assert detours([steps(*there)], times=2, most=5) == ()


def test_a_trail_keeps_its_first_steps_whatever_order_they_come_in() -> None:
    many = [Step(at, "main", at, "find", WELL) for at in range(5 * STEPS_MAX)]
    back, parts = Trail(), Trail()
    for each in reversed(many):
        back.add(each)
    for half in (many[::2], many[1::2]):
        part = Trail()
        for each in half:
            part.add(each)
        parts.join(part)
    assert back.steps == parts.steps == tuple(many[:STEPS_MAX])


def test_arguments_are_the_same_whatever_the_order_of_their_names() -> None:
    assert hash_of_json({"a": 1, "b": 2}) == hash_of_json({"b": 2, "a": 1}) != hash_of_json({"a": 1})
    assert hash_of_json({}) == hash_of_json(None) == 0
