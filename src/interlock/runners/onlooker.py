"""Tells the host how far a call is, by its tool's own word: cleaned, redacted, and not more often than anyone can read.

It is told and nothing else: no timeout grows by it, and nothing of it is kept.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Protocol

from interlock.core.redaction import Redactor
from interlock.core.text import clean
from interlock.ports import Invocation, Onlooker, Progressed
from interlock.runtime.faults import report

PAUSE_S = 0.1
"""How long after one word of a call the next is told; those between are left out."""

WORDS_MAX = 512

LOG = logging.getLogger("interlock.tools")


class Told(Protocol):
    """Takes what a tool says: how much is done, of how much, in which words."""

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None: ...


class Telling:
    """Tells a host's onlooker, where there is one."""

    def __init__(self, onlooker: Onlooker | None, redactor: Redactor) -> None:
        self._onlooker = onlooker
        self._redactor = redactor

    def of(self, invocation: Invocation) -> Told | None:
        """Where the words of this call are to go; None where nobody looks on."""
        if self._onlooker is None:
            return None
        redactor = self._redactor.with_secrets(invocation.secrets.values())
        return _Call(self._onlooker, invocation, redactor=redactor).told


class _Call:
    """One call's words: each must say more than the one before, as the protocol has it."""

    def __init__(self, onlooker: Onlooker, invocation: Invocation, *, redactor: Redactor) -> None:
        self._onlooker: Onlooker | None = onlooker
        self._invocation = invocation
        self._redactor = redactor
        self._done = -math.inf
        self._next_s = -math.inf

    async def told(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell it, unless it is no progress, or comes too soon."""
        now_s = asyncio.get_running_loop().time()
        if self._onlooker is None or not math.isfinite(progress) or progress <= self._done or now_s < self._next_s:
            return
        self._done, self._next_s = progress, now_s + PAUSE_S
        operation = self._invocation.operation
        shown = self._redactor.text(clean((message or "")[: 4 * WORDS_MAX]).text)[:WORDS_MAX]
        whole = total if total is not None and math.isfinite(total) else None
        made = Progressed(
            operation.caller.principal.tenant,
            operation.spec.name,
            operation.call.id,
            self._invocation.operation_id,
            done=progress,
            total=whole,
            words=shown,
        )
        try:
            self._onlooker.progressed(made)
        except Exception as fault:  # noqa: BLE001 - a host's fault is no fault of the call
            what = f"{made.tool}, operation {made.operation_id}: its progress could not be told"
            report(LOG, what, fault=fault, redactor=self._redactor)
            self._onlooker = None
