"""What an Anthropic Messages server sends is read strictly into a turn, whole or in pieces, and nothing raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.anthropic_read import read_response, read_stream
from interlock.models.turn import Ended, Turn, Usage
from tests.unit.models.anthropic_responses import (
    began,
    body_of,
    call,
    delta,
    end,
    event,
    piece,
    start,
    stopped,
    tool_use,
)

JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["type", "content", "content_block", "delta", "index", "message", "usage", "stop_reason", "error", "input"]
KINDS = st.sampled_from(
    ["tool_use", "text", "server_tool_use", "message_start", "content_block_start", "content_block_delta", "error"]
)


def spelled(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, call.arguments_raw) for call in turn.runnable]


def test_calls_in_a_body_run_with_what_stands_beside_them() -> None:
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    turn = read_response(body_of({"type": "text", "text": "Hm."}, tool_use(caller=caller, toolset_name="browser")))
    (proposed,) = turn.runnable
    assert (turn.text, turn.items, turn.stop, turn.response_id) == ("Hm.", ("text", "tool_use"), "tool_use", "msg_1")
    assert (proposed.wire_id, proposed.reply_id, proposed.name) == ("toolu_1", "toolu_1", "search")
    assert (proposed.arguments_raw, proposed.namespace) == ('{"query": "a"}', "browser")
    assert json.loads(proposed.caller) == caller


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("stop", "ended"),
    [
        ("max_tokens", Ended.TRUNCATED),
        ("model_context_window_exceeded", Ended.TRUNCATED),
        ("refusal", Ended.REFUSED),
        ("pause_turn", Ended.PAUSED),
        ("compaction", Ended.PAUSED),
        ("a_word_of_tomorrow", Ended.ERROR),
    ],
)
def test_a_turn_that_ended_in_another_way_keeps_its_calls_and_runs_none(stop: str, ended: Ended) -> None:
    for turn in (read_response(body_of(tool_use(), stop=stop)), read_stream([start(), *call("{}"), *end(stop)])):
        assert (turn.ended, len(turn.calls), turn.runnable) == (ended, 1, ())
        assert turn.reason


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("stop", ["tool_use", "end_turn", "stop_sequence", None])
def test_a_whole_turn_with_calls_runs_them_whatever_word_for_the_end_servers_are_known_to_send(
    stop: str | None,
) -> None:
    assert len(read_response(body_of(tool_use(), stop=stop)).runnable) == 1
    assert len(read_stream([start(), *call("{}"), *end(stop)]).runnable) == 1


@pytest.mark.requirement("LOOP-3")
def test_the_last_call_of_a_cut_turn_counts_as_unfinished_though_it_was_closed() -> None:
    turn = read_stream([start(), *call("{}"), *call("{}", index=1, call_id="toolu_2"), *end("max_tokens")])
    assert [proposed.closed for proposed in turn.calls] == [True, False]


@pytest.mark.requirement("LOOP-3")
def test_a_turn_that_ends_in_calls_and_holds_none_is_the_models_error() -> None:
    assert read_response(body_of(stop="tool_use")).ended is Ended.MODEL_ERROR


def test_a_refusal_says_why() -> None:
    body = body_of(stop="refusal", stop_details={"category": "cyber", "explanation": "Not this."})
    assert read_response(body).reason == "Not this."
    stream = [start(), *end("refusal", stop_details={"explanation": "Not this."})]
    assert read_stream(stream).reason == "Not this."


@pytest.mark.parametrize("pieces", [[], [""], ["", ""]])
def test_input_that_never_came_is_an_empty_one(pieces: list[str]) -> None:
    assert spelled(read_stream([start(), *call(*pieces), *end()])) == [("search", "{}")]
    bare = {"type": "tool_use", "id": "a", "name": "search"}
    assert spelled(read_stream([start(), began(bare), *map(piece, pieces), stopped(), *end()])) == [("search", "")]


def test_pieces_of_several_calls_may_come_between_one_another() -> None:
    events = [
        start(),
        began(tool_use("a", {}, "t1"), 0),
        began(tool_use("b", {}, "t2"), 1),
        piece('{"x":', 0),
        piece('{"y":', 1),
        event("ping"),
        piece("2}", 1),
        stopped(1),
        piece("1}", 0),
        stopped(0),
        *end(),
    ]
    assert spelled(read_stream(events)) == [("a", '{"x":1}'), ("b", '{"y":2}')]


@pytest.mark.requirement("LOOP-3")
def test_input_that_is_no_whole_json_reaches_the_gate_as_it_is() -> None:
    turn = read_stream([start(), *call('{"path": "a', name="rm"), *end()])
    assert spelled(turn) == [("rm", '{"path": "a')]
    glued = read_stream([start(), began(tool_use("rm", {"path": "a"})), piece('{"path": "b"}'), stopped(), *end()])
    assert spelled(glued) == [("rm", '{"path": "a"}{"path": "b"}')]


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_was_never_closed_does_not_run_beside_one_that_was() -> None:
    events = [start(), *call('{"a":1}'), began(tool_use("rm", {}, "t2"), 1), piece("{}", 1), *end()]
    turn = read_stream(events)
    assert spelled(turn) == [("search", '{"a":1}')]
    assert [proposed.closed for proposed in turn.calls] == [True, False]


@pytest.mark.requirement("LOOP-3")
def test_a_piece_for_a_call_that_is_not_being_written_spoils_the_turn() -> None:
    for events in (
        [*call("{}"), piece('{"b":2}')],
        [piece("{}", 7), *call("{}")],
        [began({"type": "text"}), piece("{")],
    ):
        assert read_stream([start(), *events, *end()]).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_stream_that_breaks_off_runs_nothing() -> None:
    whole = [start(), *call('{"a":1}'), *call('{"b":2}', index=1, call_id="toolu_2")]
    for events in (whole, [*whole, b"event: message_delta\ndata: {"], whole[:3], []):
        assert read_stream(events).ended is Ended.DROPPED
        assert read_stream(events).runnable == ()


@pytest.mark.requirement("LOOP-3")
def test_a_whole_call_in_the_message_start_runs() -> None:
    events = [start(content=[tool_use()], stop_reason="tool_use"), event("message_stop")]
    assert spelled(read_stream(events)) == [("search", '{"query": "a"}')]


@pytest.mark.requirement("LOOP-3")
def test_a_second_message_start_begins_the_message_anew() -> None:
    events = [start(), *call("{}", name="first"), start(id="msg_2"), *call("{}", name="second"), *end()]
    turn = read_stream(events)
    assert (spelled(turn), turn.response_id) == ([("second", "{}")], "msg_2")


@pytest.mark.requirement("LOOP-3")
def test_nothing_after_the_end_of_a_message_is_read() -> None:
    events = [start(), *call("{}"), *end(), start(), *call("{}", name="late"), *end()]
    assert spelled(read_stream(events)) == [("search", "{}")]
    assert spelled(read_stream([b"".join(events)])) == [("search", "{}")]


@pytest.mark.requirement("LOOP-4")
def test_what_the_provider_runs_is_recorded_and_never_runs() -> None:
    blocks: list[dict[str, object]] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "mcp_tool_use", "id": "m1", "name": "ask", "input": {}, "server_name": "wiki"},
        {"type": "tomorrows_tool_use", "id": "n1", "name": "guess", "input": {}},
    ]
    turn = read_response(body_of(*blocks, stop="end_turn"))
    assert (turn.ended, turn.calls) == (Ended.ANSWER, ())
    assert [(done.kind, done.name, done.wire_id) for done in turn.provider_calls] == [
        ("server_tool_use", "web_search", "s1"),
        ("mcp_tool_use", "ask", "m1"),
        ("tomorrows_tool_use", "guess", "n1"),
    ]
    assert json.loads(turn.provider_calls[1].facts) == {"server_name": "wiki"}


@pytest.mark.requirement("LOOP-3")
def test_an_error_runs_nothing_and_gives_the_providers_words() -> None:
    error = {"type": "overloaded_error", "message": "Overloaded"}
    stream = [start(), *call("{}"), event("error", error=error), *end()]
    for turn in (read_stream(stream), read_response(json.dumps({"type": "error", "error": error}).encode())):
        assert (turn.ended, turn.reason, json.loads(turn.error)) == (Ended.ERROR, "Overloaded", error)
    refused = read_stream([json.dumps({"type": "error", "error": error}).encode()], status=529)
    assert (refused.ended, refused.reason) == (Ended.HTTP_ERROR, "HTTP 529: Overloaded")


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"id": "msg_1"}', b"[" * 100_000, b'{"content": [], "a": NaN}'])
def test_a_body_that_cannot_be_read_is_an_error_and_never_an_exception(body: bytes) -> None:
    assert read_response(body).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_body_that_says_a_thing_twice_is_not_read_as_either() -> None:
    twice = body_of(tool_use(sent={"path": "a"})).replace(b'"path": "a"', b'"path": "a", "path": "b"')
    assert read_response(twice).ended is Ended.ERROR
    stream = [start(), *call('{"path": "a", "path": "b"}'), *end()]
    assert spelled(read_stream(stream)) == [("search", '{"path": "a", "path": "b"}')]


def test_text_that_looks_like_a_call_is_text() -> None:
    words = '{"type": "tool_use", "name": "rm", "input": {}}'
    turn = read_response(body_of({"type": "text", "text": words}, stop="end_turn"))
    assert (turn.ended, turn.text, turn.calls) == (Ended.ANSWER, words, ())


def test_events_and_deltas_of_unknown_kinds_change_nothing() -> None:
    events = [
        start(),
        event("tomorrow", index=0, delta={}),
        began(tool_use("search", {})),
        delta("tomorrow_delta", text="x", input="y"),
        piece("{}"),
        stopped(),
        b"data: [DONE]\n\n",
        *end(),
    ]
    assert spelled(read_stream(events)) == [("search", "{}")]


def test_text_without_a_block_of_its_own_is_text() -> None:
    assert read_stream([start(), delta("text_delta", text="Hi"), *end("end_turn")]).text == "Hi"


def test_usage_counts_what_was_cached_and_takes_later_sums() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}
    events = [start(usage=usage), event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 9})]
    assert read_stream(events).usage == Usage(105, 9)
    assert read_response(body_of(stop="end_turn")).usage == Usage(None, None)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_the_pieces_of_a_stream_changes_nothing(size: int) -> None:
    stream = b"".join([start(), *call('{"q":', '"ä"}'), *end()]).replace(b"\n", b"\r\n")
    whole = read_stream([b"\xef\xbb\xbf" + stream])
    assert len(whole.runnable) == 1
    marked = b"\xef\xbb\xbf" + stream
    assert read_stream(marked[at : at + size] for at in range(0, len(marked), size)) == whole


@given(st.binary(max_size=200))
def test_no_bytes_make_a_reader_raise(body: bytes) -> None:
    assert read_response(body).runnable == ()
    assert read_stream([b"data: " + body + b"\n\n"]).runnable == ()


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), JSON_TREES | KINDS, max_size=5), max_size=5))
def test_no_shape_of_an_event_makes_a_reader_raise(shapes: list[dict[str, object]]) -> None:
    events = [b"data: " + json.dumps(shape).encode() + b"\n\n" for shape in shapes]
    json.loads(read_stream([start(), *events, *end()]).echo)
    json.loads(read_response(body_of(*shapes)).echo)
