"""Where a run stands is worked out from its journal alone: the same entries, the same view."""

import pytest

from interlock.core.errors import StoreError
from interlock.core.observation import Status
from interlock.core.refusals import Code
from interlock.loop.entries import Faulted, HandedOff, Said, Wish
from interlock.loop.machine import Cause, IllegalStep, State
from interlock.loop.view import RunView
from tests.unit.loop.journal import READ, Journal, seen

pytestmark = pytest.mark.requirement("LOOP-7")


def test_reading_the_same_journal_again_gives_the_same_view() -> None:
    journal = Journal()
    journal.responds([("search", {"query": "x"}), ("save", "{")])
    journal.observes(seen(), Cause.OBSERVED)
    journal.write(Said("hello", "alice"))
    journal.observes(seen(Status.REFUSED, Code.INVALID_JSON, tool="save"), position=1, fixable=True)
    journal.write(Faulted("busy", 503, 9, 1, 2, 3), Cause.FAULTED)
    again = RunView("acme", "r")
    for entry in journal.entries:
        again.apply(entry)
    for name in ("state", "version", "spent", "trouble", "history", "until_us", "since_us", "wishes"):
        assert getattr(again, name) == getattr(journal.view, name)
    assert (again.spent.tokens, again.spent.calls, again.trouble.faults) == (32, 2, 1)


def test_an_entry_that_the_machine_does_not_allow_is_refused() -> None:
    journal = Journal()
    with pytest.raises(IllegalStep):
        journal.moves(Cause.DECIDED)


def test_a_journal_without_a_beginning_or_an_answer_is_a_fault() -> None:
    with pytest.raises(StoreError, match="has no beginning"):
        _ = RunView("acme", "r").begun
    with pytest.raises(StoreError, match="no model has answered"):
        _ = Journal().view.round


def test_what_is_open_and_what_waits_is_told_by_position() -> None:
    journal = Journal()
    journal.responds([READ, READ, READ])  # type: ignore[list-item]
    journal.observes(seen(), Cause.OBSERVED, position=1)
    journal.observes(seen(Status.WAITING, Code.APPROVAL_REQUIRED), Cause.OBSERVED, position=2)
    assert [call.position for call in journal.view.round.open] == [0]
    assert [each.position for each in journal.view.round.waiting] == [2]


@pytest.mark.requirement("LOOP-8")
@pytest.mark.parametrize(
    ("wishes", "paused"),
    [
        ([Wish.PAUSE], True),
        ([Wish.RESUME, Wish.PAUSE], True),
        ([Wish.PAUSE, Wish.RESUME], False),
        ([Wish.PAUSE, Wish.RESUME, Wish.PAUSE], True),
        ([Wish.PAUSE, Wish.PAUSE, Wish.RESUME], False),
        ([Wish.PAUSE, Wish.RESUME, Wish.PAUSE, Wish.RESUME], False),
    ],
)
def test_of_rest_and_going_on_the_last_word_holds_whenever_the_run_comes_to_it(
    wishes: list[Wish], paused: bool
) -> None:
    """At each point between the words the run may come to rest, and go on where it is told to."""
    for moment in range(1, len(wishes) + 1):
        journal = Journal()
        journal.wishes(*wishes[:moment])
        if Wish.PAUSE in journal.view.wishes:
            journal.moves(Cause.PAUSED)
        journal.wishes(*wishes[moment:])
        for _ in wishes:
            _come_to_it(journal)
        assert (journal.view.state is State.PAUSED) is paused, moment


@pytest.mark.requirement("LOOP-8")
def test_what_is_said_while_a_run_goes_on_again_is_not_lost() -> None:
    """The words came between the decision to go on and its entry."""
    journal = Journal()
    journal.wishes(Wish.PAUSE)
    journal.moves(Cause.PAUSED)
    journal.wishes(Wish.RESUME, Wish.CANCEL, Wish.HAND_OVER)
    journal.moves(Cause.BACK_TO_MODEL)
    assert set(journal.view.wishes) == {Wish.CANCEL, Wish.HAND_OVER}


@pytest.mark.requirement("LOOP-8")
@pytest.mark.parametrize("what", [Wish.RESUME, Wish.HAND_BACK])
def test_going_on_means_nothing_to_a_run_that_goes_on(what: Wish) -> None:
    journal = Journal()
    journal.wishes(what)
    assert journal.view.wishes == {}


@pytest.mark.requirement("LOOP-8")
def test_a_rest_that_was_told_twice_is_one_and_ends_with_one_word() -> None:
    journal = Journal()
    journal.wishes(Wish.PAUSE)
    journal.moves(Cause.PAUSED)
    journal.wishes(Wish.PAUSE, Wish.RESUME)
    journal.moves(Cause.BACK_TO_MODEL)
    assert journal.view.wishes == {}


@pytest.mark.requirement("LOOP-5", "LOOP-6")
def test_what_goes_wrong_counts_once_a_turn_and_a_success_starts_anew() -> None:
    journal = Journal()
    for turn in range(2):
        journal.responds([READ, READ])  # type: ignore[list-item]
        journal.observes(seen(Status.REFUSED, Code.TOOL_ARGUMENT_INVALID), Cause.OBSERVED, fixable=True)
        journal.observes(seen(Status.REFUSED, Code.TOOL_ARGUMENT_INVALID), position=1, fixable=True)
        assert journal.view.trouble.fixable["search"] == turn + 1
    assert max(journal.view.trouble.failing.values()) == 2
    journal.responds(READ)
    journal.observes(seen())
    assert (journal.view.trouble.fixable["search"], max(journal.view.trouble.failing.values())) == (0, 2)


@pytest.mark.requirement("LOOP-6")
@pytest.mark.parametrize("code", [Code.RATE_LIMITED, Code.CONTENDED, Code.CANCELLED, Code.DEPENDENCY_NOT_MET])
def test_what_passes_by_itself_says_nothing_of_the_call(code: Code) -> None:
    journal = Journal()
    journal.responds(READ)
    journal.observes(seen(Status.REFUSED, code))
    assert not journal.view.trouble.failing


@pytest.mark.requirement("LOOP-10")
def test_another_agent_is_at_it_once_it_was_handed_over() -> None:
    journal = Journal()
    journal.responds(READ)
    journal.observes(seen(), Cause.OBSERVED, Cause.ALL_OBSERVED)
    journal.write(HandedOff("b", "go on"), Cause.RETURNED)
    assert (journal.view.agent.name, journal.view.spent.hand_offs) == ("b", 1)


def test_since_when_it_stands_there_changes_with_its_state_alone() -> None:
    journal = Journal()
    journal.wishes(Wish.PAUSE)
    journal.moves(Cause.PAUSED, at_us=7)
    journal.write(Said("hello", "alice"), at_us=9)
    assert journal.view.since_us == 7


def _come_to_it(journal: Journal) -> None:
    view = journal.view
    if view.state is State.PAUSED and Wish.RESUME in view.wishes:
        journal.moves(Cause.BACK_TO_MODEL)
    elif view.state is not State.PAUSED and Wish.PAUSE in view.wishes:
        journal.moves(Cause.PAUSED)
