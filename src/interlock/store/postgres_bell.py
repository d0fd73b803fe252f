"""Tells other processes on the same PostgreSQL what a batch has let go of, so that who waits for it need not poll.

It only spares time: a word may be lost with a connection, and nobody relies on hearing one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Final

import orjson
import psycopg

from interlock.core.budget import ScopeKey, ScopeKind
from interlock.core.errors import StoreError
from interlock.store.postgres_line import Line, shown

log = logging.getLogger("interlock.store")

Wake = Callable[[ScopeKey], None]

_WORDS_MAX: Final = 20
"""Scopes in one notification, which holds 8,000 bytes."""

_AGAIN_S: Final = 5.0

_REST_S: Final = 0.02
"""How long nothing is said after something was: a word costs a commit and wakes every process, whoever waits there."""


class Bell:
    """Owns the connection that listens and rings."""

    def __init__(self, url: str, *, wake: Wake) -> None:
        self._url = url
        self._wake = wake
        self._line: Line | None = None
        self._let_go: set[ScopeKey] = set()
        self._rung = asyncio.Event()
        self.is_listening = asyncio.Event()
        self._task = asyncio.create_task(self._work())

    def ring(self, scopes: Iterable[ScopeKey]) -> None:
        """Something of these scopes was let go of, and that is committed."""
        self._let_go.update(scopes)
        if self._let_go:
            self._rung.set()

    async def close(self) -> None:
        """Say and hear nothing more."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._line is not None:
            await self._line.close()

    async def _work(self) -> None:
        while True:
            try:
                await self._listen()
                await self._rung.wait()
                await self._say()
                await asyncio.sleep(_REST_S)
            except (psycopg.Error, StoreError) as fault:
                log.warning("waiting calls are not woken at %s: %s", shown(self._url), type(fault).__name__)
                await asyncio.sleep(_AGAIN_S)

    async def _listen(self) -> None:
        if self._line is None or self._line.is_broken:
            self._line = await Line.open(self._url)
            self._line.hear = self._heard
            self._line.lost = self._rung.set  # or who only waits would not listen again before it has something to say
            await self._line.trip(("listen", ()))
            self.is_listening.set()

    async def _say(self) -> None:
        self._rung.clear()
        scopes, self._let_go = sorted(self._let_go), set()
        words = [scopes[at : at + _WORDS_MAX] for at in range(0, len(scopes), _WORDS_MAX)]
        # One that is too long for a notification is found by who polls.
        said = [text for each in words if len(text := orjson.dumps([[*scope] for scope in each])) < 8_000]
        if self._line is not None and said:
            await self._line.trip(*[("notify", (text.decode(),)) for text in said])

    def _heard(self, text: str) -> None:
        try:
            scopes = [
                ScopeKey(tenant, ScopeKind(kind), name, window) for tenant, kind, name, window in orjson.loads(text)
            ]
        except (TypeError, ValueError):
            # Whoever may use the database may notify too.
            return
        for scope in scopes:
            self._wake(scope)
