"""Sends one built request and reads its answer: the connections, the redirects, and how far it got if it broke off."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from urllib.parse import urljoin

import certifi
import httpcore

from interlock.core.errors import SpecInvalid, StoreError
from interlock.core.frozen import frozen
from interlock.core.http_answer import Answer, is_text
from interlock.core.http_build import Request
from interlock.core.http_template import read_url
from interlock.runners.egress import EgressRefused
from interlock.runners.exchange import NoAnswer, Progress, Terms
from interlock.runners.http_body import read_body
from interlock.runners.spool import HELD_BACK

REDIRECTS_MAX = 5
CONNECTIONS_MAX = 100
IDLE_S = 15.0
"""How long a connection is kept for the next read: less than servers do, so that few are found closed."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PUBLIC = frozenset({"accept", "accept-encoding", "user-agent"})
"""Headers that another origin is sent after a redirect; all others may hold arguments or keys."""


async def _trace(progress: Progress, name: str, _: object) -> None:
    """What httpcore tells of its steps."""
    if name.endswith("send_request_headers.started"):
        progress.is_sent = True


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether httpcore is at work for a tool here: what it logs holds headers, which may hold credentials sent back."""


class _Quiet(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not _QUIET.get()


def quieten(*names: str) -> None:
    """Have these loggers say nothing `quietly`."""
    for name in names:
        logging.getLogger(name).addFilter(_Quiet())


quieten("httpcore.connection", "httpcore.http11")


@contextmanager
def quietly() -> Iterator[None]:
    """What httpcore logs within is dropped."""
    before = _QUIET.set(True)
    try:
        yield
    finally:
        _QUIET.reset(before)


def set_quiet() -> None:
    """From here on, for as long as this task lives."""
    _QUIET.set(True)


class Exchanges:
    """The connections of all HTTP tools of a process.

    Reads share connections that are kept alive. An effect gets one of its own: one that its server is about to close
    would lose the request, and leave it unknown.
    """

    def __init__(self, network: httpcore.AsyncNetworkBackend, *, tls: ssl.SSLContext | None = None) -> None:
        tls = tls or system_tls()
        self._kept = pool_of(network, tls, kept=CONNECTIONS_MAX)
        self._fresh = pool_of(network, tls, kept=0)

    async def send(self, request: Request, *, terms: Terms, progress: Progress) -> Answer | NoAnswer:
        """The answer to it, or to where it was redirected. Total but for cancellation."""
        with quietly():
            return await self._followed(request, terms=terms, progress=progress)

    async def close(self) -> None:
        """Close every connection."""
        await self._kept.aclose()
        await self._fresh.aclose()

    async def _followed(self, request: Request, *, terms: Terms, progress: Progress) -> Answer | NoAnswer:
        for hop in range(REDIRECTS_MAX + 1):
            found = await self._once(request, terms=terms, progress=progress)
            if isinstance(found, NoAnswer) and hop:
                return _ASTRAY
            if not isinstance(found, _Moved):
                return found
            followed = redirected(request, found.location)
            if isinstance(followed, NoAnswer):
                return followed
            request = followed
        return NoAnswer("it was redirected too often", passes=False)

    async def _once(self, request: Request, *, terms: Terms, progress: Progress) -> Answer | NoAnswer | _Moved:
        try:
            return await self._exchanged(request, terms=terms, progress=progress)
        except EgressRefused:
            return NoAnswer("its host has an address that egress_allow does not list", passes=False)
        except httpcore.ConnectError as fault:
            forged = is_forged(fault)
            return NoAnswer("its certificate is not valid" if forged else "it cannot be reached", passes=not forged)
        except (httpcore.TimeoutException, TimeoutError):
            return NoAnswer("it did not answer in time")
        except httpcore.LocalProtocolError:
            return NoAnswer("the request is no HTTP", passes=False)
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError):
            return NoAnswer("the connection broke off")
        except StoreError:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
            return NoAnswer(f"reading it failed with {type(fault).__name__}", passes=False)

    async def _exchanged(self, request: Request, *, terms: Terms, progress: Progress) -> Answer | _Moved:
        pool = self._kept if terms.is_read else self._fresh
        waits = {"connect": terms.connect_s, "pool": terms.connect_s, "read": terms.read_s, "write": terms.read_s}
        async with pool.stream(
            request.method,
            _url(request),
            headers=[("Host", request.origin.authority), *request.headers, *request.private],
            content=request.body if request.body or request.method in _HAS_BODY else None,
            extensions={"timeout": waits, "trace": partial(_trace, progress)},
        ) as response:
            head = _Head(response.headers)
            follows = terms.is_read and terms.is_redirected and request.method in _REDIRECTED
            if follows and response.status in _REDIRECTS and head.get("location"):
                return _Moved(head.get("location"))
            answer = await _answer(response, head, terms=terms)
            if not _is_clean(response):
                await response.extensions["network_stream"].aclose()
            return answer


_ASTRAY = NoAnswer("it was redirected to where no answer came from", passes=False)
"""All that is told of what is behind a redirect: else a server could have a network looked over, address by address."""

_HAS_BODY = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTED = frozenset({"GET", "HEAD"})


@frozen
class _Moved:
    location: str


def redirected(request: Request, location: str) -> Request | NoAnswer:
    """The request to where an answer sends it. Another origin gets none of its credentials and headers."""
    try:
        if not (location.isascii() and location.isprintable()):
            raise SpecInvalid(location)
        url = read_url(urljoin(f"{request.origin}{request.target}", location.partition("#")[0]))
    except (SpecInvalid, ValueError):
        return NoAnswer("it was redirected to what is no address", passes=False)
    if request.origin.scheme == "https" and url.origin.scheme != "https":
        return NoAnswer("it was redirected to an address without encryption", passes=False)
    target = url.path + (f"?{url.query}" if url.query else "")
    if url.origin == request.origin:
        return Request(request.method, url.origin, target, request.headers, request.private)
    headers = tuple((name, value) for name, value in request.headers if name.lower() in _PUBLIC)
    return Request(request.method, url.origin, target, headers)


def is_forged(fault: BaseException | None) -> bool:
    """Whether the server is not who it says; libraries wrap that more than once."""
    while fault is not None and not isinstance(fault, ssl.SSLCertVerificationError):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


class _Head:
    """The headers of an answer, as text; of one that came twice, the first."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self._values: dict[str, str] = {}
        for name, value in headers:
            self._values.setdefault(name.decode("ascii", "replace").lower(), value.decode("latin-1"))

    def get(self, name: str) -> str:
        return self._values.get(name, "")

    def size(self) -> int | None:
        """The whole size that the body is said to have, where that is the size of what is shown."""
        text = self.get("content-length")
        is_plain = self.get("content-encoding") in ("", "identity")
        return int(text) if is_plain and text.isascii() and text.isdigit() and len(text) < 16 else None


