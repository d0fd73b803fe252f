"""A Responses turn is judged by its last event, and an item by the last thing that closed it."""

import json

import pytest

from interlock.models.openai_responses import Ended, echo, read_response, read_stream
from tests.unit.models.responses_responses import (
    added,
    body_of,
    call_of,
    done,
    event_of,
    last,
    message_of,
    piece,
    spelled,
)


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize(
    ("status", "fields", "ended"),
    [
        ("completed", {}, Ended.CALLS_ALLOWED),
        ("completed", {"error": {"message": "Broken."}}, Ended.ERROR),
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, Ended.TRUNCATED),
        ("incomplete", {"incomplete_details": {"reason": "steered"}}, Ended.TRUNCATED),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, Ended.REFUSED),
        ("incomplete", {}, Ended.TRUNCATED),
        ("failed", {"error": None}, Ended.ERROR),
        ("cancelled", {}, Ended.ERROR),
        ("queued", {}, Ended.IN_PROGRESS),
        ("in_progress", {}, Ended.IN_PROGRESS),
        ("new_status", {}, Ended.ERROR),
    ],
)
def test_calls_run_from_a_completed_response_alone(status: str, fields: dict[str, object], ended: Ended) -> None:
    turn = read_response(body_of(call_of(), status=status, **fields))
    assert (turn.ended, turn.stop, len(turn.calls)) == (ended, status, 1)
    assert bool(turn.reason) == (ended is not Ended.CALLS_ALLOWED)
    if status in {"completed", "incomplete", "failed", "cancelled"}:
        assert read_stream([last(call_of(), status=status, **fields)]).ended is ended


@pytest.mark.requirement("LOOP-3")
def test_where_what_ends_a_response_contradicts_itself_the_word_that_runs_nothing_counts() -> None:
    assert (
        read_response(body_of(call_of(), incomplete_details={"reason": "max_output_tokens"})).ended is Ended.TRUNCATED
    )
    assert json.loads(body_of(call_of()))["status"] == "completed"
    event = b"event: response.incomplete\ndata: {}\n\n"
    said = event.replace(b"{}", json.dumps({"response": json.loads(body_of(call_of()))}).encode())
    assert read_stream([said]).ended is Ended.TRUNCATED
    assert (
        read_stream([last(call_of()).replace(b'"status": "completed", "output"', b'"status": 7, "output"')]).ended
        is Ended.ERROR
    )


@pytest.mark.requirement("LOOP-3")
def test_a_response_without_a_status_came_whole_and_one_with_another_kind_of_status_is_not_understood() -> None:
    body = json.loads(body_of(call_of()))
    assert read_response(json.dumps(body | {"status": None}).encode()).ended is Ended.CALLS_ALLOWED
    assert read_response(json.dumps(body | {"status": 7}).encode()).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_refusal_runs_nothing_though_calls_stand_beside_it() -> None:
    turn = read_response(body_of(message_of("I will not.", kind="refusal", name="refusal"), call_of()))
    assert (turn.ended, turn.reason, turn.runnable) == (Ended.REFUSED, "I will not.", ())


@pytest.mark.requirement("LOOP-3")
def test_an_error_event_runs_nothing_and_the_failure_after_it_has_the_last_word() -> None:
    error = event_of("error", error={"message": "First."})
    assert read_stream([done(call_of()), error]).reason == "First."
    assert read_stream([done(call_of()), error, last(call_of())]).ended is Ended.ERROR
    bare = b'data: {"error": {"message": "First."}}\n\n'
    assert read_stream([done(call_of()), bare, last(call_of())]).ended is Ended.ERROR
    turn = read_stream([error, last(status="failed", error={"code": "quota", "message": "Second."})])
    assert (turn.ended, turn.stop, turn.reason) == (Ended.ERROR, "failed", "Second.")
    assert json.loads(turn.error) == {"code": "quota", "message": "Second."}


@pytest.mark.requirement("LOOP-3")
def test_more_calls_than_anyone_asks_for_run_nothing() -> None:
    assert read_response(body_of(*(call_of(call_id=f"c{number}") for number in range(129)))).ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_nothing_closed_is_kept_and_never_run() -> None:
    turn = read_stream([added(call_of()), piece('{"query": "a"}'), last()])
    assert spelled(turn) == [("c1", '{"query": "a"}')]
    assert (turn.items, turn.runnable) == (("function_call*",), ())


@pytest.mark.requirement("LOOP-3")
def test_a_call_that_its_own_status_calls_incomplete_is_never_run() -> None:
    turn = read_response(body_of(call_of(status="incomplete"), call_of(call_id="c2")))
    assert [call.wire_id for call in turn.runnable] == ["c2"]


