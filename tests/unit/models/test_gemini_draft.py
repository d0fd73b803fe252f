"""A Gemini turn is judged by how it says that it ended, and its calls by the parts that they came in."""

import json
from collections.abc import Mapping

import pytest

from interlock.models.gemini_draft import CALLS_MAX, TurnDraft
from interlock.models.turn import Ended, Turn
from tests.unit.models.gemini_responses import call, chunk_of, streamed_call


def turn_of(*chunks: Mapping[str, object]) -> Turn:
    draft = TurnDraft()
    for chunk in chunks:
        draft.take(chunk)
    return draft.finish(raw=b"")


@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        ("STOP", Ended.CALLS_ALLOWED),
        (1, Ended.CALLS_ALLOWED),
        ("MAX_TOKENS", Ended.TRUNCATED),
        (2, Ended.TRUNCATED),
        ("SAFETY", Ended.REFUSED),
        ("MODEL_ARMOR", Ended.REFUSED),
        (7, Ended.REFUSED),
        ("MALFORMED_FUNCTION_CALL", Ended.MODEL_ERROR),
        (9, Ended.MODEL_ERROR),
        ("UNEXPECTED_TOOL_CALL", Ended.MODEL_ERROR),
        ("TOO_MANY_TOOL_CALLS", Ended.MODEL_ERROR),
        ("MISSING_THOUGHT_SIGNATURE", Ended.MODEL_ERROR),
        ("OTHER", Ended.ERROR),
        ("SOMETHING_NEW", Ended.ERROR),
        (99, Ended.ERROR),
        ("FINISH_REASON_UNSPECIFIED", Ended.DROPPED),
        (0, Ended.DROPPED),
        (None, Ended.DROPPED),
        (True, Ended.DROPPED),
        ([], Ended.DROPPED),
        ("stop", Ended.ERROR),
    ],
)
@pytest.mark.requirement("LOOP-3")
def test_only_a_turn_that_stopped_by_itself_runs_its_calls(stop: object, ended: Ended) -> None:
    turn = turn_of(chunk_of(call(), stop=stop))
    assert (turn.ended, len(turn.calls)) == (ended, 1)
    assert bool(turn.runnable) is (ended is Ended.CALLS_ALLOWED)
    assert bool(turn.reason) is (ended is not Ended.CALLS_ALLOWED)


def test_a_stop_that_forbids_calls_is_kept_whatever_follows() -> None:
    turn = turn_of(chunk_of(call(), stop="SAFETY"), chunk_of(call(), stop="STOP"))
    assert (turn.ended, turn.stop, turn.runnable) == (Ended.REFUSED, "SAFETY", ())


def test_a_stop_in_every_chunk_is_the_stop_of_the_last() -> None:
    turn = turn_of(chunk_of({"text": "a"}, stop="STOP"), chunk_of(call(), stop="MAX_TOKENS"))
    assert (turn.ended, turn.runnable) == (Ended.TRUNCATED, ())


