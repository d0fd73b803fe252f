"""Observations for people: an exit code for each status, a next step for what went wrong."""

import pytest

from interlock.core.observation import Observation, Problem, Status
from interlock.core.refusals import REFUSALS, Code
from interlock.doors.cli.observed import EXIT_CODES, answer_of, next_step

SEEN = Observation("c", "save_note", "1", Status.OK, data_json=b'{"a":1}')


@pytest.mark.requirement("DOOR-6")
def test_every_status_has_an_exit_code_and_only_success_has_zero() -> None:
    assert set(EXIT_CODES) == set(Status)
    assert [status for status, code in EXIT_CODES.items() if code == 0] == [Status.OK]
    assert [EXIT_CODES[each] for each in (Status.REFUSED, Status.WAITING, Status.FAILED, Status.UNKNOWN)] == [
        3,
        4,
        5,
        6,
    ]


def test_the_document_is_the_observation_with_the_next_step_in_its_error() -> None:
    assert answer_of(SEEN).document == SEEN.to_json()
    seen = SEEN.changed({"status": Status.UNKNOWN, "error": Problem(Code.OUTCOME_UNKNOWN, "Lost.")})
    answer = answer_of(seen)
    error = answer.document["error"]
    assert isinstance(error, dict)
    assert "interlock recover" in str(error["next"])
    assert answer.exit_code == 6
    assert answer.text.endswith(str(error["next"]))


@pytest.mark.parametrize("code", list(Code))
def test_every_code_has_a_next_step(code: Code) -> None:
    seen = SEEN.changed({"error": Problem(code, "x"), "hint": REFUSALS[code].next_step})
    assert next_step(seen)


def test_where_no_answer_came_waiting_is_advised_unless_the_project_does_not_let_tools_reach_it() -> None:
    shut = "save_note gave no answer: its host has an address that egress_allow does not list."
    for says, advised in (("It is busy.", "Call it again later."), (shut, "under egress_allow in [interlock]")):
        assert advised in next_step(SEEN.changed({"error": Problem(Code.TOOL_UNAVAILABLE, says)}))


def test_a_name_in_a_next_step_is_quoted_for_the_shell() -> None:
    seen = SEEN.changed({"tool": "x; rm -rf /", "error": Problem(Code.PERMISSION_DENIED, "x")})
    assert "explain 'x; rm -rf /'" in next_step(seen)


@pytest.mark.parametrize(
    ("message", "quotes"),
    [
        ("The arguments are not valid JSON at character 3; send one complete JSON object.", True),
        ("The arguments end before the JSON value is complete; send all of it, or a smaller value.", True),
        ("The arguments are not valid UTF-8 text.", False),
        ("The arguments name the same key twice in one object; each key may appear once.", False),
    ],
)
def test_quotes_are_advised_only_where_they_may_help(message: str, quotes: bool) -> None:
    seen = SEEN.changed({"error": Problem(Code.INVALID_JSON, message)})
    assert ("single quotes" in next_step(seen)) is quotes


def test_what_the_sentence_says_is_not_said_again_and_what_it_leaves_out_is_said_in_words() -> None:
    wrong = [{"hint": "title is missing; add it"}, {"hint": "titel is not a known property; leave it out"}]
    error = Problem(Code.TOOL_ARGUMENT_INVALID, "So: title is missing; add it.", {"validation_errors": wrong})
    text = answer_of(SEEN.changed({"error": error, "data_json": None})).text
    assert text.count("title is missing") == 1
    assert "Also:          titel is not a known property; leave it out" in text
    assert "{" not in text
    near = Problem(Code.TOOL_NOT_FOUND, "There is none.", {"nearest": ["save_note"]})
    assert "did you mean save_note?" in answer_of(SEEN.changed({"error": near})).text
    assert next_step(SEEN.changed({"error": near})).startswith("`interlock tools show save_note` shows the nearest")
    other = Problem(Code.BUDGET_EXHAUSTED, "Used up.", {"limit": 3})
    assert '"limit": 3' in answer_of(SEEN.changed({"error": other})).text


def test_a_replay_is_called_one() -> None:
    assert "replayed" in answer_of(SEEN.changed({"replayed": True})).text
    assert "replayed" not in answer_of(SEEN).text


def test_what_is_unknown_is_never_said_to_have_been_done() -> None:
    seen = SEEN.changed({"status": Status.UNKNOWN, "replayed": True, "error": Problem(Code.OUTCOME_UNKNOWN, "Lost.")})
    assert "replayed: nothing ran again" in answer_of(seen).text
    assert "done before" not in answer_of(seen).text
