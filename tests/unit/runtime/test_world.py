"""Ids are made of what the world gives: its time first, then its randomness."""

import pytest

from interlock import Host
from interlock.testing.fakes import FakeClock, SeededEntropy
from tests.gates import opened

pytestmark = pytest.mark.anyio


async def test_ids_are_ordered_by_time_and_differ_within_one_moment() -> None:
    clock = FakeClock()
    async with opened(":memory:", (), host=Host(clock=clock, entropy=SeededEntropy("1"))) as gate:
        first = {gate._world.new_id() for _ in range(100)}
        clock.advance(1)
        later = gate._world.new_id()
    assert len(first) == 100
    assert {len(each) for each in (*first, later)} == {32}
    assert max(first) < later