@pytest.mark.requirement("LOOP-3")
def test_a_blocked_prompt_is_refused_with_the_providers_words() -> None:
    turn = turn_of({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Not this."}})
    assert (turn.ended, turn.stop, turn.reason) == (Ended.REFUSED, None, "Not this.")


def test_the_model_says_why_a_turn_was_spoilt() -> None:
    turn = turn_of(chunk_of(stop="MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: add(a=)"))
    assert turn.reason == "Malformed function call: add(a=)"


@pytest.mark.requirement("LOOP-3")
def test_several_candidates_run_nothing() -> None:
    one = chunk_of(call(), stop="STOP")
    assert turn_of({"candidates": json.loads(json.dumps(one))["candidates"] * 2}).ended is Ended.ERROR
    assert turn_of(one, chunk_of(call(), stop="STOP", index=1)).ended is Ended.ERROR


def test_calls_without_ids_get_labels_of_their_own_and_no_wire_id() -> None:
    turn = turn_of(chunk_of(call(), call(), call(id="x"), call(id="x"), call(id=""), call(id=5), stop="STOP"))
    assert [one.wire_id for one in turn.calls] == [None, None, "x", "x", None, None]
    assert len({one.reply_id for one in turn.calls}) == 6


@pytest.mark.parametrize(
    ("args", "raw"),
    [
        (None, ""),
        ("", ""),
        ({}, "{}"),
        ([1], "[1]"),
        ('{"a": 1}', '"{\\"a\\": 1}"'),
        (5, "5"),
        ({"a": 1.5}, '{"a": 1.5}'),
    ],
)
def test_arguments_stay_what_they_are(args: object, raw: str) -> None:
    assert turn_of(chunk_of(call(args=args), stop="STOP")).calls[0].arguments_raw == raw


def test_a_signature_marks_the_very_call_that_it_came_with() -> None:
    turn = turn_of(chunk_of(call() | {"thoughtSignature": "c2ln"}, call(), stop="STOP"))
    assert [one.signed for one in turn.calls] == [True, False]


def test_thoughts_are_no_text_of_the_answer() -> None:
    turn = turn_of(chunk_of({"text": "hm", "thought": True}), chunk_of({"text": "y"}), chunk_of({"text": "es"}, stop=1))
    assert (turn.text, turn.items, turn.ended) == ("yes", ("thought", "text"), Ended.ANSWER)


@pytest.mark.requirement("LOOP-4")
def test_what_the_provider_ran_is_recorded_and_never_runnable() -> None:
    turn = turn_of(
        chunk_of(
            {"executableCode": {"id": "e", "language": "PYTHON", "code": "1"}},
            {"codeExecutionResult": {"id": "e", "outcome": "OUTCOME_OK", "output": "1"}},
            {"toolCall": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}}},
            {"toolResponse": {"id": "t", "toolType": "GOOGLE_SEARCH_WEB", "response": {}}},
            call(),
            stop="STOP",
        )
    )
    assert [one.name for one in turn.runnable] == ["add"]
    code, search = turn.provider_calls
    assert (code.name, code.wire_id, json.loads(code.facts)) == (
        "code_execution",
        "e",
        {"language": "PYTHON", "outcome": "OUTCOME_OK"},
    )
    assert (search.name, search.wire_id, search.arguments_raw) == ("GOOGLE_SEARCH_WEB", "t", '{"queries": ["q"]}')
    assert turn.items == ("executableCode", "codeExecutionResult", "toolCall", "toolResponse", "functionCall")


def test_two_streamed_calls_stay_two() -> None:
    first = streamed_call({"jsonPath": "$.city", "stringValue": "Rome"})
    second = streamed_call({"jsonPath": "$.city", "stringValue": "Oslo"})
    turn = turn_of(*first, *second, chunk_of(stop="STOP"))
    assert [json.loads(one.arguments_raw) for one in turn.runnable] == [{"city": "Rome"}, {"city": "Oslo"}]
    assert turn.items == ("functionCall", "functionCall")


def test_a_part_that_does_not_go_on_ends_a_call_without_a_part_for_the_end() -> None:
    last = chunk_of({"functionCall": {"partialArgs": [{"jsonPath": "$.a", "numberValue": 1}]}}, stop="STOP")
    assert json.loads(turn_of(*streamed_call(end=False), last).runnable[0].arguments_raw) == {"a": 1}


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_nothing_ended_does_not_run_even_if_the_turn_did() -> None:
    going = streamed_call({"jsonPath": "$.a", "stringValue": "rm ", "willContinue": True}, end=False)
    halfway = streamed_call({"jsonPath": "$.a", "stringValue": "rm ", "willContinue": True})
    for chunks in (going, halfway):
        turn = turn_of(*chunks, chunk_of(call(), stop="STOP"))
        assert [one.closed for one in turn.calls] == [False, True]
        assert [one.arguments_raw for one in turn.runnable] == ['{"a": 1}']


def test_a_name_or_another_id_begins_a_new_call() -> None:
    going = streamed_call(end=False)
    for part in (call("other"), {"functionCall": {"id": "9", "args": {}}}):
        turn = turn_of(*going, chunk_of(part, stop="STOP"))
        assert [one.closed for one in turn.calls] == [False, True]


def test_an_empty_call_outside_a_streamed_one_is_a_stub() -> None:
    turn = turn_of(chunk_of({"functionCall": {}}, {"functionCall": None}, stop="STOP"))
    assert (turn.calls, turn.ended) == ((), Ended.ANSWER)


def test_arguments_that_came_whole_are_kept_when_the_call_is_ended_later() -> None:
    turn = turn_of(chunk_of(call(willContinue=True)), chunk_of({"functionCall": {}}, stop="STOP"))
    assert json.loads(turn.runnable[0].arguments_raw) == {"a": 1}


def test_more_calls_than_a_turn_may_hold_run_none() -> None:
    turn = turn_of(chunk_of(*[call()] * (CALLS_MAX + 5), stop="STOP"))
    assert (turn.ended, turn.runnable) == (Ended.ERROR, ())
