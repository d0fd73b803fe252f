"""Runs whose process dies or stands still beside another: it takes them over, and who comes too late writes nothing."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from interlock.loop.entries import Responded, read
from interlock.ports import RunEntry, RunQuery
from interlock.providers import OpenAIChat
from tests.crash.kill_worker import ADDRESS
from tests.crash.killing import Worker
from tests.crash.run_verdict import Store
from tests.crash.run_worker import ERRANDS, HOLDS, LEASE_S, People, live, live_apart, opened, rows, start
from tests.crash.run_world import EFFECT_MS, Points, Scene
from tests.crash.test_kill_runs import POINTS, seen_through
from tests.simulation.people import ALICE, TENANT
from tests.waiting import later

pytestmark = [pytest.mark.crash, pytest.mark.timeout(180), pytest.mark.requirement("LOOP-7", "IDEM-4", "IDEM-5")]

TAKEN_OVER_S = LEASE_S + EFFECT_MS / 1_000 + 6.0
"""A dead process's lease, as long as it may be for an effect on its way, and what a busy machine takes for the rest."""


@pytest.fixture(params=["sqlite", "postgres"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with a store of each kind."""
    if request.param == "postgres":
        (tmp_path / ADDRESS).write_text(request.getfixturevalue("postgres_url"))
    return tmp_path


# --- one of two is killed ---------------------------------------------------------------------------------------------


async def live_beside(folder: Path, points: range) -> None:
    """This process drives runs of its own, while others beside it are killed, and takes over what they leave."""
    killed = 0
    async with opened(folder) as (gate, _):
        for life, point in enumerate(points, start=1):
            worker = await asyncio.to_thread(partial(Worker.start, folder, life=life, kill_at=point, live=live))
            await start(gate, ERRANDS, life=1_000 + life)
            killed += await asyncio.to_thread(worker.ends)
            async with asyncio.timeout(TAKEN_OVER_S):
                await until_taken_over(folder, life=life)
            await People(gate).see_to()
    assert killed >= len(points) / 2
    await seen_through(folder)


async def until_taken_over(folder: Path, *, life: int) -> None:
    """Nobody who died holds a run that he began any more."""
    sql = f"SELECT 1 FROM run_heads WHERE id LIKE '%-{life}' AND fence = 1 AND owner > 0 AND NOT over"
    while await asyncio.to_thread(rows, folder, sql):
        await later(0.05)


async def test_a_process_goes_on_with_the_runs_of_one_that_is_killed_beside_it(folder: Path) -> None:
    await live_beside(folder, range(110, POINTS, 110))


@pytest.mark.slow
@pytest.mark.timeout(1_800)
async def test_a_process_goes_on_with_the_runs_of_many_that_are_killed_beside_it(folder: Path) -> None:
    await live_beside(folder, range(3, POINTS, 8))


# --- one of two stands still ------------------------------------------------------------------------------------------

Written = tuple[dict[str, tuple[RunEntry, ...]], object, object, object]


async def written(store: Store) -> Written:
    """Everything that driving a run leaves anywhere."""
    heads = await store.runs.runs(RunQuery(TENANT, limit=1_000))
    entries = {head.id: await store.runs.run_entries(TENANT, head.id) for head in heads}
    return entries, Scene.judge.asked(), Scene.judge.starts(), Scene.judge.effects()


async def stands_still(process_id: int) -> bool:
    """Wait until a process is stopped or has ended; whether it is stopped."""
    while (state := state_of(process_id)) not in "TZX":
        await later(0.02)
    return state == "T"


def state_of(process_id: int) -> str:
    """As the system names it; X where there is none."""
    stat = Path(f"/proc/{process_id}/stat")
    return stat.read_text().rpartition(")")[2].split()[0] if stat.exists() else "X"


async def pause_at(folder: Path, point: int, *, errand: str, life: int) -> bool:
    """A process is stopped there past its lease, and woken when another one has gone on; whether it stood still."""
    worker = await asyncio.to_thread(
        partial(Worker.start, folder, life=life, kill_at=point, live=partial(live_apart, errand=errand))
    )
    process_id = worker.process.pid
    assert process_id is not None
    try:
        if not await stands_still(process_id):
            return False
        async with opened(folder) as (gate, store):
            await later(LEASE_S * 1.2)
            async with asyncio.timeout(TAKEN_OVER_S):
                await until_taken_over(folder, life=life)
            await People(gate).see_to()
            before = await written(store)
            os.kill(process_id, signal.SIGCONT)
            assert not await asyncio.to_thread(worker.ends)
            if f"{errand}-{life}" in before[0]:  # else it had not begun, and was free to do so under another lease
                assert await written(store) == before
    finally:
        worker.process.kill()
    return True


async def pause_in_turn(folder: Path, points: range, *, errand: str) -> None:
    """One process after another, each stopped at the next point."""
    stopped = [await pause_at(folder, point, errand=errand, life=life) for life, point in enumerate(points, start=1)]
    assert sum(stopped) >= 2
    await seen_through(folder, errands=[errand])


@pytest.mark.parametrize("folder", ["postgres"], indirect=True)
async def test_a_process_that_stood_still_past_its_lease_writes_nothing_more(folder: Path) -> None:
    await pause_in_turn(folder, range(26, 38, 6), errand="asked")


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("folder", ["postgres"], indirect=True)
@pytest.mark.parametrize("errand", ["asked", "handed"])
async def test_a_process_that_stood_still_anywhere_writes_nothing_more(folder: Path, errand: str) -> None:
    await pause_in_turn(folder, range(10, 48, 2), errand=errand)


# --- in the middle of an answer ---------------------------------------------------------------------------------------

BEGUN = b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"it is "}}]}\n\n'
ENDS = (
    b'data: {"choices":[{"index":0,"delta":{"content":"done"},"finish_reason":"stop"}]}\n\n'
    b'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":10}}\n\n'
    b"data: [DONE]\n\n"
)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Streaming:
    """A model's server. The first answer stops in the middle, for good."""

    def __init__(self) -> None:
        self.asked = 0
        self.began = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
        self.asked += 1
        writer.write(HEAD + BEGUN)
        await writer.drain()
        if self.asked == 1:
            self.began.set()
            await reader.read()
        else:
            writer.write(ENDS)
        writer.close()


@asynccontextmanager
async def streaming() -> AsyncIterator[tuple[Streaming, str]]:
    """The server, and where it is."""
    streams = Streaming()
    server = await asyncio.start_server(streams.serve, "127.0.0.1", 0)
    async with server:
        yield streams, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


def hosted(url: str) -> OpenAIChat:
    """The model behind that address, under the name that it has in every process."""
    return OpenAIChat("m", base_url=url, api_key="none", name="streams")


async def stream(folder: Path, url: str) -> str:
    """Start a run of that model, and see it through."""
    async with opened(folder, points=Points(None), model=hosted(url)) as (gate, _):
        run = await gate.runs.start(model="streams", task="plain-1 is to be done", principal=ALICE, run_id="plain-1")
        return (await run.result(timeout_s=20)).answer


def live_streamed(begins: Connection, folder: Path, life: int, *, kill_at: int | None, url: str) -> None:
    """The process: says that it begins, and asks."""
    begins.send(life)
    asyncio.run(stream(folder, url))


async def test_an_answer_that_was_cut_by_the_death_of_its_process_is_asked_for_again_and_heard_whole(
    folder: Path,
) -> None:
    (folder / HOLDS).touch()
    async with streaming() as (server, url):
        worker = await asyncio.to_thread(partial(Worker.start, folder, life=1, live=partial(live_streamed, url=url)))
        await asyncio.wait_for(server.began.wait(), 30)
        assert await asyncio.to_thread(partial(worker.is_killed, after_s=0.1))
        assert await stream(folder, url) == "it is done"
        assert server.asked == 2
    async with opened(folder, every_s=0) as (_, store):
        entries = [read(each).body for each in await store.runs.run_entries(TENANT, "plain-1")]
        assert [type(each) for each in entries].count(Responded) == 1
        held = {str(usage.held) for _, usage in await store.usage(TENANT) if any(_amounts(usage.held))}
        assert held == set()


def _amounts(held: object) -> tuple[int, ...]:
    return tuple(getattr(held, name) for name in ("calls", "rounds", "tokens", "cost_micros", "concurrent"))
