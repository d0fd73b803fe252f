"""Whatever a Responses server sends is read strictly into a turn, and nothing that it sends raises."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.openai_responses import (
    Answer,
    Ended,
    Options,
    StreamReader,
    echo,
    read_response,
    read_stream,
    request,
    results,
)
from interlock.models.strict import BODY_BYTES_MAX
from tests.unit.models.responses_responses import added, body_of, call_of, done, event_of, last, piece, spelled

NAMES = ["type", "item", "item_id", "output_index", "response", "output", "delta", "status", "id", "call_id", "error"]
KINDS = ["response.output_item.added", "response.output_item.done", "response.function_call_arguments.delta"]
KINDS += ["response.completed", "function_call", "mcp_approval_request", "shell_call", "reasoning", "c1"]
JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(KINDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    "body",
    [b"", b"not json", b"[]", b"{}", b'{"status": "completed"}', b"[" * 100_000, b'{"output": [], "output": []}'],
)
def test_a_body_that_cannot_be_read_is_an_error_and_never_an_exception(body: bytes) -> None:
    assert read_response(body).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_an_http_error_runs_nothing_and_gives_the_providers_words() -> None:
    turn = read_response(b'{"error": {"message": "No such model.", "code": "m"}}', status=404)
    assert (turn.ended, turn.reason) == (Ended.HTTP_ERROR, "HTTP 404: No such model.")
    assert json.loads(turn.error) == {"message": "No such model.", "code": "m"}
    assert read_stream([b"<html>"], status=502).reason == "HTTP 502, without a readable message."


@pytest.mark.requirement("LOOP-3")
def test_a_response_above_the_limit_is_not_read() -> None:
    assert read_response(body_of(call_of()) + b" " * BODY_BYTES_MAX).ended is Ended.ERROR
    assert read_stream([b":" + b" " * BODY_BYTES_MAX, done(call_of()), last(call_of())]).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_stream_without_its_last_event_is_dropped_though_its_calls_are_whole() -> None:
    whole = [added(call_of()), piece("{}"), done(call_of())]
    for end in ([], [b"data: [DONE]\n\n"], [last(call_of())[:-20]]):
        turn = read_stream([*whole, *end])
        assert (turn.ended, turn.runnable) == (Ended.DROPPED, ())
    assert read_stream([*whole, last(call_of())]).ended is Ended.CALLS_ALLOWED


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_is_no_json_spoils_the_turn() -> None:
    assert read_stream([b"data: {oops}\n\n", last(call_of())]).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_nothing_after_the_last_event_is_read() -> None:
    late = [done(call_of("late", call_id="c2")), event_of("error", message="Too late.")]
    assert spelled(read_stream([last(call_of()), *late])) == [("c1", '{"query": "a"}')]
    assert read_stream([b"".join([last(call_of()), *late])]).ended is Ended.CALLS_ALLOWED


def test_events_that_nobody_knows_and_padding_change_nothing() -> None:
    events = [
        b"\xef\xbb\xbf: keep-alive\r\n\r\n",
        event_of("response.created", response={"id": "resp_1", "status": "in_progress"}, sequence_number=0),
        event_of("response.new_kind_of_event", sequence_number=0, delta=3),
        added(call_of(), output_index=0),
        piece('{"query":', output_index=0, obfuscation="aX3"),
        piece(' "a"}', output_index=0, obfuscation="q", sequence_number="7"),
        b"data: [1, 2]\n\n",
        done(call_of(), output_index=0),
        last(call_of()),
    ]
    assert spelled(read_stream(events)) == [("c1", '{"query": "a"}')]


@given(st.lists(JSON_TREES, max_size=6))
def test_no_shape_of_an_event_or_an_item_makes_a_reader_or_an_echo_raise(trees: list[object]) -> None:
    events = [f"data: {json.dumps(tree)}\n\n".encode() for tree in trees]
    for turn in (read_stream(events), read_response(body_of(*(tree for tree in trees if isinstance(tree, dict))))):
        assert all(call.closed for call in turn.runnable)
        labels = [item.get(name) for item in echo(turn) for name in ("call_id", "id")]
        assert all(call.reply_id in labels for call in turn.calls)
        told = results([Answer(call, "done") for call in turn.calls])
        assert len(told) == len(turn.calls)
        assert request([*echo(turn), *told], options=Options(model="m", tokens_max=1))["input"] == echo(turn) + told


@given(st.binary(max_size=200))
def test_no_bytes_make_a_reader_raise(body: bytes) -> None:
    assert read_response(body).runnable == ()
    assert read_stream([b"data: " + body + b"\n\n"]).runnable == ()


def test_many_small_pieces_take_time_that_grows_no_faster_than_they_do() -> None:
    def seconds(size: int) -> float:
        reader = StreamReader()
        stream = b"".join([added(call_of()), *(piece("x" * 40) for _ in range(size)), last(call_of())])
        started = time.process_time()
        for at in range(len(stream)):
            reader.feed(stream[at : at + 1])
        assert reader.over
        return time.process_time() - started

    few = min(seconds(100) for _ in range(3))
    assert min(seconds(800) for _ in range(3)) < 8 * 3 * few
