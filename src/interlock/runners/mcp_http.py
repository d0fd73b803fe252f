"""The way of an MCP session over HTTP: what the library sends goes out through the egress guard, on every hop.

The library ends a whole session where one request of it fails, and sends other requests of it down with it. So this
transport raises nothing: it notes on the exchange what broke, and answers in the protocol that there is no answer.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpcore
import httpx2
from mcp.client.streamable_http import streamable_http_client

from interlock.core.frozen import frozen
from interlock.core.http_build import Request
from interlock.core.http_template import Origin
from interlock.runners.egress import EgressRefused, GuardedNetwork
from interlock.runners.exchange import NoAnswer
from interlock.runners.http_exchange import CONNECTIONS_MAX, is_forged, pool_of, system_tls
from interlock.runners.mcp_exchange import GivenUp, McpExchange, current
from interlock.runners.mcp_pace import Pace

NO_ANSWER = -32999
"""The code of an answer of ours in place of one that did not come; the exchange says why."""

TIDYING_S = 2.0
"""How long a message may take that nobody waits for: a cancellation, the end of a session."""

ENDLESS = 1 << 62
"""How long a stream may get on which a server of the older era asks for things; each of them is bounded."""

_DATA = re.compile(rb"[\r\n]data:")
EVENTS_FREE = 20
"""How many events of one answer are part of it: more are read at a pace."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOPS = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "content-length", "content-encoding"})


@frozen
class HttpWay:
    """Where a session goes, by the request that its template was filled to, and within which waits and sizes."""

    request: Request
    connect_s: float
    bytes_max: int


class HttpWays:
    """The connections of all MCP sessions over HTTP. Effects get a connection of their own, as those of HTTP tools."""

    def __init__(self, network: GuardedNetwork, *, tls: ssl.SSLContext | None = None) -> None:
        tls = tls or system_tls()
        self._kept = pool_of(network, tls, kept=CONNECTIONS_MAX)
        self._fresh = pool_of(network, tls, kept=0)

    @asynccontextmanager
    async def open(self, way: HttpWay) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of a session."""
        transport = _Guarded(way, kept=self._kept, fresh=self._fresh)
        url = f"{way.request.origin}{way.request.target}"
        async with (
            httpx2.AsyncClient(transport=transport, trust_env=False, timeout=None) as client,
            streamable_http_client(url, http_client=client, max_sse_event_size=way.bytes_max + 1) as streams,
        ):
            yield streams

    async def close(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()


class _Guarded(httpx2.AsyncBaseTransport):
    """One session's way out. Total but for cancellation."""

    def __init__(
        self, way: HttpWay, *, kept: httpcore.AsyncConnectionPool, fresh: httpcore.AsyncConnectionPool
    ) -> None:
        self._way = way
        self._kept = kept
        self._fresh = fresh
        self._pace = Pace()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = current() or McpExchange(self._way.bytes_max, is_call=False)
        body = await request.aread()
        asked = _asked(body)
        is_listening = request.method == "GET" and "last-event-id" not in request.headers
        if asked is None and (is_listening or request.method != "GET"):
            exchange = McpExchange(ENDLESS if is_listening else self._way.bytes_max, is_call=False)
        try:
            return await self._exchanged(request, body, exchange=exchange, asked=asked)
        except GivenUp:
            return _no_answer(asked)
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
            exchange.broke(_reason(fault))
            return _no_answer(asked)

    async def _exchanged(
        self, request: httpx2.Request, body: bytes, *, exchange: McpExchange, asked: object
    ) -> httpx2.Response:
        if _origin_of(request.url) != self._way.request.origin:
            exchange.broke(NoAnswer("it was redirected to another origin", passes=False))
            return _no_answer(asked)
        pool = self._kept if exchange.is_read else self._fresh
        seconds = None if asked is not None or request.method == "GET" else TIDYING_S
        response = await exchange.within(
            pool.handle_async_request(self._built(request, body, exchange=exchange)), seconds=seconds
        )
        content = _Content(response, exchange, self._pace)
        if response.status in _REDIRECTS and not exchange.is_read:
            await content.aclose()
            exchange.broke(NoAnswer("it was redirected", passes=False))
            return _no_answer(asked)
        if response.status == 404 and "mcp-session-id" in request.headers:
            exchange.is_gone = True
            if asked is not None:
                await content.aclose()
                exchange.progress.is_sent = False  # by the protocol no session has looked at this request
                exchange.broke(NoAnswer("the session has ended"))
                return _no_answer(asked)
        if response.status >= 400 and asked is not None:
            exchange.is_gone |= response.status == 400 and "mcp-session-id" in request.headers
            return await _failed(response, content, exchange=exchange, asked=asked)
        headers = [(name, value) for name, value in response.headers if name.decode("latin-1").lower() not in _HOPS]
        if _header(response, b"content-encoding").strip().lower() not in ("", "identity"):
            await content.aclose()
            exchange.broke(NoAnswer("its answer is compressed, which was not asked for", passes=False))
            return _no_answer(asked)
        return httpx2.Response(response.status, headers=headers, stream=content)

    def _built(self, request: httpx2.Request, body: bytes, *, exchange: McpExchange) -> httpcore.Request:
        """The request to the byte: what the library says of the protocol, and what the tool declares."""
        theirs = {name.lower(): value for name, value in request.headers.items()}
        for name in ("host", "accept-encoding", "connection", "user-agent", "content-length", "cookie"):
            theirs.pop(name, None)
        ours = [("Host", self._way.request.origin.authority), ("User-Agent", "interlock")]
        ours += [*self._way.request.headers, *self._way.request.private]
        if theirs.get("mcp-method") == "tools/call":
            ours += exchange.mirrored.items()
        named = {name.lower() for name, _ in ours}
        headers = [*ours, *[(name, value) for name, value in theirs.items() if name not in named]]
        waits = {"connect": self._way.connect_s, "pool": self._way.connect_s, "read": None, "write": None}
        return httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=self._way.request.origin.scheme,
                host=self._way.request.origin.host.strip("[]"),
                port=self._way.request.origin.port,
                target=request.url.raw_path,
            ),
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers]
            + ([(b"Content-Length", str(len(body)).encode())] if body or request.method == "POST" else []),
            content=body or None,
            extensions={"timeout": waits, "trace": _Trace(exchange)},
        )


