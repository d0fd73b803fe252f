"""What killed runs act on: a scripted model, tools, and a judge apart that counts what was asked, begun and done."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, ParamSpec, Protocol, TypeVar, cast

import apsw

from interlock import Context, tool
from interlock.loop.model import Price, Reply
from interlock.models import openai_chat
from interlock.models.codec import Codec, Options
from interlock.models.dialects import Dialect
from interlock.providers.incoming import nothing
from interlock.testing.models import OPTIONS, Said, reply_of
from tests.waiting import later

SCHEMA = """
CREATE TABLE IF NOT EXISTS asked (run TEXT NOT NULL, turn TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS started (run TEXT NOT NULL, tool TEXT NOT NULL, name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (run TEXT NOT NULL, tool TEXT NOT NULL, name TEXT NOT NULL, start INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS told (run TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (run, word));
"""

Place = tuple[str, str, str]
"""A run, a tool and a name: one call of a script."""


P = ParamSpec("P")
T = TypeVar("T")


class Judging(Protocol):
    """Writes down what happens in the world, under numbers that rise. It outlives every process."""

    def ask(self, run: str, turn: str) -> tuple[int, bool]:
        """A model was asked for a turn: the number of the request, and whether it is the turn's first."""

    def start(self, place: Place) -> int:
        """A tool's code was entered: the number of that execution."""

    def effect(self, place: Place, *, start: int) -> None:
        """It has happened, by that execution."""

    def tell(self, run: str, word: str) -> None:
        """A person has said a word about a run."""

    def told(self, run: str, word: str) -> bool:
        """Whether one has."""

    def wanted(self) -> list[tuple[str, str]]:
        """Runs that wait for a word which nobody has said yet, and the words."""

    def done(self, place: Place) -> int | None:
        """The execution that took effect there last, if any did."""

    def asked(self) -> Mapping[int, tuple[str, str]]:
        """All requests by number: the run and the turn of each."""

    def starts(self) -> Mapping[Place, list[int]]:
        """All executions by call, the latest last."""

    def effects(self) -> Mapping[Place, list[int]]:
        """The executions that took effect, by call."""


class RunJudge:
    """A judge whose database many processes write to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._connected() as connection:
            connection.execute(SCHEMA)

    def ask(self, run: str, turn: str) -> tuple[int, bool]:
        """A model was asked for a turn: the number of the request, and whether it is the turn's first."""
        with self._connected() as connection:
            connection.execute("INSERT INTO asked VALUES (?, ?)", (run, turn))
            number = connection.last_insert_rowid()
            times = connection.execute("SELECT count(*) FROM asked WHERE run = ? AND turn = ?", (run, turn)).fetchone()
        return number, times == (1,)

    def start(self, place: Place) -> int:
        """A tool's code was entered: the number of that execution."""
        with self._connected() as connection:
            connection.execute("INSERT INTO started VALUES (?, ?, ?)", place)
            return connection.last_insert_rowid()

    def effect(self, place: Place, *, start: int) -> None:
        """It has happened, by that execution."""
        with self._connected() as connection:
            connection.execute("INSERT INTO effects VALUES (?, ?, ?, ?)", (*place, start))

    def tell(self, run: str, word: str) -> None:
        """A person has said a word about a run."""
        with self._connected() as connection:
            connection.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (run, word))

    def told(self, run: str, word: str) -> bool:
        """Whether one has."""
        return bool(self._rows("SELECT 1 FROM told WHERE run = ? AND word = ?", (run, word)))

    def wanted(self) -> list[tuple[str, str]]:
        """Runs that wait for a word which nobody has said yet, and the words."""
        return self._rows(
            "SELECT DISTINCT run, name FROM started WHERE tool = 'hear' EXCEPT SELECT run, word FROM told"
        )

    def done(self, place: Place) -> int | None:
        """The execution that took effect there last, if any did."""
        sql = "SELECT max(start) FROM effects WHERE run = ? AND tool = ? AND name = ?"
        return cast("int | None", self._rows(sql, place)[0][0])

    def asked(self) -> Mapping[int, tuple[str, str]]:
        """All requests by number: the run and the turn of each."""
        return {number: (run, turn) for number, run, turn in self._rows("SELECT rowid, run, turn FROM asked")}

    def starts(self) -> Mapping[Place, list[int]]:
        """All executions by call, the latest last."""
        return self._numbers("SELECT run, tool, name, rowid FROM started ORDER BY rowid")

    def effects(self) -> Mapping[Place, list[int]]:
        """The executions that took effect, by call."""
        return self._numbers("SELECT run, tool, name, start FROM effects ORDER BY rowid")

    def _numbers(self, sql: str) -> Mapping[Place, list[int]]:
        found: dict[Place, list[int]] = {}
        for run, tool_name, name, number in self._rows(sql):
            found.setdefault((run, tool_name, name), []).append(number)
        return found

    def _rows(self, sql: str, values: tuple[str, ...] = ()) -> list[tuple[Any, ...]]:
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


class Points:
    """Counts durable points, and dies at one of them. `by` a signal: the one that kills, or the one that stops."""

    def __init__(self, at: int | None, *, by: signal.Signals = signal.SIGKILL) -> None:
        self.passed = 0
        self._at = at
        self._by = by

    def passes(self) -> None:
        """One more."""
        self.passed += 1
        if self.passed == self._at:
            self.end()

    def end(self) -> None:
        """Die, or stand still."""
        os.kill(os.getpid(), self._by)


EFFECT_MS = 3_000


class Scene:
    """What tools and models of this process act on: they are declared once, judges come and go."""

    judge: Judging
    points: ClassVar[Points] = Points(None)

    @staticmethod
    async def tells(what: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the judge says to something: in a thread, so that others go on."""
        return await asyncio.to_thread(what, *args, **kwargs)

    @classmethod
    async def acts(cls, tool_name: str, name: str, run: str | None) -> dict[str, object]:
        """One execution that changes something, with points on both sides of the effect."""
        place = (run or "", tool_name, name)
        number = await cls.tells(cls.judge.start, place)
        cls.points.passes()
        await cls.tells(cls.judge.effect, place, start=number)
        cls.points.passes()
        return {"name": name, "at": number}

    @classmethod
    async def finds(cls, tool_name: str, name: str, run: str | None) -> dict[str, object] | None:
        """What an execution came to, if it did."""
        number = await cls.tells(cls.judge.done, (run or "", tool_name, name))
        return None if number is None else {"name": name, "at": number}


async def find_posted(name: str, context: Context) -> dict[str, object] | None:
    """Whether the posting is there."""
    return await Scene.finds("post", name, context.run)


async def find_removed(name: str, context: Context) -> dict[str, object] | None:
    """Whether it is gone."""
    return await Scene.finds("remove", name, context.run)


@tool(effect="read", owner="eng")
async def look(name: str, context: Context) -> dict[str, object]:
    """Look at something."""
    number = await Scene.tells(Scene.judge.start, (context.run or "", "look", name))
    Scene.points.passes()
    return {"name": name, "at": number}


@tool(effect="read", owner="eng", timeout_ms=60_000)
async def hear(name: str, context: Context) -> dict[str, object]:
    """Wait until a person has said a word about the run."""
    number = await Scene.tells(Scene.judge.start, (context.run or "", "hear", name))
    while not await Scene.tells(Scene.judge.told, context.run or "", name):
        await later(0.02)
    return {"name": name, "at": number}


@tool(effect="idempotent_write", key=["name"], owner="eng", timeout_ms=EFFECT_MS)
async def put(name: str, context: Context) -> dict[str, object]:
    """Set something; the same again changes nothing."""
    return await Scene.acts("put", name, context.run)


@tool(effect="write", key=["name"], owner="eng", timeout_ms=EFFECT_MS, reconcile=find_posted)
async def post(name: str, context: Context) -> dict[str, object]:
    """Add something that can be found again."""
    return await Scene.acts("post", name, context.run)


@tool(effect="write", key=["name"], owner="eng", timeout_ms=EFFECT_MS)
async def send(name: str, context: Context) -> dict[str, object]:
    """Send something away for ever."""
    return await Scene.acts("send", name, context.run)


@tool(effect="destructive", key=["name"], owner="eng", timeout_ms=EFFECT_MS, reconcile=find_removed)
async def remove(name: str, context: Context) -> dict[str, object]:
    """Remove something for good, which can be seen afterwards."""
    return await Scene.acts("remove", name, context.run)


@tool(effect="read", owner="eng")
async def is_done(context: Context) -> bool:
    """Say whether the task is done."""
    Scene.points.passes()
    return True


TOOLS = (look, hear, put, post, send, remove, is_done)
ONCE = frozenset({"post", "send", "remove"})
"""Tools whose effect must never come twice."""

BUSY = "busy"
AWAY = "away"
"""Turns of a script that fault at the first request: for a moment, and for so long that the run is let go of."""

Scripts = Mapping[str, Sequence[Said]]
"""The turns of one errand, by agent."""


class JudgedModel:
    """A scripted model that finds its turn by what it was sent, and leaves each request with the judge."""

    dialect: Dialect = Dialect.OPENAI_CHAT

    def __init__(self, scripts: Mapping[str, Scripts], *, price: Price | None = None) -> None:
        self.name = "scripted"
        self.codec: Codec = openai_chat
        self.options: Options = OPTIONS
        self.price = price
        self._scripts = scripts

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """The turn that comes next in the run of this request."""
        run, agent, turn = _whose(body)
        number, is_first = await Scene.tells(Scene.judge.ask, run, f"{agent}.{turn}")
        Scene.points.passes()
        said = self._scripts[run.partition("-")[0]][agent][turn]
        if isinstance(said, str) and said.partition(":")[0] in (BUSY, AWAY):
            fault, _, answer = said.partition(":")
            if is_first:
                wait_s = 30.0 if fault == AWAY else None
                return Reply(nothing("busy"), status=503, may_repeat=True, retry_after_s=wait_s)
            said = answer
        await later(0.002)
        Scene.points.passes()
        return reply_of(said, number=number)

    async def close(self) -> None:
        """Nothing is open."""


def _whose(body: Mapping[str, object]) -> tuple[str, str, int]:
    """The run of a request, its agent, and which of the agent's turns it asks for."""
    messages = cast("list[dict[str, str]]", body["messages"])
    task = next(each["content"] for each in messages if each["role"] == "user").split()[0]
    turn = sum(each["role"] == "assistant" for each in messages)
    return task, messages[0]["content"], turn