def _is_clean(response: httpcore.Response) -> bool:
    """Whether nothing came behind the answer: on a connection that is kept it would answer the next request.

    No library tells. Where the parser cannot be asked, the answer is no, and the connection is not used again.
    """
    stream = getattr(response.stream, "_stream", None)
    parser = getattr(getattr(stream, "_connection", None), "_h11_state", None)
    return parser is not None and not parser.trailing_data[0]


async def _answer(response: httpcore.Response, head: _Head, *, terms: Terms) -> Answer:
    encoding = head.get("content-encoding").strip().lower()
    is_kept = terms.spool is not None and 200 <= response.status < 300 and _is_utf8(head.get("content-type"))
    spool = terms.spool() if terms.spool is not None and is_kept else None
    beyond = HELD_BACK if spool is None and is_text(head.get("content-type")) else 0  # what is cut may be hidden
    taken = await read_body(response.aiter_stream(), encoding=encoding, limit=terms.limit + beyond, spool=spool)
    return Answer(
        response.status,
        taken.data,
        head.get("content-type"),
        head.size(),
        taken.is_whole,
        taken.is_readable,
        head.get("retry-after"),
        head.get("date"),
        taken.whole,
    )


def _is_utf8(media_type: str) -> bool:
    _, _, charset = media_type.lower().partition("charset=")
    return is_text(media_type) and charset.strip(" \"';") in ("", "utf-8", "us-ascii")


def _url(request: Request) -> httpcore.URL:
    host = request.origin.host.strip("[]")
    return httpcore.URL(
        scheme=request.origin.scheme, host=host, port=request.origin.port, target=request.target.encode()
    )


def pool_of(network: httpcore.AsyncNetworkBackend, tls: ssl.SSLContext, *, kept: int) -> httpcore.AsyncConnectionPool:
    """Connections through this network, of which so many are kept alive."""
    return httpcore.AsyncConnectionPool(
        ssl_context=tls,
        max_connections=CONNECTIONS_MAX,
        max_keepalive_connections=kept,
        keepalive_expiry=IDLE_S,
        network_backend=network,
    )


@cache
def system_tls() -> ssl.SSLContext:
    """Certificates that the system trusts, and those of Mozilla where it has none. To make it takes 20 ms: one is."""
    context = ssl.create_default_context()
    with suppress(OSError):
        context.load_verify_locations(certifi.where())
    return context
