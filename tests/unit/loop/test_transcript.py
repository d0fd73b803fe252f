"""What a model is sent is made of the journal: in order, whole turns, all calls answered, nobody else's words."""

import pytest

from interlock.core.observation import Status
from interlock.core.refusals import Code
from interlock.loop.entries import HandedOff, Observed, Said
from interlock.loop.machine import Cause
from interlock.loop.transcript import EDITED, Transcript, told
from interlock.loop.view import RunView
from interlock.models import openai_chat
from tests.unit.loop.journal import READ, Journal, seen

pytestmark = pytest.mark.requirement("LOOP-7")

CUT = (Cause.RESPONDED, Cause.NOTHING_RAN, Cause.RETURNED)


def spoken(journal: Journal) -> list[tuple[object, object]]:
    said = Transcript(journal.view, openai_chat).messages()
    return [(each["role"], str(each.get("content") or "call").split("\n")[0]) for each in said]


def test_instructions_task_turns_answers_and_messages_stand_in_their_order() -> None:
    journal = Journal()
    journal.responds(READ)
    journal.write(Said("Mind the gap.", "alice"))
    journal.observes(seen())
    assert spoken(journal) == [
        ("system", "Be good."),
        ("user", "Do it."),
        ("assistant", "call"),
        ("tool", "search: ok"),
        ("user", "Mind the gap."),
    ]


@pytest.mark.requirement("LOOP-3")
def test_a_turn_that_was_not_whole_is_not_put_into_the_models_mouth() -> None:
    journal = Journal()
    journal.responds(READ, *CUT, why="it was cut off.")
    assert spoken(journal)[2:] == [("user", "Your last answer could not be used: it was cut off. Answer again.")]


def test_a_note_is_said_this_time_only() -> None:
    transcript = Transcript(Journal().view, openai_chat)
    assert transcript.messages(note="Last turn.")[-1]["content"] == "Last turn."
    assert transcript.messages()[-1]["content"] == "Do it."


@pytest.mark.requirement("LOOP-10")
def test_an_agent_that_was_handed_the_task_begins_with_it_and_the_words_it_was_handed_over_with() -> None:
    journal = Journal()
    transcript = Transcript(journal.view, openai_chat)
    transcript.messages()
    journal.responds(READ)
    journal.observes(seen(), Cause.OBSERVED, Cause.ALL_OBSERVED)
    journal.write(HandedOff("b", "go on"), Cause.RETURNED)
    instructions, task = [str(each["content"]) for each in transcript.messages()]
    assert instructions == "Be better."
    assert task.startswith("Do it.\n\nThis was handed to you with these words:\n<untrusted ")
    assert "\ngo on\n</untrusted " in task
    assert Transcript(journal.view, openai_chat).messages() == transcript.messages()


def test_one_that_was_made_before_and_one_that_is_made_later_say_the_same() -> None:
    journal = Journal()
    early = Transcript(journal.view, openai_chat)
    early.messages()
    journal.responds(READ)
    journal.observes(seen(Status.REFUSED, Code.PERMISSION_DENIED))
    again = RunView("acme", "r")
    for entry in journal.entries:
        again.apply(entry)
    assert early.messages() == Transcript(again, openai_chat).messages()


@pytest.mark.requirement("APR-6")
def test_a_call_that_a_person_changed_is_told_as_that() -> None:
    assert told(Observed(0, seen(), "n" * 32, edited=True)).split("\n")[0] == EDITED
    assert EDITED not in told(Observed(0, seen(), "n" * 32))
