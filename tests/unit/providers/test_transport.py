"""Whatever a server and the network do, one request is sent, every wait ends, and a reply says what came of it."""

import asyncio
import json
import logging

import pytest

from interlock.core.errors import SettingsInvalid
from interlock.loop.model import Reply
from interlock.models.turn import Ended
from interlock.providers import OpenAIChat, Patience
from interlock.providers.transport import Outgoing, unsent
from tests.http_upstream import (
    CHUNK,
    Behaviour,
    Exchange,
    Upstream,
    bomb,
    endless_head,
    garbage,
    reset_at_once,
    reset_before_commit,
    reset_in_the_answer,
    silence,
    slow_body,
    slow_head,
    status,
    upstream,
    wrong_length,
)

PLANTED = "sk-planted/0123456789abcdef"
BRIEF = Patience(connect_s=2.0, first_byte_s=1.0, between_bytes_s=1.0, total_s=5.0)
WHOLE = json.dumps(
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
).encode()
PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."}}]}\n\n'
STOP = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
LENGTH_MAX_BYTES = 16 * 1024 * 1024


def model_at(server: Upstream, *, stream: bool = False, patience: Patience = BRIEF) -> OpenAIChat:
    return OpenAIChat("m", base_url=f"{server.origin}/v1", api_key=PLANTED, stream=stream, patience=patience)


async def asked(behave: Behaviour, *, stream: bool = False, patience: Patience = BRIEF) -> Reply:
    """The reply of a model behind a server that behaves so; whatever it is, it holds no key."""
    async with upstream(behave) as server:
        model = model_at(server, stream=stream, patience=patience)
        body = model.codec.request([{"role": "user", "content": "hello"}], options=model.options)
        async with asyncio.timeout(10):
            reply = await model.ask(body)
        await model.close()
        assert len(server.received) == 1, "one request for each ask"
    assert PLANTED not in repr(reply)
    return reply


def streaming(*parts: bytes) -> Behaviour:
    async def behave(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, *parts)

    return behave


async def hold_open(exchange: Exchange) -> None:
    await exchange.send(STREAM_HEAD, PIECE)
    await asyncio.Event().wait()


async def cut_by_reset(exchange: Exchange) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    await exchange.send(head, b"%x\r\n%b\r\n" % (len(PIECE), PIECE))
    await exchange.reader.read(0)
    exchange.writer.close()


async def test_a_whole_answer_comes_as_a_turn() -> None:
    reply = await asked(status(200, body=WHOLE, content_type="application/json"))
    assert (reply.turn.ended, reply.turn.text, reply.turn.raw) == (Ended.ANSWER, "Hello.", WHOLE)
    assert (reply.status, reply.streamed, reply.may_repeat) == (200, False, False)


