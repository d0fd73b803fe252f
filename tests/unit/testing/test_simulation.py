"""The simulation: one order for one seed, every order for some seed, and a crash after which nothing runs."""

import asyncio
from collections.abc import Sequence

import pytest

from interlock.testing.simulation import START_US, Crashed, Simulation, Stuck, stepped


class Diary:
    """A port of two methods, one of them async."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def write(self, line: str, *, twice: bool = False) -> int:
        self.lines += [line] * (1 + twice)
        return len(self.lines)

    def first(self) -> str:
        return self.lines[0]


async def write_all(diary: Diary, lines: Sequence[str]) -> int:
    return max(await asyncio.gather(*[diary.write(line) for line in lines]))


def order(seed: int) -> str:
    simulation, diary = Simulation(seed), Diary()
    simulation.run(lambda: write_all(stepped(diary, simulation=simulation), "abc"))
    return "".join(diary.lines)


def test_the_same_seed_gives_the_same_order() -> None:
    assert [order(seed) for seed in range(20)] == [order(seed) for seed in range(20)]


def test_every_order_comes_with_some_seed() -> None:
    assert {order(seed) for seed in range(100)} == {"abc", "acb", "bac", "bca", "cab", "cba"}


def test_a_stepped_port_passes_arguments_results_and_plain_methods_through() -> None:
    simulation, diary = Simulation(1), Diary()

    async def write() -> tuple[int, str]:
        port = stepped(diary, simulation=simulation)
        return await port.write("x", twice=True), port.first()

    assert simulation.run(write) == (2, "x")
    assert simulation.steps == 2


@pytest.mark.parametrize(("crash_at", "step", "left"), [(1, "before write", []), (2, "after write", ["x"])])
def test_a_crash_falls_before_or_after_a_write(crash_at: int, step: str, left: Sequence[str]) -> None:
    simulation, diary = Simulation(1), Diary()
    ended = simulation.run(lambda: write_all(stepped(diary, simulation=simulation), "x"), crash_at=crash_at)
    assert ended == Crashed(step)
    assert diary.lines == left


def test_a_crash_takes_everyone_with_it_and_the_next_process_finds_what_is_left() -> None:
    simulation, diary = Simulation(3), Diary()
    port = stepped(diary, simulation=simulation)
    assert isinstance(simulation.run(lambda: write_all(port, "abc"), crash_at=4), Crashed)
    left = list(diary.lines)
    assert 0 < len(left) < 3
    assert simulation.run(lambda: write_all(port, "d")) == len(left) + 1


def test_who_tidies_up_by_waiting_is_killed_all_the_same() -> None:
    simulation, diary = Simulation(1), Diary()
    port = stepped(diary, simulation=simulation)

    async def tidy() -> None:
        try:
            await port.write("work")
        finally:
            await port.write("tidied up")

    assert simulation.run(tidy, crash_at=2) == Crashed("after write")
    assert diary.lines == ["work"]


@pytest.mark.parametrize("step", ["before write", "after write"])
def test_what_was_handed_over_is_carried_out_once_even_if_who_waits_is_cancelled(step: str) -> None:
    diary, writing = Diary(), list[asyncio.Task[int]]()
    simulation = Simulation(1, watch=lambda name: name == step and writing[0].cancel())

    async def write() -> None:
        writing.append(asyncio.create_task(stepped(diary, simulation=simulation).write("x")))
        await asyncio.wait(writing)

    simulation.run(write)
    assert writing[0].cancelled()
    assert diary.lines == ["x"]


def test_time_passes_only_when_nobody_can_go_on_if_there_is_no_haste() -> None:
    simulation = Simulation(1, haste=0)

    async def wait() -> float:
        async with asyncio.timeout(1):
            for _ in range(50):
                await simulation.step("work")
        await asyncio.gather(*map(simulation.clock.sleep, [90]))
        return simulation.clock.monotonic_s()

    assert simulation.run(wait) == 90
    assert simulation.clock.now_us() == START_US + 90_000_000


def test_timers_are_met_after_years() -> None:
    simulation = Simulation(1)
    simulation.clock.now_s = 1e9 / 3

    async def wait() -> None:
        for _ in range(100):
            await asyncio.gather(*map(simulation.clock.sleep, [0.1, 1 / 3]))

    simulation.run(wait)


def test_with_haste_whoever_waits_for_a_turn_may_time_out() -> None:
    simulation = Simulation(1, haste=0.5)

    async def wait() -> None:
        async with asyncio.timeout(1):
            for _ in range(50):
                await simulation.step("work")

    with pytest.raises(TimeoutError):
        simulation.run(wait)


def test_waiting_for_what_nobody_brings_is_a_fault() -> None:
    with pytest.raises(Stuck):
        Simulation(1).run(lambda: asyncio.Event().wait())


def test_going_round_in_circles_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("interlock.testing.simulation.TURNS_MAX", 100)
    simulation = Simulation(1)

    async def walk_in_circles() -> None:
        while True:
            await simulation.step("round")

    with pytest.raises(Stuck):
        simulation.run(walk_in_circles)


def test_a_watch_sees_every_step_before_it_is_taken() -> None:
    diary, seen = Diary(), list[tuple[str, int]]()
    simulation = Simulation(1, watch=lambda step: seen.append((step, len(diary.lines))))
    simulation.run(lambda: write_all(stepped(diary, simulation=simulation), "x"))
    assert seen == [("before write", 0), ("after write", 1)]


def test_randomness_repeats_with_the_seed() -> None:
    assert Simulation(5).entropy.bytes(8) == Simulation(5).entropy.bytes(8) != Simulation(6).entropy.bytes(8)
