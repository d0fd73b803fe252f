"""Over TLS a connection is kept from one request to the next, belongs to its event loop, and is to a trusted server."""

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.models.turn import Ended
from interlock.providers import OpenAIChat, Patience
from tests.certificates import certificate_of

PIECE = b'data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = {"stream": True}


@dataclass
class Kept:
    """A server that keeps its connections: where it is, and how much it was asked."""

    port: int = 0
    connections: int = 0
    requests: int = 0

    @property
    def base_url(self) -> str:
        return f"https://localhost:{self.port}/v1"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return certificate_of("localhost", tmp_path)


@asynccontextmanager
async def keeping(certificate: Path, *, port: int = 0) -> AsyncIterator[Kept]:
    found = Kept()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.connections += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                await _answer(reader, writer)
                found.requests += 1
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))
    writer.write(HEAD + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (PIECE, DONE)))
    await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def trusted(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setenv("NO_PROXY", "*")


def model_at(server: Kept) -> OpenAIChat:
    return OpenAIChat("m", base_url=server.base_url, trust_env=True, patience=Patience(first_byte_s=5.0))


async def test_a_connection_is_used_again_after_a_turn_that_was_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    trusted(monkeypatch, certificate)
    async with keeping(certificate) as server:
        model = model_at(server)
        for _ in range(3):
            reply = await model.ask(BODY)
            assert (reply.turn.ended, reply.turn.text) == (Ended.ANSWER, "Hello."), reply.turn
        await model.close()
    assert (server.requests, server.connections) == (3, 1)


# A loop that ends with connections open leaves them to be collected, and Python says so.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_model_can_be_asked_from_one_event_loop_after_another(
    monkeypatch: pytest.MonkeyPatch, certificate: Path
) -> None:
    trusted(monkeypatch, certificate)

    async def ask(model: OpenAIChat | None, *, port: int = 0) -> tuple[OpenAIChat, int]:
        async with keeping(certificate, port=port) as server:
            model = model or model_at(server)
            assert (await model.ask(BODY)).turn.text == "Hello."
            return model, server.port

    model, port = asyncio.run(ask(None))
    asyncio.run(ask(model, port=port))
    asyncio.run(model.close())
    del model
    gc.collect()


async def test_a_server_with_an_unknown_certificate_is_told_nothing(certificate: Path) -> None:
    async with keeping(certificate) as server:
        model = OpenAIChat("m", base_url=server.base_url, api_key="sk-planted", patience=Patience(first_byte_s=5.0))
        reply = await model.ask(BODY)
        await model.close()
    assert (reply.status, reply.turn.ended, server.requests) == (0, Ended.DROPPED, 0)