async def test_a_streamed_answer_comes_as_a_turn_that_can_be_read_again() -> None:
    reply = await asked(streaming(PIECE, STOP), stream=True)
    assert (reply.turn.ended, reply.turn.text, reply.streamed) == (Ended.ANSWER, "Hello.", True)
    assert reply.turn.raw == PIECE + STOP


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (reset_at_once, "connection"),
        (reset_before_commit, "connection"),
        (reset_in_the_answer, "connection"),
        (wrong_length, "connection"),
        (garbage, "does not speak HTTP"),
        (endless_head, "HTTP"),
        (silence, "did not begin to answer within 1 s"),
        (slow_head, "did not begin to answer within 1 s"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_broken_connection_runs_nothing_and_may_be_asked_again(
    behave: Behaviour, words: str, stream: bool
) -> None:
    reply = await asked(behave, stream=stream)
    assert (reply.turn.ended, reply.turn.runnable, reply.may_repeat) == (Ended.DROPPED, (), True)
    assert words in reply.turn.reason


async def test_a_server_that_is_not_there_may_be_asked_again() -> None:
    async with upstream(silence) as server:
        gone = server.origin
    model = OpenAIChat("m", base_url=gone, patience=BRIEF)
    reply = await model.ask({"messages": []})
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (0, Ended.DROPPED, True)
    assert reply.turn.reason == "The server could not be reached."


async def test_a_drip_is_ended_by_the_total() -> None:
    patience = Patience(first_byte_s=5.0, between_bytes_s=5.0, total_s=0.3)
    reply = await asked(slow_body, patience=patience)
    assert (reply.turn.reason, reply.may_repeat) == ("The answer was not whole within 0.3 s.", True)


async def test_a_stream_that_stalls_is_ended_by_the_silence() -> None:
    reply = await asked(hold_open, stream=True)
    assert (reply.turn.ended, reply.turn.text) == (Ended.DROPPED, "Hello.")
    assert (reply.turn.reason, reply.may_repeat) == ("The server sent nothing more for 1 s.", True)


@pytest.mark.parametrize("behave", [streaming(PIECE), streaming(PIECE[:30]), streaming(), cut_by_reset])
async def test_a_stream_that_is_cut_runs_nothing(behave: Behaviour) -> None:
    reply = await asked(behave, stream=True)
    assert (reply.turn.ended, reply.turn.runnable, reply.may_repeat) == (Ended.DROPPED, (), True)


async def test_a_stream_that_is_over_is_not_waited_for() -> None:
    async def behave(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, PIECE, STOP)
        await asyncio.Event().wait()

    patience = Patience(first_byte_s=9.0, between_bytes_s=9.0)
    reply = await asyncio.wait_for(asked(behave, stream=True, patience=patience), 3)
    assert (reply.turn.ended, reply.may_repeat) == (Ended.ANSWER, False)


async def test_a_cancelled_ask_closes_its_connection() -> None:
    closed = asyncio.Event()
    begun = asyncio.Event()

    async def behave(exchange: Exchange) -> None:
        await exchange.send(STREAM_HEAD, PIECE)
        begun.set()
        await exchange.reader.read()
        closed.set()

    async with upstream(behave) as server:
        model = model_at(server, stream=True, patience=Patience())
        task = asyncio.create_task(model.ask({"messages": [], "stream": True}))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(closed.wait(), 3)


async def test_a_body_that_is_too_large_is_not_read_to_its_end() -> None:
    sent = 0

    async def behave(exchange: Exchange) -> None:
        nonlocal sent
        await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _ in range(4 * LENGTH_MAX_BYTES // len(CHUNK)):
            await exchange.send(CHUNK)
            sent += len(CHUNK)

    reply = await asked(behave, patience=Patience())
    assert (reply.turn.ended, reply.may_repeat, reply.turn.raw) == (Ended.ERROR, False, b"")
    assert "larger than" in reply.turn.reason
    assert sent < 2 * LENGTH_MAX_BYTES


async def test_an_error_is_read_no_further_than_it_helps() -> None:
    sent = 0

    async def behave(exchange: Exchange) -> None:
        nonlocal sent
        await exchange.send(b"HTTP/1.1 500 No\r\nContent-Type: text/plain\r\n\r\n")
        for _ in range(LENGTH_MAX_BYTES // len(CHUNK)):
            await exchange.send(CHUNK)
            sent += len(CHUNK)

    reply = await asked(behave, patience=Patience())
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (500, Ended.HTTP_ERROR, True)
    assert len(reply.turn.raw) <= 256 * 1024
    assert sent < LENGTH_MAX_BYTES // 2


async def test_an_error_whose_words_never_come_is_still_that_error() -> None:
    async def behave(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 401 No\r\nContent-Length: 99\r\n\r\n{")
        await asyncio.Event().wait()

    reply = await asked(behave)
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (401, Ended.HTTP_ERROR, False)


async def test_an_answer_that_was_compressed_unasked_is_not_unpacked() -> None:
    reply = await asked(bomb)
    assert (reply.turn.ended, reply.may_repeat) == (Ended.ERROR, False)
    assert "compressed" in reply.turn.reason


async def test_no_redirect_is_followed() -> None:
    reply = await asked(status(307, location="http://127.0.0.1:1/elsewhere"))
    assert (reply.status, reply.turn.ended, reply.may_repeat) == (307, Ended.HTTP_ERROR, False)
    assert "base_url" in reply.turn.reason


async def test_a_key_is_found_nowhere_but_in_its_header(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    echoed = json.dumps({"error": {"message": f"Incorrect API key: {PLANTED}", "type": "invalid_request_error"}})
    async with upstream(status(401, body=echoed.replace("/", "\\/").encode())) as server:
        model = model_at(server)
        reply = await model.ask({"messages": []})
        assert server.received[0].headers["authorization"] == f"Bearer {PLANTED}"
    shown = [repr(model), repr(model.options), repr(model._transport.__dict__), repr(reply), str(caplog.records)]
    shown += [record.getMessage() for record in caplog.records]
    assert caplog.records, "httpx and asyncio log at this level"
    assert not [text for text in shown if PLANTED in text or PLANTED.replace("/", "\\/") in text]
    assert "Incorrect API key: [hidden]" in reply.turn.reason


async def test_a_key_that_a_stream_repeats_is_hidden_too() -> None:
    told = b'data: {"error":{"message":"who is ' + PLANTED.encode() + b'?","type":"server_error"}}\n\n'
    reply = await asked(streaming(PIECE, told), stream=True)
    assert (reply.turn.ended, reply.may_repeat) == (Ended.ERROR, True)
    assert b"[hidden]" in reply.turn.raw


async def test_the_environment_s_proxy_is_not_asked_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    reply = await asked(status(200, body=WHOLE))
    assert reply.turn.ended is Ended.ANSWER


async def test_the_environment_s_proxy_is_asked_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with upstream(status(200, body=WHOLE)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.origin)
        model = OpenAIChat("m", base_url="http://model.invalid/v1", patience=Patience(total_s=30.0))
        assert (await model.ask({})).turn.text == "Hello."
        await model.close()
    assert proxy.received[0].target == "http://model.invalid/v1/chat/completions"


async def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "socks9://nowhere")
    monkeypatch.setenv("http_proxy", "socks9://nowhere")
    model = OpenAIChat("m", base_url="http://model.invalid", trust_env=True, patience=BRIEF)
    reply = await model.ask({})
    assert (reply.may_repeat, reply.turn.reason) == (False, "The proxy that the environment names cannot be used.")


def test_what_is_sent_shows_neither_headers_nor_content() -> None:
    sent = Outgoing("https://host/v1", headers={"x-api-key": PLANTED}, content=b"words", streamed=False)
    assert PLANTED not in repr(sent)
    assert "words" not in repr(sent)
    assert PLANTED.encode() in sent.secrets


def test_a_request_that_was_not_sent_runs_nothing() -> None:
    reply = unsent("why")
    assert (reply.status, reply.turn.ended, reply.turn.reason, reply.may_repeat) == (0, Ended.ERROR, "why", False)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_every_wait_is_bounded(seconds: float) -> None:
    with pytest.raises(SettingsInvalid, match="total_s"):
        Patience(total_s=seconds)
