"""The bytes of a response reach a draft bounded, and what cannot be read ends the turn instead of raising."""

import pytest

from interlock.models.anthropic_read import read_response, reader
from interlock.models.strict import BODY_BYTES_MAX
from interlock.models.turn import Ended
from tests.unit.models.anthropic_responses import body_of, call, end, start, tool_use


@pytest.mark.requirement("LOOP-3")
def test_a_response_above_the_limit_is_not_read() -> None:
    padding = b" " * BODY_BYTES_MAX
    assert read_response(body_of(tool_use()) + padding).ended is Ended.ERROR
    stream = reader()
    for chunk in (start(), *call(), *end(), b":" + padding):
        stream.feed(chunk)
    assert stream.end().ended is Ended.ERROR


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_is_no_json_spoils_the_turn() -> None:
    stream = reader()
    for chunk in (start(), b"data: {oops}\n\n", *call(), *end()):
        stream.feed(chunk)
    assert stream.over
    assert stream.end().ended is Ended.ERROR


def test_a_stream_is_over_at_its_own_end() -> None:
    stream = reader()
    for chunk in (start(), *call()):
        stream.feed(chunk)
        assert not stream.over
    stream.feed(b"".join(end()))
    assert stream.over
    assert stream.end().raw == b"".join([start(), *call(), *end()])


@pytest.mark.requirement("LOOP-3")
def test_an_event_that_the_stream_ends_inside_of_drops_the_turn_even_after_its_stop() -> None:
    stream = reader()
    for chunk in (start(), *call(), end()[0], b'data: {"type": "err'):
        stream.feed(chunk)
    assert stream.end().ended is Ended.DROPPED


@pytest.mark.requirement("LOOP-3")
def test_an_http_error_without_a_readable_message_is_one() -> None:
    turn = read_response(b"<html>", status=502)
    assert (turn.ended, turn.reason) == (Ended.HTTP_ERROR, "HTTP 502, without a readable message.")
