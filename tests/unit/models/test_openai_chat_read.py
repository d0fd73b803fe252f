"""Whatever a server sends is read strictly into a turn, and nothing that it sends raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.openai_chat import (
    Ended,
    read_response,
    read_stream,
)
from interlock.models.strict import BODY_BYTES_MAX
from tests.unit.models.chat_responses import body_of, call_of, piece, spelled, stream_of


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"finish_reason": "stop", "message": {"content": ""}}], "created": NaN}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b"[" * 100_000,
        b'{"choices": [{"message": {"content": ""}}, {"message": {"content": ""}}]}',
    ],
)
def test_a_body_that_cannot_be_read_is_an_error_and_never_an_exception(body: bytes) -> None:
    assert read_response(body).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_body_that_says_a_thing_twice_is_not_read_as_either() -> None:
    once = body_of({"tool_calls": [call_of(arguments={"path": "a"})]}).decode()
    twice = once.replace('"path": "a"', '"path": "a", "path": "b"')
    assert read_response(once.encode()).ended is Ended.CALLS_ALLOWED
    assert read_response(twice.encode()).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_response_above_the_limit_is_not_read() -> None:
    padding = b" " * BODY_BYTES_MAX
    assert read_response(body_of({"tool_calls": [call_of()]}) + padding).ended is Ended.ERROR
    assert read_stream([b":" + padding[2:] + b"\n", *stream_of(piece(name="a"))]).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_an_http_error_runs_nothing_and_gives_the_providers_words() -> None:
    turn = read_response(b'{"error": {"message": "No such model."}}', status=404)
    assert (turn.ended, turn.reason) == (Ended.HTTP_ERROR, "HTTP 404: No such model.")
    assert json.loads(turn.error) == {"message": "No such model."}
    assert read_stream([b"<html>"], status=502).reason == "HTTP 502, without a readable message."


@pytest.mark.requirement("LOOP-3")
def test_an_error_in_a_body_of_status_200_runs_nothing() -> None:
    body = json.loads(body_of({"tool_calls": [call_of()]})) | {"error": {"message": "Overloaded"}}
    turn = read_response(json.dumps(body).encode())
    assert (turn.ended, turn.reason, turn.runnable) == (Ended.ERROR, "Overloaded", ())


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("stop", [7, ["stop"], True])
def test_a_stop_that_is_no_word_allows_nothing(stop: object) -> None:
    body = json.loads(body_of({"tool_calls": [call_of()]}))
    body["choices"][0]["finish_reason"] = stop
    assert read_response(json.dumps(body).encode()).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_an_error_inside_of_the_choice_runs_nothing() -> None:
    body = json.loads(body_of({"tool_calls": [call_of()]}))
    body["choices"][0]["error"] = {"message": "The model's host failed.", "code": 502}
    turn = read_response(json.dumps(body).encode())
    assert (turn.ended, turn.reason) == (Ended.ERROR, "The model's host failed.")
    assert json.loads(turn.error) == {"message": "The model's host failed.", "code": 502}


@pytest.mark.requirement("LOOP-3")
def test_a_stream_that_breaks_off_inside_an_event_is_dropped_even_after_its_stop() -> None:
    events = [*stream_of(piece(name="a", arguments="{}"), done=False), b'data: {"err']
    assert read_stream(events).ended is Ended.DROPPED


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_is_no_json_spoils_the_turn() -> None:
    assert read_stream([b"data: {oops}\n\n", *stream_of(piece(name="a", arguments="{}"))]).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_nothing_after_the_end_of_a_stream_is_read() -> None:
    late = stream_of(piece(1, id="c2", name="late", arguments="{}"))
    turn = read_stream([*stream_of(piece(id="c1", name="a", arguments="{}")), *late])
    assert spelled(turn) == [("a", "{}")]
    assert read_stream([b"".join([*stream_of(piece(id="c1", name="a", arguments="{}")), *late])]).calls == turn.calls


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_is_named_an_error_is_one_whatever_it_holds() -> None:
    events = [b'event: error\ndata: {"message": "Overloaded"}\n\n', *stream_of(piece(name="a", arguments="{}"))]
    turn = read_stream(events)
    assert (turn.ended, turn.reason) == (Ended.ERROR, "Overloaded")


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_was_only_named_when_the_stream_broke_off_is_not_closed() -> None:
    events = [*stream_of(piece(0, id="c1", name="a", arguments="{}"), piece(1, id="c2", name="b"), done=False)[:-1]]
    assert [call.closed for call in read_stream(events).calls] == [True, False]


def test_a_stream_with_a_stop_needs_no_done_mark() -> None:
    assert len(read_stream(stream_of(piece(name="a", arguments="{}"), done=False)).runnable) == 1


@given(st.binary(max_size=200))
def test_no_bytes_make_a_reader_raise(body: bytes) -> None:
    assert read_response(body).runnable == ()
    assert read_stream([b"data: " + body + b"\n\n"]).runnable == ()