class _Trace:
    """What httpcore tells of its steps."""

    def __init__(self, exchange: McpExchange) -> None:
        self._exchange = exchange

    async def __call__(self, name: str, _: object) -> None:
        if name.endswith("send_request_headers.started") and self._exchange.is_call:
            self._exchange.progress.is_sent = True


class _Content(httpx2.AsyncByteStream):
    """The body of an answer, within its limit; one that breaks off ends early, and the exchange says why."""

    def __init__(self, response: httpcore.Response, exchange: McpExchange, pace: Pace) -> None:
        self._response = response
        self._exchange = exchange
        self._pace = pace
        self._events = 0
        self._is_stream = _header(response, b"content-type").startswith("text/event-stream")
        self._size = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = self._response.aiter_stream().__aiter__()
        while True:
            try:
                chunk = await self._exchange.within(_next(chunks))
            except GivenUp:
                return
            except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
                self._exchange.broke(_reason(fault))
                return
            if chunk is None:
                return
            self._size += len(chunk)
            if self._size > self._exchange.bytes_max:
                self._exchange.broke(NoAnswer("a message of it is too large", passes=False))
                return
            yield chunk
            if self._is_stream and (events := len(_DATA.findall(chunk))):
                self._events += events
                with suppress(GivenUp):
                    await self._exchange.within(self._pace.take(min(events, max(0, self._events - EVENTS_FREE))))

    async def aclose(self) -> None:
        with suppress(Exception):
            await self._response.aclose()


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


async def _failed(
    response: httpcore.Response, content: _Content, *, exchange: McpExchange, asked: object
) -> httpx2.Response:
    """An answer that is no success: the error of the protocol that it holds, or none that anyone could rely on."""
    data = b"".join([chunk async for chunk in content])
    await content.aclose()
    said = _json(data)
    if isinstance(said, dict) and isinstance(said.get("error"), dict) and said.get("jsonrpc") == "2.0":
        return _response(200, data, "application/json") if said.get("id") == asked else _told(asked, said["error"])
    exchange.status = response.status
    exchange.broke(NoAnswer(f"its status is {response.status}", passes=response.status in _PASSING))
    return _no_answer(asked)


_PASSING = frozenset({429, 502, 503, 504})


def _reason(fault: BaseException) -> NoAnswer:
    if isinstance(fault, EgressRefused):
        return NoAnswer("its host has an address that egress_allow does not list", passes=False)
    if isinstance(fault, httpcore.ConnectError):
        forged = is_forged(fault)
        return NoAnswer("its certificate is not valid" if forged else "it cannot be reached", passes=not forged)
    if isinstance(fault, httpcore.TimeoutException | TimeoutError):
        return NoAnswer("it did not answer in time")
    if isinstance(fault, httpcore.LocalProtocolError):
        return NoAnswer("the request is no HTTP", passes=False)
    if isinstance(fault, httpcore.NetworkError | httpcore.ProtocolError | OSError):
        return NoAnswer("the connection broke off")
    return NoAnswer(f"reading it failed with {type(fault).__name__}", passes=False)


def _asked(body: bytes) -> object:
    """The id of the request in a message; None for one that is answered by nothing."""
    message = _json(body)
    return message.get("id") if isinstance(message, dict) and "method" in message else None


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _no_answer(asked: object) -> httpx2.Response:
    return _response(202) if asked is None else _told(asked, {"code": NO_ANSWER, "message": "no answer"})


def _told(asked: object, error: object) -> httpx2.Response:
    data = json.dumps({"jsonrpc": "2.0", "id": asked, "error": error}).encode()
    return _response(200, data, "application/json")


def _response(status: int, data: bytes = b"", media_type: str = "") -> httpx2.Response:
    return httpx2.Response(status, headers={"content-type": media_type} if media_type else {}, content=data)


def _origin_of(url: httpx2.URL) -> Origin:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return Origin(url.scheme, host, url.port or {"http": 80, "https": 443}.get(url.scheme, 0))


def _header(response: httpcore.Response, name: bytes) -> str:
    return next((value.decode("latin-1") for each, value in response.headers if each.lower() == name), "")
