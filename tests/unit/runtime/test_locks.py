"""Locks are fair, never deadlock, and cost next to nothing where nobody else wants them."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.locks import Held, Locks
from tests.execution import VirtualLoop, passing

NAMES = st.frozensets(st.sampled_from("abcd"), min_size=1)


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    return "asyncio", {"loop_factory": VirtualLoop}


def test_a_free_lock_is_held_at_once_and_leaves_nothing_behind() -> None:
    locks = Locks()
    held = locks.request(("a", "b"))
    assert held.behind == 0
    assert locks.request(("b",)).behind == 1
    held.release()
    held.release()
    assert len(locks) == 1


@pytest.mark.anyio
@pytest.mark.requirement("EXEC-4")
async def test_who_asked_first_goes_first_also_among_those_who_want_several() -> None:
    locks, order = Locks(), []

    async def call(name: str, wanted: tuple[str, ...]) -> None:
        held = await locks.acquire(wanted, until_s=1e9)
        assert held is not None
        order.append(name)
        await passing(1)
        held.release()

    wanted = {"1": ("a",), "2": ("b", "a"), "3": ("b",), "4": ("c",), "5": ("a",)}
    await asyncio.gather(*[call(name, each) for name, each in wanted.items()])
    assert order == ["1", "4", "2", "3", "5"]
    assert len(locks) == 0


@pytest.mark.anyio
async def test_waiting_ends_at_the_deadline_and_frees_the_place_in_every_queue() -> None:
    locks = Locks()
    first = locks.request(("a",))
    assert await locks.acquire(("a", "b"), until_s=asyncio.get_running_loop().time() + 1) is None
    assert locks.request(("b",)).behind == 0
    first.release()
    assert locks.request(("a",)).behind == 0


@pytest.mark.anyio
async def test_a_cancelled_wait_frees_its_place() -> None:
    locks = Locks()
    first = locks.request(("a",))
    waiting: asyncio.Task[Any] = asyncio.create_task(locks.acquire(("a",), until_s=1e9))
    await passing(0)  # let it queue
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    first.release()
    assert len(locks) == 0


@pytest.mark.anyio
async def test_a_slot_has_as_many_places_as_the_tool_allows() -> None:
    locks, running, most = Locks(), 0, 0

    async def call(number: int) -> None:
        nonlocal running, most
        held = await locks.acquire((f"own-{number}",), slot=("tool", 3), until_s=1e9)
        assert held is not None
        running += 1
        most = max(most, running)
        await passing(number % 4)
        running -= 1
        held.release()

    await asyncio.gather(*map(call, range(20)))
    assert most == 3
    assert len(locks) == 0


@given(st.lists(st.tuples(NAMES, st.booleans()), max_size=40))
def test_no_schedule_of_requests_releases_and_given_up_waits_lets_two_hold_a_lock_or_all_wait(
    steps: list[tuple[frozenset[str], bool]],
) -> None:
    locks = Locks()
    alive: list[tuple[frozenset[str], Held]] = []
    for names, is_release in steps:
        if is_release and alive:
            alive[len(alive) * len(names) // 5][1].release()
            alive = [each for each in alive if each[1].names]
        else:
            alive.append((names, locks.request(names)))
        holders = [names for names, held in alive if not held.behind]
        for number, (wanted, held) in enumerate(alive):
            assert held.behind == sum(any(name in other for other, _ in alive[:number]) for name in wanted)
        assert not alive or holders
        assert sum(map(len, holders)) == len(frozenset().union(*holders))
