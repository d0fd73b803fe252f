"""What an observation refers to is kept before its call is settled."""

import asyncio

import pytest

from interlock import ToolCall, tool
from interlock.core.artifact import PART_BYTES
from interlock.core.errors import StoreError
from interlock.store.memory import MemoryStore
from interlock.store.memory_artifacts import MemoryArtifacts
from tests.gates import ALICE, code, opened, settled


@pytest.mark.requirement("OBS-4")
async def test_a_result_is_kept_in_parts_of_one_size() -> None:
    @tool(effect="read", owner="eng")
    async def long() -> str:
        """Say much."""
        return "x" * (2 * PART_BYTES)

    async with opened(":memory:", (long,)) as gate:
        handle = str((await gate.call(ToolCall("c", "long", {}), principal=ALICE)).handle)
        parts = [await gate._world.artifacts.part("acme", handle, number=number) for number in range(4)]
        assert [None if part is None else len(part) for part in parts] == [PART_BYTES, PART_BYTES, 2, None]


@pytest.mark.requirement("OBS-4")
async def test_where_it_cannot_be_kept_nothing_refers_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(MemoryArtifacts):
        async def append(self, *args: object, **kwargs: object) -> None:
            raise StoreError("the disk is full")

    @tool(effect="read", owner="eng", output_bytes_max=100)
    async def long() -> str:
        """Say much."""
        return "x" * 1_000

    class Store(MemoryStore):
        def __init__(self, *, chain: str = "memory") -> None:
            super().__init__(chain=chain)
            self.artifacts = Full()

    monkeypatch.setattr("interlock.adapters.MemoryStore", Store)
    async with opened(":memory:", (long,)) as gate:
        with pytest.raises(StoreError):
            await gate.call(ToolCall("c", "long", {}), principal=ALICE)


@pytest.mark.requirement("OBS-4", "EXEC-5")
async def test_a_call_that_is_cancelled_while_its_result_is_being_kept_is_settled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    class Slow(MemoryArtifacts):
        async def append(self, tenant: str, artifact_id: str, *, number: int, data: bytes, at_us: int) -> None:
            reached.set()
            await go_on.wait()
            await super().append(tenant, artifact_id, number=number, data=data, at_us=at_us)

    @tool(effect="write", owner="eng", key=["n"], output_bytes_max=100)
    async def act(n: int) -> str:
        """Act, and say much of it."""
        return "x" * 1_000

    class Store(MemoryStore):
        def __init__(self, *, chain: str = "memory") -> None:
            super().__init__(chain=chain)
            self.artifacts = Slow()

    monkeypatch.setattr("interlock.adapters.MemoryStore", Store)
    async with opened(":memory:", (act,)) as gate:
        acting = asyncio.ensure_future(gate.call(ToolCall("c", "act", {"n": 1}), principal=ALICE, task="t"))
        await reached.wait()
        acting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await acting
        go_on.set()
        await settled(gate)
        assert not [scope for scope, usage in await gate.usage("acme") if any(usage.held)]
        again = await gate.call(ToolCall("d", "act", {"n": 1}), principal=ALICE, task="t")
        assert (code(again), again.replayed, again.handle is not None) == ("ok", True, True)
