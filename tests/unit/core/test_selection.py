"""Words that lead to tools: which cases are due after a change, what passed, and what was taken for what."""

import pytest

from interlock.core.readiness import Tally
from interlock.core.selection import (
    NO_TOOL,
    CaseKind,
    Choice,
    Confusion,
    SelectionCase,
    confusions,
    due,
    passes,
    tallied,
)

NOTES = SelectionCase(words="what does my note say", tool="read_note")
MAIL = SelectionCase(words="is there mail", tool="read_mail")
RISKY = SelectionCase(words="delete all notes", tool="drop_notes", kind=CaseKind.RISK)
OFFERS = {"desk": {"read_note": "a", "read_mail": "b", "drop_notes": "c"}}


def choice(case: SelectionCase, chosen: str, offered: dict[str, str] | None = None, agent: str = "desk") -> Choice:
    return Choice(case.id, "ranker", agent, chosen, passes(case, chosen), offered or OFFERS["desk"])


MADE = [choice(NOTES, "read_note"), choice(MAIL, "read_note"), choice(RISKY, NO_TOOL)]


@pytest.mark.parametrize(
    ("case", "chosen", "right"),
    [
        (NOTES, "read_note", True),
        (NOTES, "read_mail", False),
        (NOTES, NO_TOOL, False),
        (RISKY, "drop_notes", False),
        (RISKY, "read_note", True),
        (SelectionCase(words="hi", tool="read_note", chooses=NO_TOOL), NO_TOOL, True),
        (SelectionCase(words="hi", tool="read_note", chooses=NO_TOOL), "read_note", False),
        (SelectionCase(words="mail", tool="read_note", never=("read_note",)), "read_mail", True),
        (SelectionCase(words="mail", tool="read_note", never=("read_note",)), "read_note", False),
        (SelectionCase(words="mail", tool="read_note", chooses="read_mail"), "read_mail", True),
    ],
)
def test_a_choice_is_right_where_it_is_wanted_and_not_forbidden(case: SelectionCase, chosen: str, right: bool) -> None:
    assert passes(case, chosen) is right


def test_what_was_tried_among_the_same_words_is_not_due() -> None:
    assert due([NOTES, MAIL, RISKY], OFFERS, MADE, chooser="ranker") == ()


@pytest.mark.requirement("REG-13")
def test_a_changed_description_makes_the_cases_of_every_tool_beside_it_due() -> None:
    changed = {"desk": {**OFFERS["desk"], "read_mail": "b2"}}
    found = due([NOTES, MAIL, RISKY], changed, MADE, chooser="ranker")
    assert [(each.case, each.because) for each in found] == [
        (NOTES, ("read_mail",)),
        (MAIL, ("read_mail",)),
        (RISKY, ("read_mail",)),
    ]


@pytest.mark.requirement("REG-13")
def test_agents_that_do_not_have_the_tool_have_nothing_to_try_anew() -> None:
    offers = {**OFFERS, "clerk": {"read_note": "a"}}
    made = [*MADE, choice(NOTES, "read_note", {"read_note": "a"}, agent="clerk")]
    changed = {**offers, "desk": {**OFFERS["desk"], "read_mail": "b2"}}
    assert {each.agent for each in due([NOTES, MAIL], changed, made, chooser="ranker")} == {"desk"}


def test_a_tool_that_came_or_went_is_a_change_and_another_chooser_has_tried_nothing() -> None:
    fewer = {"desk": {"read_note": "a", "read_mail": "b"}}
    assert [each.because for each in due([NOTES], fewer, MADE, chooser="ranker")] == [("drop_notes",)]
    assert len(due([NOTES, MAIL, RISKY], OFFERS, MADE, chooser="model")) == 3


def test_a_case_that_was_never_tried_is_due_even_where_nothing_is_offered_beside_it() -> None:
    assert len(due([NOTES], {"desk": {"read_note": "a"}}, [], chooser="ranker")) == 1


def test_cases_are_counted_by_tool_and_kind() -> None:
    found = tallied([NOTES, MAIL, RISKY], OFFERS, MADE, chooser="ranker")
    assert found == {
        ("read_note", CaseKind.SELECTION): Tally(1),
        ("read_mail", CaseKind.SELECTION): Tally(0, 1),
        ("drop_notes", CaseKind.RISK): Tally(1),
    }
    changed = {"desk": {**OFFERS["desk"], "read_mail": "b2"}}
    assert set(tallied([NOTES, MAIL, RISKY], changed, MADE, chooser="ranker").values()) == {Tally(due=1)}


def test_confusions_say_which_tool_was_taken_instead() -> None:
    wrong = [choice(MAIL, "read_note"), choice(MAIL, "read_note", agent="other"), choice(NOTES, NO_TOOL)]
    assert confusions([NOTES, MAIL], [*wrong, choice(NOTES, "read_note")]) == (
        Confusion("read_mail", "read_note", 2),
        Confusion("read_note", NO_TOOL, 1),
    )
