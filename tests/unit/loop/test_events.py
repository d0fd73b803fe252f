"""Events are the entries of a journal in order, redacted and shortened, each with what a watcher can act on."""

import json
import typing

import pytest

from interlock.core.observation import Status
from interlock.core.redaction import Redactor
from interlock.core.refusals import Code
from interlock.loop.entries import KINDS, Body, Ended, Entry, Faulted, HandedOff, Said, Wish
from interlock.loop.events import TEXT_CHARACTERS_MAX, RunEvent, event_of
from interlock.loop.machine import Cause, State
from tests.unit.loop.journal import READ, Journal, seen

pytestmark = pytest.mark.requirement("LOOP-9")

SECRET = "hunter2-hunter2-hunter2"


def everything() -> list[RunEvent]:
    """One of each kind."""
    journal, found = Journal(), list[RunEvent]()
    take, redactor = journal.view.apply, Redactor((SECRET,))

    def told(entry: Entry, **more: object) -> None:
        take(entry, **more)  # type: ignore[arg-type]
        found.append(event_of(entry, journal.view, redactor=redactor))

    told_begun = event_of(journal.entries[0], journal.view, redactor=redactor)
    journal.view.apply = told  # type: ignore[method-assign]
    journal.write(Faulted("busy", 503, 9), Cause.FAULTED)
    journal.write(Said(f"the password is {SECRET}", "alice"))
    journal.wishes(Wish.PAUSE)
    journal.moves(Cause.PAUSED)
    journal.wishes(Wish.RESUME)
    journal.moves(Cause.BACK_TO_MODEL)
    journal.responds(READ)
    journal.observes(seen(Status.FAILED, Code.TOOL_ERROR), Cause.OBSERVED, Cause.ALL_OBSERVED)
    journal.write(HandedOff("b", "go on"), Cause.RETURNED)
    journal.write(Ended("cancelled", "", "x" * 9_000), Cause.CANCELLED)
    return [told_begun, *found]


def test_there_is_one_for_each_kind_of_entry_in_order_and_as_json() -> None:
    found = everything()
    assert {event.kind for event in found} == set(KINDS.values())
    assert [event.cursor for event in found] == [*range(1, len(found) + 1)]
    for event in found:
        assert json.loads(json.dumps(event.to_json()))["kind"] == event.kind


def test_every_kind_of_entry_is_told() -> None:
    assert set(typing.get_args(Body)) == set(KINDS)


def test_secrets_are_not_told_and_texts_are_shortened() -> None:
    found = everything()
    assert SECRET not in json.dumps([event.to_json() for event in found])
    assert len(str(found[-1].data["answer"])) == TEXT_CHARACTERS_MAX + 1


def test_what_came_of_a_call_is_told_with_its_stage_and_without_its_data() -> None:
    observed = next(event for event in everything() if event.kind == "observed")
    assert (observed.data["stage"], observed.data["code"], observed.state) == (
        "tool_error_result",
        "TOOL_ERROR",
        State.RETURN_TO_MODEL,
    )
    assert "data" not in observed.data
