"""What Bedrock's Converse sends is read strictly into a turn, whole or in pieces, and nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.bedrock_read import read_response, read_stream
from interlock.models.turn import Ended, Turn, Usage
from tests.unit.models.bedrock_responses import (
    START,
    began,
    body_of,
    call,
    delta,
    end,
    frames,
    lines,
    piece,
    stopped,
    tool_use,
)

JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = [
    "toolUse",
    "text",
    "contentBlockStart",
    "contentBlockDelta",
    "delta",
    "start",
    "messageStop",
    "reasoningContent",
]
USAGE = {"inputTokens": 5, "outputTokens": 2, "cacheReadInputTokens": 100}


def spelled(turn: Turn) -> list[tuple[str, str]]:
    return [(proposed.name, proposed.arguments_raw) for proposed in turn.runnable]


def streamed(*events: dict[str, object]) -> Turn:
    """The turn of a stream that is the same in lines and in frames."""
    turn, framed = read_stream([lines(START, *events)]), read_stream([frames(START, *events)])
    assert (framed.calls, framed.ended, framed.echo) == (turn.calls, turn.ended, turn.echo)
    return turn


def test_calls_in_a_body_run() -> None:
    turn = read_response(body_of({"text": "Hm."}, tool_use(call_id="functions.search:0"), usage=USAGE))
    (proposed,) = turn.runnable
    assert (turn.text, turn.items, turn.stop, turn.usage) == ("Hm.", ("text", "toolUse"), "tool_use", Usage(105, 2))
    assert (proposed.wire_id, proposed.reply_id) == ("functions.search:0", "functions.search:0")
    assert (proposed.name, proposed.arguments_raw) == ("search", '{"query": "a"}')


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        ("max_tokens", Ended.TRUNCATED),
        ("model_context_window_exceeded", Ended.TRUNCATED),
        ("guardrail_intervened", Ended.REFUSED),
        ("content_filtered", Ended.REFUSED),
        ("malformed_model_output", Ended.MODEL_ERROR),
        ("malformed_tool_use", Ended.MODEL_ERROR),
        ("a_word_of_tomorrow", Ended.ERROR),
    ],
)
def test_a_turn_that_ended_in_another_way_keeps_its_calls_and_runs_none(stop: str, ended: Ended) -> None:
    for turn in (read_response(body_of(tool_use(), stop=stop)), streamed(*call("{}"), end(stop))):
        assert (turn.ended, len(turn.calls), turn.runnable) == (ended, 1, ())
        assert turn.reason


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("stop", ["tool_use", "end_turn", "stop_sequence"])
def test_a_whole_turn_with_calls_runs_them(stop: str) -> None:
    assert len(read_response(body_of(tool_use(), stop=stop)).runnable) == 1
    assert len(streamed(*call("{}"), end(stop)).runnable) == 1


@pytest.mark.requirement("LOOP-3")
def test_the_last_call_of_a_cut_turn_counts_as_unfinished_though_it_was_closed() -> None:
    turn = streamed(*call("{}"), *call("{}", index=1, call_id="b"), end("max_tokens"))
    assert [proposed.closed for proposed in turn.calls] == [True, False]


def test_input_that_never_came_is_an_empty_one() -> None:
    for pieces in ([], [""]):
        assert spelled(streamed(*call(*pieces), end())) == [("search", "")]


def test_pieces_of_several_calls_may_come_between_one_another() -> None:
    events = [
        began({"toolUse": {"toolUseId": "a", "name": "a"}}, 0),
        began({"toolUse": {"toolUseId": "b", "name": "b"}}, 1),
        piece('{"x":', 0),
        piece('{"y":2}', 1),
        stopped(1),
        piece("1}", 0),
        stopped(0),
        end(),
    ]
    assert spelled(streamed(*events)) == [("a", '{"x":1}'), ("b", '{"y":2}')]


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_was_never_closed_does_not_run_beside_one_that_was() -> None:
    turn = streamed(*call("{}"), *call("{}", index=1, call_id="b")[:-1], end())
    assert [proposed.closed for proposed in turn.calls] == [True, False]
    assert len(turn.runnable) == 1


@pytest.mark.requirement("LOOP-3")
def test_a_piece_for_a_call_that_is_not_being_written_spoils_the_turn() -> None:
    for events in ([*call("{}"), piece("{}")], [piece("{}", 7)], [delta({"text": "a"}), piece("{}")]):
        assert streamed(*events, end()).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_stream_that_breaks_off_runs_nothing() -> None:
    whole = lines(START, *call("{}"))
    framed = frames(START, *call("{}"), end())
    for stream in (whole, whole + b'{"messageStop": {"stopRea', framed[:-1], framed[:-80], b""):
        turn = read_stream([stream])
        assert (turn.ended, turn.runnable) == (Ended.DROPPED, ())


@pytest.mark.requirement("LOOP-3")
def test_a_frame_that_was_changed_on_its_way_spoils_the_turn() -> None:
    stream = bytearray(frames(START, *call('{"path": "a"}'), end()))
    stream[stream.index(b'"a')] ^= 1
    turn = read_stream([bytes(stream)])
    assert (turn.ended, turn.runnable) == (Ended.ERROR, ())


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("name", ["modelStreamErrorException", "throttlingException", "tomorrowsException"])
def test_an_exception_in_a_stream_runs_nothing_and_gives_the_providers_words(name: str) -> None:
    said = {"message": "Broke.", "originalStatusCode": 424}
    broke: dict[str, object] = {name: said}
    for last in ([broke], [end(), broke]):
        turn = streamed(*call("{}"), *last)
        assert (turn.ended, turn.reason, json.loads(turn.error)) == (Ended.ERROR, "Broke.", {name: said})


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("field", ["message", "Message"])
def test_an_error_without_a_stream_runs_nothing(field: str) -> None:
    body = json.dumps({field: "Slow down."}).encode()
    refused = read_stream([body], status=429)
    assert (refused.ended, read_response(body).ended) == (Ended.HTTP_ERROR, Ended.ERROR)
    assert read_response(body).reason == "Slow down."
    assert json.loads(refused.error) == {field: "Slow down."}


@pytest.mark.requirement("LOOP-4")
def test_what_the_provider_runs_is_recorded_and_never_runs() -> None:
    result = {"toolResult": {"toolUseId": "s1", "content": [{"json": {"out": 5}}], "status": "success"}}
    turn = read_response(body_of(tool_use("interpreter", {}, "s1", type="server_tool_use"), result, tool_use()))
    assert turn.items == ("toolUse", "toolResult", "toolUse")
    assert spelled(turn) == [("search", '{"query": "a"}')]
    (done,) = turn.provider_calls
    assert (done.name, done.wire_id, done.kind) == ("interpreter", "s1", "server_tool_use")
    start = began({"toolUse": {"toolUseId": "s1", "name": "interpreter", "type": "tomorrows_type"}})
    assert streamed(start, piece("{}"), stopped(), end("end_turn")).calls == ()


def test_the_usage_counts_wherever_it_stands() -> None:
    usage: dict[str, object] = {"metadata": {"usage": USAGE}}
    assert streamed(usage, end("end_turn")).usage == streamed(end("end_turn"), usage).usage == Usage(105, 2)
    assert streamed(end("end_turn")).usage == Usage(None, None)


@pytest.mark.requirement("LOOP-3")
def test_no_block_is_read_after_the_end_and_a_second_start_begins_anew() -> None:
    assert spelled(streamed(*call("{}"), end(), *call("{}", name="late"))) == [("search", "{}")]
    again = streamed(*call("{}"), {"messageStart": {}}, *call("{}", name="second"), end())
    assert spelled(again) == [("second", "{}")]


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"output": null}', b"[" * 100_000])
def test_a_body_that_cannot_be_read_is_an_error_and_never_an_exception(body: bytes) -> None:
    assert read_response(body).ended is Ended.ERROR


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_the_pieces_of_a_stream_changes_nothing(size: int) -> None:
    for stream in (lines(START, *call('{"q":', '"ä"}'), end()), frames(START, *call('{"q":', '"ä"}'), end())):
        whole = read_stream([stream])
        assert len(whole.runnable) == 1
        assert read_stream(stream[at : at + size] for at in range(0, len(stream), size)) == whole


@given(st.binary(max_size=200), st.sampled_from([b"", b"\x00", b"{"]))
def test_no_bytes_make_a_reader_raise(body: bytes, first: bytes) -> None:
    assert read_response(first + body).runnable == ()
    assert read_stream([first + body]).runnable == ()


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON_TREES, max_size=4), max_size=5))
def test_no_shape_of_an_event_makes_a_reader_raise(shapes: list[dict[str, object]]) -> None:
    wrapped = [began(shape) for shape in shapes] + [delta(shape) for shape in shapes]
    json.loads(read_stream([lines(START, *shapes, *wrapped, end())]).echo)
    json.loads(read_response(body_of(*shapes)).echo)
