"""A server on loopback that is as hostile as it is told to be, and knows what it was really asked and did.

It speaks in raw bytes, so that it can break off anywhere. `behave` is what it does with each request.
"""

import asyncio
import gzip
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from tests.execution import passing

CHUNK = b"x" * 65_536


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Upstream:
    """What runs on one port. `done` counts what was really done, by target and body."""

    behave: "Behaviour"
    port: int = 0
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    done: Counter[tuple[str, bytes]] = field(default_factory=Counter)
    sent: int = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def commit(self, request: Received) -> None:
        self.done[request.target, request.body] += 1


@dataclass
class Exchange:
    """One request on one connection, to be answered."""

    upstream: Upstream
    request: Received
    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader

    async def send(self, *parts: bytes) -> None:
        for part in parts:
            self.writer.write(part)
            await self.writer.drain()
            self.upstream.sent += len(part)

    async def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """A sound answer; `content_type` and the like are headers."""
        named = {"content-length": str(len(body)), "connection": "close", **headers}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in named.items()]
        head = "\r\n".join([f"HTTP/1.1 {status} Said", *lines, "", ""])
        await self.send(head.encode(), body)

    def reset(self) -> None:
        self.writer.transport.abort()


Behaviour = Callable[[Exchange], Awaitable[None]]


@asynccontextmanager
async def upstream(behave: Behaviour) -> AsyncIterator[Upstream]:
    """A server that behaves so, for as long as it is needed."""
    found = Upstream(behave)
    busy: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        found.connections += 1
        # Clients break off, and so does the end of the test: that is what this server is for.
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await _serve(found, reader, writer)
        busy.discard(task)
        writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        for task in tuple(busy):
            task.cancel()
        await server.wait_closed()


async def _serve(found: Upstream, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if found.behave is reset_at_once:
        found.received.append(Received("", "", {}, b""))
        writer.transport.abort()
        return
    request = await _read(reader)
    found.received.append(request)
    await found.behave(Exchange(found, request, writer, reader))


async def _read(reader: asyncio.StreamReader) -> Received:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, target, headers, body)


async def next_request(exchange: Exchange) -> None:
    """Wait for another request on the same connection."""
    exchange.upstream.received.append(await _read(exchange.reader))


async def ok(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.answer(200, b'{"done":true}', content_type="application/json")


async def reset_at_once(exchange: Exchange) -> None:
    """Never called: the connection is reset before the request is read."""


async def reset_before_commit(exchange: Exchange) -> None:
    exchange.reset()


async def reset_after_commit(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    exchange.reset()


async def reset_in_the_answer(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
    exchange.reset()


async def wrong_length(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.answer(200, b'{"done":', content_length="99")


async def silence(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await asyncio.Event().wait()


async def slow_head(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\n")
    for number in range(1_000_000):
        await exchange.send(b"x-%d: y\r\n" % number)
        await passing(0.02)


async def slow_body(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    while True:
        await exchange.send(b" ")
        await passing(0.02)


async def garbage(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"\x16\x03\x01 this is no HTTP\r\n\r\n")


async def endless_head(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\n", *[b"x: " + CHUNK + b"\r\n"] * 300)


async def twenty_megabytes(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 20971520\r\n\r\n")
    await exchange.send(*[CHUNK] * 320)


async def twenty_megabytes_of_bytes(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: 20971520\r\n\r\n")
    await exchange.send(*[CHUNK] * 320)


async def bomb(exchange: Exchange) -> None:
    exchange.upstream.commit(exchange.request)
    await exchange.answer(200, BOMB, content_encoding="gzip", content_type="text/plain")


BOMB = gzip.compress(b"0" * 50_000_000, 9)


def status(code: int, *, commits: bool = False, body: bytes = b"no", **headers: str) -> Behaviour:
    """Answers with a status, having done it or not."""

    async def behave(exchange: Exchange) -> None:
        if commits:
            exchange.upstream.commit(exchange.request)
        await exchange.answer(code, body, **headers)

    return behave


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other, the last for ever."""

    async def behave(exchange: Exchange) -> None:
        number = min(len(exchange.upstream.received), len(behaviours)) - 1
        await behaviours[number](exchange)

    return behave


class Names:
    """A resolver whose answers are given, one list after the other, the last for ever; none is no such name."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        found = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if not found:
            raise OSError(host)
        return found
