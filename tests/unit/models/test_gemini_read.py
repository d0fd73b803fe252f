"""Whatever a Gemini server sends is one turn, the same in any pieces, and a cut one runs nothing."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models import gemini_read
from interlock.models.gemini_read import StreamReader, read_response, read_stream
from interlock.models.turn import Ended
from tests.unit.models.gemini_responses import array_of, body_of, call, chunk_of, events_of, streamed_call

CHUNKS = (
    chunk_of({"text": 'Zoë says "[{"', "thought": True}),
    *streamed_call({"jsonPath": "$.city", "stringValue": "Zürich"}),
    chunk_of(call(id="1")),
    chunk_of(stop="STOP") | {"usageMetadata": {"promptTokenCount": 7}, "responseId": "r"},
)
Form = Callable[..., bytes]
FORMS = pytest.mark.parametrize("form", [events_of, array_of])


@FORMS
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_the_size_of_the_pieces_changes_nothing(form: Form, size: int) -> None:
    sent = form(*CHUNKS)
    turn = read_stream(sent[at : at + size] for at in range(0, len(sent), size))
    assert turn == read_stream([sent])
    assert [one.name for one in turn.runnable] == ["add", "add"]
    assert (turn.usage.input_tokens, turn.response_id) == (7, "r")


@FORMS
@pytest.mark.requirement("LOOP-3")
def test_a_stream_that_is_cut_anywhere_before_its_stop_runs_nothing(form: Form) -> None:
    sent = form(*CHUNKS)
    for end in range(sent.index(b'"STOP"') + 5):
        turn = read_stream([sent[:end]])
        assert (turn.ended, turn.runnable) == (Ended.DROPPED, ()), end


@pytest.mark.requirement("LOOP-3")
def test_an_array_that_was_not_closed_runs_nothing_even_if_its_turn_ended() -> None:
    sent = array_of(*CHUNKS).rstrip().removesuffix(b"]")
    assert (read_stream([sent]).ended, read_stream([sent]).runnable) == (Ended.DROPPED, ())


def test_a_whole_array_and_a_whole_body_read_as_their_streams_do() -> None:
    sent = array_of(*CHUNKS)
    assert read_response(sent) == read_stream([sent])
    body = body_of(call())
    assert read_response(body) == read_stream([body])


def test_blanks_and_a_byte_order_mark_before_the_first_byte_are_skipped() -> None:
    for sent in (array_of(*CHUNKS), events_of(*CHUNKS)):
        for lead in (b"\xef\xbb\xbf", b"\r\n \n", b"\xef\xbb\xbf\n"):
            pieces = [lead[at : at + 1] for at in range(len(lead))]
            assert len(read_stream([*pieces, sent]).runnable) == 2


def test_comments_pings_and_a_mark_for_the_end_are_no_chunks() -> None:
    sent = b": ping\n\nevent: ping\ndata: {}\n\n" + events_of(*CHUNKS) + b"data: [DONE]\n\ndata: junk\n\n"
    assert len(read_stream([sent]).runnable) == 2


@FORMS
@pytest.mark.requirement("LOOP-3")
def test_an_error_in_the_stream_runs_nothing(form: Form) -> None:
    error = {"error": {"code": 503, "message": "Overloaded.", "status": "UNAVAILABLE"}}
    turn = read_stream([form(*CHUNKS, error)])
    assert turn.ended is Ended.ERROR
    assert (turn.reason, json.loads(turn.error), turn.runnable) == ("Overloaded.", error["error"], ())


def test_an_error_event_is_an_error_whatever_its_data_looks_like() -> None:
    sent = b'event: error\ndata: {"code": 500, "message": "Internal."}\n\n'
    assert read_stream([events_of(CHUNKS[0]) + sent]).ended is Ended.ERROR


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_refused_request_says_why(wrapped: bool) -> None:
    error = {"error": {"code": 429, "message": "Quota.", "status": "RESOURCE_EXHAUSTED"}}
    body = json.dumps([error] if wrapped else error).encode()
    for turn in (read_response(body, status=429), read_stream([body[:9], body[9:]], status=429)):
        assert (turn.ended, turn.reason) == (Ended.HTTP_ERROR, "HTTP 429: Quota.")
        assert json.loads(turn.error) == error["error"]


@pytest.mark.parametrize("body", [b"", b"<html>", b"{", b"[]", b"5", b"null", b'{"a": NaN}', b"\xff", b"[" * 200_000])
@pytest.mark.requirement("LOOP-3")
def test_what_is_no_response_runs_nothing(body: bytes) -> None:
    assert read_response(body).ended is Ended.ERROR
    assert read_response(body, status=502).ended is Ended.HTTP_ERROR
    assert read_stream([body]).ended in {Ended.ERROR, Ended.DROPPED}


@pytest.mark.requirement("LOOP-3")
def test_a_key_that_comes_twice_makes_the_response_unusable() -> None:
    body = body_of(call()).replace(b'{"a": 1}', b'{"a": 1, "a": 2}')
    assert (read_response(body).ended, read_response(body).runnable) == (Ended.ERROR, ())


def test_chunks_may_stand_in_an_object_of_their_own() -> None:
    sent = events_of(*({"response": chunk, "traceId": "t"} for chunk in CHUNKS))
    assert len(read_stream([sent]).runnable) == 2


def test_more_bytes_than_a_response_may_have_run_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini_read, "BODY_BYTES_MAX", 100)
    reader = StreamReader()
    reader.feed(events_of(*CHUNKS))
    assert reader.over
    assert reader.end().ended is Ended.ERROR
    assert read_response(body_of(call(), call(), call())).ended is Ended.ERROR


NAMES = ["candidates", "content", "parts", "functionCall", "args", "partialArgs", "jsonPath", "willContinue", "text"]
MORE_NAMES = ["finishReason", "promptFeedback", "error", "toolCall", "thoughtSignature", "name", "id", "usageMetadata"]
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["STOP", "$.a", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*NAMES, *MORE_NAMES]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*NAMES, *MORE_NAMES]), TREES))
def test_no_shape_of_a_response_makes_a_reader_raise(fields: dict[str, object]) -> None:
    body = json.dumps(fields | {"candidates": [{"content": {"parts": [fields]}} | fields]}).encode()
    for turn in (read_response(body), read_stream([b"data: " + body + b"\n\n"]), read_stream([b"[" + body])):
        assert json.loads(turn.echo)


@pytest.mark.parametrize("levels", [300, 900, 100_000])
def test_what_is_nested_too_deep_to_be_sent_again_is_not_read(levels: int) -> None:
    nested = '{"a":' * levels + "1" + "}" * levels
    body = f'{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{nested}}}}}]}}}}]}}'.encode()
    assert read_response(body).ended is Ended.ERROR
    assert read_stream([b"data: " + body + b"\n\n"]).ended is Ended.ERROR
