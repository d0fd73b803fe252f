"""A stream is read to its end or to what spoils it, and a server that answers with a plain body instead is heard."""

import json

import pytest

from interlock.models import openai_chat, openai_responses
from interlock.models.codec import Codec
from interlock.models.strict import BODY_BYTES_MAX
from interlock.models.turn import Ended
from tests.unit.models import chat_responses, responses_responses

CHAT_BODY = chat_responses.body_of({"tool_calls": [chat_responses.call_of()]})
RESPONSES_BODY = responses_responses.body_of(responses_responses.call_of())
BOTH = pytest.mark.parametrize(
    ("codec", "body"), [(openai_chat, CHAT_BODY), (openai_responses, RESPONSES_BODY)], ids=["chat", "responses"]
)


@BOTH
def test_a_plain_body_in_the_place_of_a_stream_is_read_as_one(codec: Codec, body: bytes) -> None:
    for plain in (body, json.dumps(json.loads(body), indent=1).encode() + b"\r\n"):
        turn = codec.read_stream([plain[:9], plain[9:]])
        assert (turn.ended, len(turn.runnable), turn.raw) == (Ended.CALLS_ALLOWED, 1, plain)


@pytest.mark.requirement("LOOP-3")
@BOTH
def test_a_plain_body_that_was_cut_is_a_dropped_turn(codec: Codec, body: bytes) -> None:
    assert codec.read_stream([body[:-5]]).ended is Ended.DROPPED
    assert codec.read_stream([]).ended is Ended.DROPPED


@pytest.mark.requirement("LOOP-3")
@BOTH
def test_an_error_in_the_place_of_a_stream_is_told_in_the_providers_words(codec: Codec, body: bytes) -> None:
    turn = codec.read_stream([b'{"error": {"message": "Overloaded"}}'])
    assert (turn.ended, turn.reason) == (Ended.ERROR, "Overloaded")


@pytest.mark.requirement("LOOP-3")
@BOTH
def test_a_reader_stops_at_what_it_cannot_read(codec: Codec, body: bytes) -> None:
    reader = codec.reader()
    reader.feed(b"data: {oops}\n\n")
    assert reader.over
    assert reader.end().ended is Ended.ERROR
    assert codec.read_stream([b":", b" " * BODY_BYTES_MAX]).ended is Ended.ERROR
    assert codec.read_response(body + b" " * BODY_BYTES_MAX, status=500).ended is Ended.HTTP_ERROR
