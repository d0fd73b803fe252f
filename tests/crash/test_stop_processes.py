"""Two real processes on one store: a call of the one, between its look and its claim, is stopped by the other."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock import Gate, Host, PolicySource, Settings
from interlock.core.stops import StopScope
from tests.crash.stop_worker import POLICY
from tests.crash.test_store_processes import line
from tests.gates import OPERATOR, Shelf

ROOT = Path(__file__).parents[2]
Act = Callable[[Gate], Awaitable[object]]

pytestmark = [pytest.mark.crash, pytest.mark.timeout(90), pytest.mark.requirement("REG-2", "LOOP-7")]


async def frozen(gate: Gate) -> object:
    return await gate.catalogue.freeze("save", by=OPERATOR, reason="it saves twice")


async def stopped(gate: Gate) -> object:
    return await gate.catalogue.stop(StopScope(tenant="*"), by=OPERATOR, reason="emergency")


async def nothing(gate: Gate) -> object:
    return gate


@contextmanager
def process(store: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.crash.stop_worker", store, str(folder)]
    started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


async def endings(store: str, folder: Path, act: Act) -> list[str]:
    """How a call of a run with pins ends, and one without, where this process acts while the first stands still."""
    host = Host(key_folder=folder, fact_names={"stands"})
    sources = [PolicySource("test", POLICY)]
    async with Gate.open(
        store, tools=Shelf().tools, policies=sources, settings=Settings(tenant="acme"), host=host
    ) as gate:
        with process(store, folder) as other:
            assert await said(other) == "looking"
            await act(gate)
            go_on(other)
            first = await said(other)
            if act is nothing:
                assert await said(other) == "looking"
                go_on(other)
            return [first, await said(other)]


async def said(other: subprocess.Popen[str]) -> str:
    """What it says next; this process goes on meanwhile, as the store wants it to."""
    return await asyncio.to_thread(line, other)


def go_on(other: subprocess.Popen[str]) -> None:
    assert other.stdin is not None
    other.stdin.write("\n")
    other.stdin.flush()


@pytest.mark.parametrize(
    ("act", "ends"),
    [
        (frozen, ["TOOL_FROZEN 0", "TOOL_FROZEN 0"]),
        (stopped, ["TOOL_FROZEN 0", "TOOL_FROZEN 0"]),
        (nothing, ["ok 1", "ok 2"]),
    ],
)
async def test_on_one_file_the_next_claim_of_every_process_is_refused(
    tmp_path: Path, act: Act, ends: list[str]
) -> None:
    assert await endings(str(tmp_path / "gate.db"), tmp_path, act) == ends


@pytest.mark.parametrize("act", [frozen, stopped])
async def test_on_postgresql_the_next_claim_of_every_process_is_refused(
    tmp_path: Path, postgres_url: str, act: Act
) -> None:
    assert await endings(postgres_url, tmp_path, act) == ["TOOL_FROZEN 0", "TOOL_FROZEN 0"]