def test_what_closes_an_item_counts_more_than_its_pieces_and_the_last_output_more_than_both() -> None:
    pieces = [added(call_of(), output_index=0), piece('{"query": "pieces"}', output_index=0)]
    closing = done(call_of(arguments='{"query": "closed"}'), output_index=0)
    assert spelled(read_stream([*pieces, closing, last()])) == [("c1", '{"query": "closed"}')]
    assert spelled(read_stream([*pieces, closing, last(call_of())])) == [("c1", '{"query": "a"}')]


def test_a_last_output_that_leaves_items_out_does_not_take_them_away() -> None:
    two = [done(call_of()), done(call_of(call_id="c2"))]
    assert [call_id for call_id, _ in spelled(read_stream([*two, last(message_of())]))] == ["c1", "c2"]


@pytest.mark.parametrize("index", [{"output_index": 0}, {"output_index": "0"}, {}])
def test_calls_that_share_one_place_are_told_apart_by_what_they_are_called(index: dict[str, object]) -> None:
    first, second = call_of(call_id="c1"), call_of("other", '{"query": "b"}', "c2")
    events = [
        added(first, **index),
        added(second, **index),
        piece('{"query":', item_id="fc_c1", **index),
        piece('{"query": "b"}', item_id="fc_c2", **index),
        piece(' "a"}', item_id="fc_c1", **index),
    ]
    both = [("c1", '{"query": "a"}'), ("c2", '{"query": "b"}')]
    assert spelled(read_stream(events)) == both
    turn = read_stream([*events, done(second, **index), done(first, **index), last()])
    assert (spelled(turn), len(turn.runnable)) == (both, 2)


def test_calls_that_share_one_place_and_have_no_ids_of_items_are_told_apart_by_their_labels() -> None:
    calls = [call_of(call_id=f"c{number}", id=None) for number in range(3)]
    begun = [added(call, output_index=0) for call in calls]
    turn = read_stream([*begun, *(done(call, output_index=0) for call in calls), last()])
    assert [call.wire_id for call in turn.runnable] == ["c0", "c1", "c2"]


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_comes_twice_makes_no_second_call() -> None:
    again = done(call_of(), output_index=0)
    assert len(read_stream([added(call_of(), output_index=0), again, again, last()]).runnable) == 1
    whole = [
        done(message_of(), output_index=0),
        done(call_of(), output_index=0),
        done(call_of(call_id="c2"), output_index=0),
    ]
    assert len(read_stream([*whole, last()]).items) == 3


@pytest.mark.requirement("LOOP-3")
def test_a_piece_for_an_item_that_nobody_began_belongs_to_no_other() -> None:
    turn = read_stream([added(call_of()), piece("{}", item_id="fc_c1"), piece("}", item_id="fc_of_another")])
    assert spelled(turn) == [("c1", "{}")]


def test_an_item_is_found_by_its_place_where_its_id_changes_in_every_event() -> None:
    events = [
        added(call_of(id="one"), output_index=0),
        piece('{"query": "a"}', output_index=0, item_id="two"),
        done(call_of(id="three"), output_index=0),
        last(),
    ]
    assert spelled(read_stream(events)) == [("c1", '{"query": "a"}')]


def test_a_call_that_comes_whole_in_one_event_needs_no_other() -> None:
    assert spelled(read_stream([done(call_of()), last()])) == [("c1", '{"query": "a"}')]
    given_whole = event_of("response.function_call_arguments.done", arguments='{"query": "b"}')
    assert spelled(read_stream([added(call_of()), piece("{"), given_whole])) == [("c1", '{"query": "b"}')]


def test_text_may_come_without_parts() -> None:
    assert read_response(body_of({"type": "message", "role": "assistant", "content": "Hello."})).text == "Hello."


def test_text_that_was_still_coming_is_kept() -> None:
    begun = event_of("response.output_item.added", item={"type": "message", "role": "assistant", "content": []})
    turn = read_stream([begun, event_of("response.output_text.delta", delta="Hel"), b": ping\n\n"])
    assert (turn.text, turn.items, turn.ended) == ("Hel", ("message*",), Ended.DROPPED)


def test_encrypted_reasoning_is_taken_from_the_event_that_closed_it() -> None:
    thought: dict[str, object] = {"type": "reasoning", "id": "rs_1", "summary": []}
    partial = event_of("response.output_item.added", item=thought | {"encrypted_content": "par"})
    events = [partial, done(thought | {"encrypted_content": "whole"}), done(call_of())]
    for late in ("", "another"):
        told = read_stream([*events, last(thought | {"encrypted_content": late}, call_of())])
        assert echo(told)[0]["encrypted_content"] == "whole"


def test_the_usage_and_the_id_of_the_response_are_kept() -> None:
    turn = read_response(body_of(usage={"input_tokens": 3, "output_tokens": None}))
    assert (turn.response_id, turn.usage.input_tokens, turn.usage.output_tokens) == ("resp_1", 3, None)
