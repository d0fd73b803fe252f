"""Pieces of calls find together as their server meant them, and a turn is judged as a whole."""

import json

import pytest

from interlock.models.openai_chat import (
    Ended,
    Usage,
    assistant_echo,
    read_response,
    read_stream,
)
from tests.unit.models.chat_responses import body_of, call_of, piece, spelled, stream_of


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        ("length", Ended.TRUNCATED),
        ("max_tokens", Ended.TRUNCATED),
        ("content_filter", Ended.REFUSED),
        ("a_word_of_tomorrow", Ended.ERROR),
    ],
)
def test_a_turn_that_ended_in_another_way_keeps_its_calls_and_runs_none(stop: str, ended: Ended) -> None:
    turn = read_response(body_of({"tool_calls": [call_of()]}, stop=stop))
    assert (turn.ended, len(turn.calls), turn.runnable) == (ended, 1, ())
    assert turn.reason


@pytest.mark.requirement("LOOP-3")
def test_a_refusal_beside_a_call_runs_nothing() -> None:
    turn = read_response(body_of({"refusal": "I would rather not.", "tool_calls": [call_of()]}))
    assert (turn.ended, turn.reason, turn.runnable) == (Ended.REFUSED, "I would rather not.", ())


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("stop", ["", "stop", None, "function_call"])
def test_a_whole_body_with_calls_runs_them_whatever_word_for_the_end_servers_are_known_to_send(
    stop: str | None,
) -> None:
    assert len(read_response(body_of({"tool_calls": [call_of()]}, stop=stop)).runnable) == 1


@pytest.mark.requirement("LOOP-3")
def test_more_calls_than_a_turn_may_hold_run_none() -> None:
    calls = [call_of(call_id=str(number)) for number in range(129)]
    assert read_response(body_of({"tool_calls": calls})).runnable == ()
    assert read_stream(stream_of(*(piece(number, id=str(number), name="a") for number in range(500)))).runnable == ()


@pytest.mark.requirement("LOOP-3")
def test_a_stop_that_forbids_calls_is_not_undone_by_a_later_one() -> None:
    events = stream_of(piece(name="a", arguments="{}"), stop="length", done=False) + stream_of(stop="stop")
    assert read_stream(events).ended is Ended.TRUNCATED


def test_calls_that_share_one_index_stay_apart_by_their_ids() -> None:
    turn = read_stream(
        stream_of(piece(id="c1", name="a", arguments='{"x":1}'), piece(id="c2", name="a", arguments='{"x":2}'))
    )
    assert spelled(turn) == [("a", '{"x":1}'), ("a", '{"x":2}')]


def test_calls_that_share_one_index_and_have_no_ids_stay_apart_by_their_names() -> None:
    turn = read_stream(stream_of(piece(name="a", arguments="{}"), piece(name="b", arguments="{}")))
    assert spelled(turn) == [("a", "{}"), ("b", "{}")]


def test_an_id_and_a_name_that_are_repeated_are_written_once() -> None:
    turn = read_stream(stream_of(piece(id="c1", name="a", arguments='{"x"'), piece(id="c1", name="a", arguments=":1}")))
    assert (spelled(turn), turn.calls[0].wire_id) == ([("a", '{"x":1}')], "c1")


def test_pieces_without_an_index_go_on_with_the_last_call() -> None:
    turn = read_stream(
        stream_of(
            piece(None, id="c1", name="a", arguments="{"),
            piece(None, arguments="}"),
            piece(None, id="c2", name="a", arguments="{}"),
        )
    )
    assert spelled(turn) == [("a", "{}"), ("a", "{}")]


def test_calls_that_cannot_be_told_apart_never_become_one_that_runs() -> None:
    turn = read_stream(stream_of(piece(name="a", arguments='{"x":1}'), piece(name="a", arguments='{"x":2}')))
    assert spelled(turn) == [("a", '{"x":1}{"x":2}')]


def test_the_first_index_need_not_be_zero() -> None:
    assert len(read_stream(stream_of(piece(3, id="c1", name="a", arguments="{}"))).runnable) == 1


@pytest.mark.requirement("CALL-1")
@pytest.mark.parametrize(
    "raw", ['{"a": 1e400}', '{"a":1,"a":2}', "{'a': 1}", '{"a": 12345678901234567890123}', "[1]", " "]
)
def test_arguments_reach_the_gate_as_the_text_that_was_sent(raw: str) -> None:
    assert spelled(read_response(body_of({"tool_calls": [call_of(arguments=raw)]}))) == [("search", raw)]


def test_results_are_never_answered_under_one_id() -> None:
    calls = [call_of(call_id="call_1"), call_of(call_id="call_1"), call_of(call_id=""), call_of(call_id="call_2")]
    turn = read_response(body_of({"tool_calls": calls}))
    assert [call.wire_id for call in turn.calls] == ["call_1", "call_1", None, "call_2"]
    assert [call.reply_id for call in turn.calls] == ["call_1", "call_1_", "call_2_", "call_2"]


def test_a_call_in_the_legacy_field_beside_the_same_call_is_not_a_second_one() -> None:
    message = {"tool_calls": [call_of()], "function_call": {"name": "search", "arguments": "{}"}}
    assert spelled(read_response(body_of(message))) == [("search", '{"query": "a"}')]


def test_a_call_without_name_and_arguments_is_a_stub_and_no_call() -> None:
    stubs = [call_of(name="", arguments=""), {"id": "", "function": None, "custom": {"name": "", "input": ""}}]
    turn = read_response(body_of({"content": "x", "tool_calls": stubs, "function_call": {"name": ""}}, stop=""))
    assert (turn.ended, turn.calls) == (Ended.ANSWER, ())


def test_a_custom_call_keeps_its_free_text() -> None:
    sent = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls; rm x"}}
    turn = read_response(body_of({"tool_calls": [sent]}))
    assert spelled(turn) == [("shell", "ls; rm x")]
    assert assistant_echo(turn)["tool_calls"] == [sent]


def test_text_that_looks_like_a_call_is_text() -> None:
    words = '<tool_call>{"name": "delete", "arguments": {}}</tool_call>'
    turn = read_response(body_of({"content": words}, stop="stop"))
    assert (turn.ended, turn.text, turn.calls) == (Ended.ANSWER, words, ())


def test_usage_that_was_not_reported_is_not_zero() -> None:
    body = json.loads(body_of({"content": "x"}, stop="stop"))
    assert read_response(json.dumps(body).encode()).usage == Usage(None, None)
    body["usage"] = {"prompt_tokens": 7, "completion_tokens": True}
    assert read_response(json.dumps(body).encode()).usage == Usage(7, None)
