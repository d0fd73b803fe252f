"""A change of the catalogue is decided on what it then changes, or anew."""

import asyncio

import anyio.lowlevel
import pytest

from interlock import Gate, PolicySource
from interlock.core.errors import DocumentChanged
from interlock.core.journal import Event, EventKind
from interlock.runtime.changes import TRIES, Planned, carry_out
from interlock.runtime.versions import Versions
from tests.gates import Shelf, opened


async def test_it_is_decided_anew_where_somebody_was_faster_and_given_up_where_that_goes_on(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        seen: list[int] = []

        async def plan(versions: Versions, *, faster: int) -> Planned[int]:
            seen.append(len([*versions]))
            if len(seen) <= faster:
                await touched(gate)
            return Planned(len(seen), tuple(versions)[:1], (), event(gate))

        assert await carry_out(gate._world, gate._views, lambda versions: plan(versions, faster=2)) == 3
        seen.clear()
        with pytest.raises(DocumentChanged, match="try again"):
            await carry_out(gate._world, gate._views, lambda versions: plan(versions, faster=TRIES))
        assert len(seen) == TRIES


async def test_nothing_is_written_where_there_is_nothing_to_do(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:
        before = await gate._world.audit.heads()

        async def plan(versions: Versions) -> Planned[str]:
            return Planned("nothing", tuple(versions))

        assert await carry_out(gate._world, gate._views, plan) == "nothing"
        assert await gate._world.audit.heads() == before


async def test_many_who_change_at_once_all_get_on(gate_path: str) -> None:
    async with opened(gate_path, Shelf().tools) as gate:

        async def plan(versions: Versions) -> Planned[None]:
            await anyio.lowlevel.checkpoint()
            return Planned(None, tuple(versions)[:1], (), event(gate))

        await asyncio.gather(*(carry_out(gate._world, gate._views, plan) for _ in range(TRIES // 2)))


async def touched(gate: Gate) -> None:
    """Somebody changes policies, and so the epoch."""
    number = await gate._world.catalogue.epoch()
    sources = (PolicySource("other", f"// {number}\n"),)
    await gate._world.catalogue.save_policies(sources, event(gate))


def event(gate: Gate) -> Event:
    return gate._records.act(EventKind.TOOL_MOVED, "acme", {"subject": "save"})
