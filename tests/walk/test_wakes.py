"""A call that waits for a place is woken by the process that gives it back."""

import asyncio
from pathlib import Path

import pytest

from interlock import Limit, ScopeKind, ToolCall, Unit, tool
from interlock.core.budget import ScopeKey
from interlock.runtime.queues import Queues
from tests.gates import ALICE, opened

pytestmark = pytest.mark.requirement("BUD-2", "SCALE-2")


async def test_who_waits_for_a_place_hears_of_it_from_another_process(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    woken: list[ScopeKey] = []
    wake = Queues.wake

    def noted(self: Queues, scope: ScopeKey) -> None:
        woken.append(scope)
        wake(self, scope)

    monkeypatch.setattr(Queues, "wake", noted)
    began, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write", key=["name"], name="save", timeout_ms=20_000)
    async def save(name: str) -> str:
        """Save something."""
        began.set()
        await go_on.wait()
        return name

    limit = Limit(ScopeKind.TOOL, Unit.CONCURRENT, 1)
    async with opened(postgres_url, [save], limits=[limit]) as one, opened(postgres_url, [save], limits=[limit]) as two:
        first = asyncio.create_task(one.call(ToolCall("c1", "save", {"name": "a"}), principal=ALICE, task="t"))
        await began.wait()
        second = asyncio.create_task(two.call(ToolCall("c2", "save", {"name": "b"}), principal=ALICE, task="t"))
        async with asyncio.timeout(10):
            while not two._queues.walkers:
                await two.usage("acme")
        go_on.set()
        seen = await asyncio.wait_for(asyncio.gather(first, second), 20)
        async with asyncio.timeout(10):
            while not woken:
                await two.usage("acme")
    assert [each.status.value for each in seen] == ["ok", "ok"]
    assert {(scope.kind, scope.id) for scope in woken} == {(ScopeKind.TOOL, "save")}
