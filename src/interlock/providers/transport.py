"""Sends one request to a model's server and gives what came of it, whatever the server and the network do.

Every wait is bounded: for the connection, for the first byte of the answer, between two of them, and for all of it.
Nothing is sent twice here, no redirect is followed, and what is told of a fault never holds a header.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

import httpx

from interlock.core.errors import SettingsInvalid
from interlock.loop.model import Reply
from interlock.models.codec import Codec
from interlock.models.turn import Ended
from interlock.providers.faults import REPEATABLE
from interlock.providers.incoming import Incoming, nothing

CONNECTIONS_MAX: Final = 256
DRAIN_S: Final = 0.05
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
_SECRET_NAMES: Final = ("auth", "key", "token", "secret", "cookie", "credential")
_SECRET_CHARACTERS_MIN: Final = 8
_FIXED: Final = {"accept-encoding": "identity", "user-agent": "interlock"}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a model's server is waited for, in seconds.

    A model that thinks may say nothing for minutes: before its answer, and within a stream.
    """

    connect_s: float = 10.0
    first_byte_s: float = 300.0
    between_bytes_s: float = 120.0
    total_s: float = 900.0

    def __post_init__(self) -> None:
        for name in ("connect_s", "first_byte_s", "between_bytes_s", "total_s"):
            if not 0 < getattr(self, name) < float("inf"):
                raise SettingsInvalid(f"patience: {name} must be a number of seconds above 0")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request, ready to be sent."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(repr=False)
    streamed: bool

    @property
    def kept(self) -> bool:
        """Its connection is worth keeping: making one cost a handshake."""
        return self.url.startswith("https:")

    @property
    def secrets(self) -> tuple[bytes, ...]:
        """What its headers hold that must never be shown, as it may be spelled in JSON."""
        return tuple(_spellings(self.headers))


class Transport:
    """The connections to one server. They are opened as they are needed, and belong to one event loop at a time."""

    def __init__(
        self,
        codec: Codec,
        *,
        patience: Patience,
        trust_env: bool | None = None,
        repeatable: frozenset[int] = REPEATABLE,
    ) -> None:
        self._codec = codec
        self._patience = patience
        self._trust_env = trust_env
        self._repeatable = repeatable
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, sent: Outgoing) -> Reply:
        """Send it, once, and read the answer. Never raises for what the server or the network does."""
        came = Incoming(self._codec, streamed=sent.streamed, secrets=sent.secrets, repeatable=self._repeatable)
        alarm = _Alarm(self._patience)
        try:
            client = self._connected(sent)
            async with alarm.timeout:
                await _exchange(client, sent, came=came, alarm=alarm)
        except TimeoutError:
            came.fail(alarm.reason, transient=True)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError) as fault:
            came.fail(_sentence(fault), transient=isinstance(fault, httpx.TransportError) and not _is_ours(fault))
        except (ImportError, ValueError):
            # What the environment names as a proxy: httpx reads it when its client is made.
            came.fail("The proxy that the environment names cannot be used.", transient=False)
        return came.reply(now_s=time.time())

    async def close(self) -> None:
        """Let go of connections. Asking again opens new ones."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _connected(self, sent: Outgoing) -> httpx.AsyncClient:
        """The client of this event loop. One of a loop that has ended cannot be used, nor closed."""
        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            self._client, self._loop = self._opened(sent), loop
        return self._client

    def _opened(self, sent: Outgoing) -> httpx.AsyncClient:
        """A server may close a kept connection at any time. On loopback a proxy would be a mistake."""
        patience = self._patience
        kept = CONNECTIONS_MAX if sent.kept else 0
        host = urlsplit(sent.url).hostname
        return httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=patience.connect_s, write=patience.between_bytes_s),
            limits=httpx.Limits(max_connections=CONNECTIONS_MAX, max_keepalive_connections=kept),
            trust_env=host not in _LOOPBACK if self._trust_env is None else self._trust_env,
            follow_redirects=False,
        )


class _Alarm:
    """One timeout for all of an exchange, moved on as bytes come, which knows what is waited for."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._now = asyncio.get_running_loop().time
        self._end = self._now() + patience.total_s
        self._began = False
        self.timeout = asyncio.timeout_at(min(self._end, self._now() + patience.first_byte_s))

    def heard(self) -> None:
        """A byte came."""
        self._began = True
        self.timeout.reschedule(min(self._end, self._now() + self._patience.between_bytes_s))

    @property
    def reason(self) -> str:
        """What was waited for in vain."""
        if self._now() >= self._end:
            return f"The answer was not whole within {self._patience.total_s:g} s."
        if self._began:
            return f"The server sent nothing more for {self._patience.between_bytes_s:g} s."
        return f"The server did not begin to answer within {self._patience.first_byte_s:g} s."


async def _exchange(client: httpx.AsyncClient, sent: Outgoing, *, came: Incoming, alarm: _Alarm) -> None:
    headers = {**_FIXED, **sent.headers}
    async with client.stream("POST", sent.url, headers=headers, content=sent.content) as response:
        came.begin(response.status_code, headers=dict(response.headers.items()))
        pieces = response.aiter_raw()
        await _read(pieces, came=came, alarm=alarm)
        if came.over and sent.kept:
            await _read_out(pieces)


async def _read(pieces: AsyncIterator[bytes], *, came: Incoming, alarm: _Alarm) -> None:
    while not came.over and (piece := await anext(pieces, None)) is not None:
        alarm.heard()
        came.take(piece)


async def _read_out(pieces: AsyncIterator[bytes]) -> None:
    """What follows the end of a turn is the end of the body: a connection that is read out can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            await anext(pieces, None)


def _sentence(fault: Exception) -> str:
    """What happened, in words of ours: those of libraries may hold what was sent."""
    known: Sequence[tuple[type[Exception], str]] = (
        (httpx.ConnectTimeout, "The server could not be reached in time."),
        (httpx.ProxyError, "The proxy did not let the request through."),
        (httpx.ConnectError, "The server could not be reached."),
        (httpx.RemoteProtocolError, "The server ended the connection, or does not speak HTTP."),
        (httpx.NetworkError, "The connection broke."),
        (httpx.TimeoutException, "The server did not take the request in time."),
        (httpx.LocalProtocolError, "The request cannot be sent: a header holds what HTTP does not allow."),
        (httpx.UnsupportedProtocol, "The request cannot be sent: `base_url` must begin with https:// or http://."),
        (httpx.InvalidURL, "The request cannot be sent: `base_url` is no address."),
    )
    return next((words for kind, words in known if isinstance(fault, kind)), "The request could not be sent.")


def _is_ours(fault: Exception) -> bool:
    return isinstance(fault, httpx.LocalProtocolError | httpx.UnsupportedProtocol)


def _spellings(headers: Mapping[str, str]) -> Iterator[bytes]:
    hidden = (value for name, value in headers.items() if any(part in name.lower() for part in _SECRET_NAMES))
    for secret in (word for value in hidden for word in value.split() if len(word) >= _SECRET_CHARACTERS_MIN):
        yield secret.encode()
        yield secret.replace("/", "\\/").encode()


def unsent(reason: str) -> Reply:
    """The reply to a request that was never sent."""
    return Reply(nothing(reason, ended=Ended.ERROR), status=0)
