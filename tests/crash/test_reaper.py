"""A gate that goes on frees what a killed neighbour held, by itself and within seconds."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from anyio.lowlevel import checkpoint

from interlock import Gate, Settings
from interlock.core.budget import NOTHING
from interlock.core.effect import CallState
from interlock.testing.store_values import TENANT
from tests.crash.test_store_processes import line, process

pytestmark = [pytest.mark.crash, pytest.mark.requirement("BUD-2", "IDEM-4")]


async def recovered(gate: Gate) -> None:
    """Wait until no call is claimed; nobody here calls for recovery."""
    while CallState.CLAIMED in {each.state for each in await gate._world.recovery.open_calls()}:
        await checkpoint()


async def live_on(store: str, opening: AbstractAsyncContextManager[Any]) -> None:
    with process("hold", store, "first") as first:
        async with opening as gate:
            assert await asyncio.to_thread(line, first) == "held"
            assert [each.state for each in await gate._world.recovery.open_calls()] == [CallState.CLAIMED] * 4
            first.kill()
            first.wait()
            await asyncio.wait_for(recovered(gate), 15)
            assert {usage.held.concurrent for _, usage in await gate.usage(TENANT)} == {NOTHING.concurrent}


async def test_on_sqlite(tmp_path: Path) -> None:
    store = str(tmp_path / "store.db")
    await live_on(store, Gate.open(store, settings=Settings(reap_every_s=0.1)))


@pytest.mark.requirement("IDEM-5")
async def test_on_postgresql(postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    await live_on(postgres_url, Gate.open(postgres_url, settings=Settings(reap_every_s=0.1)))
