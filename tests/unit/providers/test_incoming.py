"""What came of an answer is judged from what is there: its head, the pieces of its body, and how it broke."""

import json

import pytest

from interlock.models import openai_chat
from interlock.models.turn import Ended
from interlock.providers.faults import REPEATABLE
from interlock.providers.incoming import Incoming

WHOLE = json.dumps(
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
).encode()
STREAM = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def incoming(*, streamed: bool = True, secrets: tuple[bytes, ...] = ()) -> Incoming:
    return Incoming(openai_chat, streamed=streamed, secrets=secrets, repeatable=REPEATABLE)


@pytest.mark.parametrize(
    ("asked_stream", "kind", "body", "streamed"),
    [
        (True, "text/event-stream; charset=utf-8", STREAM, True),
        (True, "", STREAM, True),
        (True, "application/json", WHOLE, False),
        (True, "application/json", STREAM, True),
        (False, "application/json", WHOLE, False),
        (False, "text/plain", WHOLE, False),
    ],
)
def test_what_came_is_read_by_what_it_is(asked_stream: bool, kind: str, body: bytes, streamed: bool) -> None:
    came = incoming(streamed=asked_stream)
    came.begin(200, headers={"content-type": kind})
    for at in range(0, len(body), 7):
        came.take(body[at : at + 7])
    reply = came.reply(now_s=0)
    assert (reply.turn.ended, reply.turn.text, reply.streamed) == (Ended.ANSWER, "Hello.", streamed)
    assert not reply.may_repeat


@pytest.mark.parametrize("streamed", [True, False])
def test_a_web_page_is_no_answer_and_is_not_asked_for_again(streamed: bool) -> None:
    came = incoming(streamed=streamed)
    came.begin(200, headers={"content-type": "text/html"})
    came.take(b"<html>Sign in</html>")
    reply = came.reply(now_s=0)
    assert (reply.turn.ended, reply.may_repeat) == (Ended.ERROR, False)
    assert "base_url" in reply.turn.reason


def test_what_is_no_json_runs_nothing() -> None:
    came = incoming(streamed=False)
    came.begin(200, headers={})
    came.take(b"It works!")
    assert (came.reply(now_s=0).turn.ended, came.reply(now_s=0).may_repeat) == (Ended.ERROR, False)


def test_a_refusal_is_not_asked_for_again() -> None:
    refused = {"choices": [{"index": 0, "message": {"content": None, "refusal": "No."}, "finish_reason": "stop"}]}
    came = incoming(streamed=False)
    came.begin(200, headers={})
    came.take(json.dumps(refused).encode())
    assert (came.reply(now_s=0).turn.ended, came.reply(now_s=0).may_repeat) == (Ended.REFUSED, False)


def test_the_waiting_time_is_read_from_a_refused_request() -> None:
    came = incoming()
    came.begin(429, headers={"retry-after": "3"})
    came.take(b'{"error": {"message": "slow down", "type": "rate_limit_error"}}')
    reply = came.reply(now_s=0)
    assert (reply.status, reply.retry_after_s, reply.may_repeat) == (429, 3.0, True)
    assert reply.turn.reason == "HTTP 429: slow down"


def test_a_turn_that_was_over_stays_what_it_was_when_the_connection_breaks_behind_it() -> None:
    came = incoming()
    came.begin(200, headers={"content-type": "text/event-stream"})
    came.take(STREAM)
    assert came.over
    came.fail("The connection broke.", transient=True)
    assert (came.reply(now_s=0).turn.ended, came.reply(now_s=0).may_repeat) == (Ended.ANSWER, False)


def test_secrets_are_taken_out_of_what_is_kept() -> None:
    came = incoming(secrets=(b"sk-planted",))
    came.begin(200, headers={"content-type": "text/event-stream"})
    came.take(STREAM.replace(b"Hello.", b"sk-planted"))
    turn = came.reply(now_s=0).turn
    assert (turn.text, b"sk-planted" in turn.raw) == ("[hidden]", False)
