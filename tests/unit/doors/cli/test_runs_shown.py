"""What is shown of runs: how they stand, what happened in them and what to do next, without secrets."""

import json
from typing import Any

import pytest

from interlock import RunState
from interlock.doors.cli.runs_shown import answer_of, event_line
from interlock.loop.events import RunEvent
from interlock.loop.report import RunReport
from interlock.loop.view import Spent
from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.running import READ, SAVE, Give, the_run

pytestmark = pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")


def test_a_run_is_driven_to_its_end_and_told_as_it_goes(cli: Cli, models: Give) -> None:
    models(READ, "There is no such note.")
    ran = cli("runs", "start", "Read the note hello.", "--json", "--limit", "rounds=5", "--limit", "calls.read_note=2")
    assert (ran.code, ran.document["state"], ran.document["answer"]) == (0, "complete", "There is no such note.")
    assert ran.document["next"] == ""
    for line in (
        "begun       Read the note hello. (agent agent, model small",
        "agent calls read_note",
        "complete, answered",
    ):
        assert line in ran.err
    run = ran.document["id"]
    assert cli("runs", "list").out == "None is under way; --all shows 1 that is over.\n"
    assert cli("runs", "list", "--state", "paused").out == "There is no run.\n"
    shown = cli("runs", "show", run[:28], "--lineage", "--json")
    assert (shown.code, shown.document["reason"]) == (0, "answered")
    assert [each["standing"] for each in shown.document["lineage"]["traced"]] == ["status"]
    assert "2 rounds, 1 call, " in cli("runs", "show", run).out


def test_events_are_resumable_by_their_cursor_and_hold_no_secret(cli: Cli, models: Give) -> None:
    models(SAVE)
    cli("runs", "start", "Save password=hunter2secret please.", "--leave", "--task", "t")
    run = the_run(cli)
    ran = cli("runs", "events", run, "--json")
    kinds = [each["kind"] for each in ran.document["events"]]
    assert kinds[:3] == ["begun", "responded", "observed"]
    assert [each["cursor"] for each in ran.document["events"]] == list(range(1, ran.document["cursor"] + 1))
    more = cli("runs", "events", run, "--after", "2", "--json").document["events"]
    assert [each["cursor"] for each in more] == list(range(3, ran.document["cursor"] + 1))
    assert cli("runs", "events", run, "--after", "99").out == "Nothing more has happened.\n"
    assert cli("runs", "cancel", run, "--reason", "enough").code == 0
    followed = cli("runs", "events", run, "--follow", "--after", "2", "--json")
    lines = [json.loads(each) for each in followed.out.splitlines()]
    assert (followed.code, lines[0]["cursor"], lines[-1]["kind"]) == (0, 3, "ended")
    assert "wants it to cancel. enough" in cli("runs", "events", run, "--follow").out
    for shown in (
        ran,
        followed,
        cli("runs", "events", run),
        cli("runs", "show", run),
        cli("runs", "show", run, "--json"),
    ):
        assert "hunter2secret" not in shown.out + shown.err


def test_a_run_is_shown_with_what_keeps_it_from_going_on_and_with_calls_of_unknown_outcome() -> None:
    fault = "It could not go on (RuntimeError): attempt 2 of 5, again in 8 s."
    report = RunReport("r", RunState.MODEL_REQUEST, "agent", Spent(), fault=fault, unknown=("r.1.0", "r.2.1"))
    answer = answer_of(report)
    assert (answer.document["unknown"], answer.document["fault"]) == (["r.1.0", "r.2.1"], fault)
    for words in (fault, "r.1.0", "r.2.1", "Unknown"):
        assert words in answer.text
    event = RunEvent("r", 7, "faulted", 5, RunState.MODEL_REQUEST, {"why": fault, "status": 0, "until_us": 9_000_000})
    assert "again in 8 s; again at 1970-01-01" in event_line(event)


def test_what_a_model_said_and_why_nothing_ran_are_sentences_of_their_own() -> None:
    data: dict[str, Any] = {"agent": "a", "calls": [{"name": "b"}], "text": "I look.", "why": "It was the last."}
    event = RunEvent("r", 7, "responded", 5, RunState.TOOLS, data)
    assert event_line(event).endswith("a calls b. I look. It was the last.")
