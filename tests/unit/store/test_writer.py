"""Writes wait together, fail alone, and are answered when they are durable."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import apsw
import pytest
from anyio.lowlevel import checkpoint

from interlock.core.errors import StoreClosed, StoreError
from interlock.store.locks import Presence
from interlock.store.writer import BATCH_MAX, Writer


class Ground:
    """A table of names, and what the writer said of its commits."""

    repeatable = frozenset({"again"})

    def __init__(self, folder: Path) -> None:
        self.connection = apsw.Connection(str(folder / "x.db"))
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE names (name TEXT)")
        self.presence = Presence(folder / "locks")
        self.presence.enter()
        self.said: list[tuple[str, tuple[str, ...]]] = []
        self.begun = 0
        self.taken_back = 0
        self.end_fails = False
        self.writer = Writer(self.connection, batch=self, presence=self.presence, on_commit=self.note)

    def note(self, when: str, ops: tuple[str, ...]) -> None:
        self.said.append((when, ops))

    def begin(self) -> None:
        self.begun += 1

    def take_back(self) -> None:
        self.taken_back += 1

    def end(self) -> None:
        if self.end_fails:
            raise apsw.IOError("the disk is gone")

    def share(self) -> None:
        self.connection.execute("INSERT INTO names VALUES ('shared')")

    def insert(self, name: str) -> Callable[[], str]:
        def run() -> str:
            self.connection.execute("INSERT INTO names VALUES (?)", (name,))
            return name

        return run

    def fail(self, fault: Exception) -> Callable[[], str]:
        def run() -> str:
            self.connection.execute("INSERT INTO names VALUES ('half done')")
            raise fault

        return run

    def names(self) -> list[str]:
        return [row[0] for row in self.connection.execute("SELECT name FROM names")]


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[Ground]:
    ground = Ground(tmp_path)
    yield ground
    await ground.writer.close()
    ground.connection.close()
    ground.presence.leave()


async def test_what_waits_together_is_committed_together(ground: Ground) -> None:
    writer = ground.writer
    names = [str(number) for number in range(10)]
    assert await asyncio.gather(*[writer.write("w", run=ground.insert(name)) for name in names]) == names
    assert ground.said == [("before", ("w",) * 10), ("after", ("w",) * 10)]


async def test_a_transaction_has_a_limit_and_the_rest_follows(ground: Ground) -> None:
    writes = [ground.writer.write("w", run=ground.insert("n")) for _ in range(BATCH_MAX + 1)]
    await asyncio.gather(*writes)
    assert [len(ops) for when, ops in ground.said if when == "after"] == [BATCH_MAX, 1]


@pytest.mark.parametrize("fault", [StoreError("refused"), ValueError("bad"), apsw.ConstraintError("twice")])
async def test_one_that_fails_is_rolled_back_alone(ground: Ground, fault: Exception) -> None:
    writer = ground.writer
    writes = [writer.write("a", run=ground.insert("a")), writer.write("x", run=ground.fail(fault))]
    answers = await asyncio.gather(*writes, writer.write("b", run=ground.insert("b")), return_exceptions=True)
    assert answers == ["a", fault, "b"]
    assert ground.names() == ["a", "b"]


@pytest.mark.parametrize("fault", [StoreError("refused"), ValueError("bad"), apsw.ConstraintError("twice")])
async def test_those_that_may_be_repeated_are_where_one_of_them_fails(ground: Ground, fault: Exception) -> None:
    runs = [ground.insert("a"), ground.fail(fault), ground.insert("b")]
    answers = await asyncio.gather(*[ground.writer.write("again", run=run) for run in runs], return_exceptions=True)
    assert answers == ["a", fault, "b"]
    assert (ground.names(), ground.taken_back) == (["a", "b"], 1)


async def test_nothing_is_repeated_beside_what_may_not_be(ground: Ground) -> None:
    fault = ValueError("bad")
    writes = [ground.writer.write("again", run=ground.fail(fault)), ground.writer.write("w", run=ground.insert("b"))]
    assert await asyncio.gather(*writes, return_exceptions=True) == [fault, "b"]
    assert (ground.names(), ground.taken_back) == (["b"], 0)


async def test_an_io_error_stops_the_writer_for_good_and_answers_everyone(ground: Ground) -> None:
    ground.end_fails = True
    writes = [ground.writer.write("w", run=ground.insert("n")) for _ in range(BATCH_MAX + 5)]
    answers = await asyncio.gather(*writes, return_exceptions=True)
    assert all(isinstance(answer, StoreClosed) for answer in answers)
    with pytest.raises(StoreClosed, match="the disk is gone"):
        await ground.writer.write("w", run=ground.insert("n"))
    assert not ground.writer.is_open


@pytest.mark.requirement("IDEM-3")
async def test_a_write_is_carried_out_when_nobody_waits_for_it_any_more(ground: Ground) -> None:
    waiter = asyncio.ensure_future(ground.writer.write("w", run=ground.insert("n")))
    await checkpoint()
    waiter.cancel()
    await ground.writer.write("other", run=ground.insert("m"))
    assert ground.names() == ["n", "m"]


async def test_a_write_right_after_the_last_one_is_not_forgotten(ground: Ground) -> None:
    for number in range(50):
        await asyncio.wait_for(ground.writer.write("w", run=ground.insert(str(number))), timeout=5)
        for _ in range(number % 4):
            await checkpoint()
    assert len(ground.names()) == 50


async def test_closing_carries_out_what_waits_and_refuses_the_rest(ground: Ground) -> None:
    waiter = asyncio.ensure_future(ground.writer.write("w", run=ground.insert("n")))
    await checkpoint()
    await ground.writer.close()
    assert await waiter == "n"
    with pytest.raises(StoreClosed):
        await ground.writer.write("w", run=ground.insert("m"))


async def test_another_program_that_holds_the_file_is_waited_for(ground: Ground, tmp_path: Path) -> None:
    other = apsw.Connection(str(tmp_path / "x.db"))
    other.execute("BEGIN IMMEDIATE")
    waiter = asyncio.ensure_future(ground.writer.write("w", run=ground.insert("n")))
    done, _ = await asyncio.wait([waiter], timeout=0.05)
    assert not done
    other.execute("COMMIT")
    assert await waiter == "n"
    other.close()


async def test_who_rings_is_let_in_after_what_was_in_memory_is_written(ground: Ground, tmp_path: Path) -> None:
    other = Presence(tmp_path / "locks")
    await asyncio.to_thread(other.enter)
    assert (ground.writer.alone, ground.presence.sole) == (False, False)
    assert ground.names() == ["shared"]
    assert await ground.writer.write("w", run=ground.insert("n")) == "n"
    other.leave()
