"""The judge: a database apart, in which tools of killed processes leave every effect, and callers what they heard."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import apsw

from interlock import Context, LookUpRule, Observation, Status
from interlock.core.journal import AuditRecord
from tests.simulation.verdict import Facts, Heard
from tests.simulation.world import Mood, fail_after, fail_before

SCHEMA = """
CREATE TABLE IF NOT EXISTS started (operation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (tool TEXT NOT NULL, key TEXT NOT NULL, operation TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS told (tool TEXT, call TEXT, status TEXT, operation TEXT, chain TEXT, sequence INTEGER);
"""
MOODS = (*[Mood.WELL] * 8, Mood.BUSY, Mood.BREAKS_BEFORE, Mood.BREAKS_AFTER)

LOOK_UPS = LookUpRule(attempts=1_000, first_pause_s=1e-6, growth=1)
"""Always due again: what a killed process was about to look up can be found out at once."""


class Judge:
    """Writes down what happens in the world, at once. Every connection is one thread's, for one moment."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._connected() as connection:
            connection.execute(SCHEMA)

    def start(self, operation: str) -> None:
        """A tool's code was entered."""
        with self._connected() as connection:
            connection.execute("INSERT INTO started VALUES (?)", (operation,))

    def effect(self, tool: str, key: str, *, operation: str) -> None:
        """It has happened."""
        with self._connected() as connection:
            connection.execute("INSERT INTO effects VALUES (?, ?, ?)", (tool, key, operation))

    def hear(self, seen: Observation) -> None:
        """Somebody was given this observation."""
        receipt = seen.receipt
        place = (None, None) if receipt is None else (receipt.chain, receipt.sequence)
        with self._connected() as connection:
            row = (seen.tool, seen.call_id, seen.status.value, seen.operation_id, *place)
            connection.execute("INSERT INTO told VALUES (?, ?, ?, ?, ?, ?)", row)

    def effects(self, tool: str | None = None, key: str | None = None) -> int:
        """How many there are."""
        sql = "SELECT count(*) FROM effects WHERE tool = ifnull(?, tool) AND key = ifnull(?, key)"
        return int(self._rows(sql, (tool, key))[0][0])

    def did(self, operation: str) -> bool:
        """Whether this operation has taken effect."""
        return bool(self._rows("SELECT 1 FROM effects WHERE operation = ?", (operation,)))

    def things(self, tool: str) -> list[str]:
        """What a tool did, in the order in which it happened, as often as it did."""
        return [key for (key,) in self._rows("SELECT key FROM effects WHERE tool = ? ORDER BY rowid", (tool,))]

    def facts(self, records: tuple[AuditRecord, ...]) -> Facts:
        """All that was seen, with the records that stand at the receipts."""
        by_place = {(each.record.chain, each.record.sequence): (each.kind, each.call) for each in records}
        effects, told = self._rows("SELECT tool, key, operation FROM effects"), self._rows("SELECT * FROM told")
        return Facts(
            Counter((tool, key) for tool, key, _ in effects),
            Counter(operation for (operation,) in self._rows("SELECT operation FROM started")),
            Counter(operation for _, _, operation in effects),
            [
                Heard(tool, call, Status(status), operation or "", by_place.get((chain, sequence)))
                for tool, call, status, operation, chain, sequence in told
            ],
            look_ups=LOOK_UPS,
        )

    def _rows(self, sql: str, values: tuple[str | None, ...] = ()) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[apsw.Connection]:
        connection = apsw.Connection(str(self._path))
        try:
            connection.set_busy_timeout(10_000)
            # Being killed leaves alone what the operating system was given: it need not reach the disk.
            connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
            with connection:
                yield connection
        finally:
            connection.close()


class JudgedWorld:
    """A world for `Stage` whose effects are the judge's rows. Each tool works in a thread, so that others go on."""

    def __init__(self, judge: Judge, *, seed: int) -> None:
        self._judge = judge
        self._random = Random(seed)

    async def act(self, name: str, context: Context) -> str:
        """One execution."""
        mood = self._random.choice(MOODS)
        await asyncio.to_thread(self._judge.start, context.operation_id)
        fail_before(mood)
        await asyncio.to_thread(self._judge.effect, name, context.key, operation=context.operation_id)
        fail_after(mood)
        return context.key

    async def find(self, name: str, context: Context) -> str | None:
        """The key, where the effect is there."""
        found = await asyncio.to_thread(self._judge.effects, name, context.key)
        return context.key if found else None

    async def look(self) -> int:
        """How many effects there are."""
        return await asyncio.to_thread(self._judge.effects)
