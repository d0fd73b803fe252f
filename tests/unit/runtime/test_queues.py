"""Calls that wait for a rate or a place: in order, tenants in turn, never as a herd, and nobody for ever."""

import asyncio
from collections import Counter
from itertools import pairwise, takewhile

import pytest

from interlock import Gate, Limit, Observation, ScopeKind, Unit
from interlock.core.budget import ScopeKey
from interlock.core.journal import AuditQuery
from tests.gates import code
from tests.waiting import Desk, later, many, propose, together

pytestmark = [pytest.mark.requirement("BUD-1")]

SEEDS = range(5)
THREE = Limit(ScopeKind.VENDOR, Unit.CONCURRENT, 3, shared=True)
ONE = Limit(ScopeKind.VENDOR, Unit.CONCURRENT, 1, shared=True)
CLOUD = ScopeKey("*", ScopeKind.VENDOR, "cloud")
FIVE_A_MINUTE = Limit(ScopeKind.TOOL, Unit.CALLS, 5, 60, shared=True)


async def ends(tasks: list[asyncio.Task[Observation]]) -> list[str]:
    return [code(each) for each in await asyncio.gather(*tasks)]


@pytest.mark.parametrize("seed", SEEDS)
def test_two_hundred_callers_of_four_tenants_take_turns_at_three_places(seed: int) -> None:
    desk = Desk((THREE,), seed)
    everybody = [who for tenant in "abcd" for who in many(tenant, 50)]

    async def scene(gate: Gate) -> list[str]:
        return await ends(together(gate, *everybody))

    assert desk.play(scene) == ["ok"] * 200
    assert desk.most == 3
    assert sorted(desk.order) == sorted(everybody)
    done: Counter[str] = Counter(dict.fromkeys("abcd", 0))
    for who in desk.order:
        done[who[0]] += 1
        # Three came before there was a line, and three more before all tenants were in it.
        assert max(done.values()) - min(done.values()) <= 6, f"{done} are not fair shares"
    assert desk.port.asked["look"] <= 4 * 200
    assert desk.port.asked["claim"] <= 2 * 200 + 10


def test_the_looks_of_many_callers_grow_with_their_number_and_not_with_its_square() -> None:
    looks = []
    for count in (50, 100, 200):
        desk = Desk((THREE,))
        desk.play(lambda gate, count=count: ends(together(gate, *many("a", count))))  # type: ignore[misc]
        looks.append(desk.port.asked["look"])
    assert all(more <= 2.2 * few for few, more in pairwise(looks)), looks


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tenant_that_comes_late_does_not_wait_for_all_of_another(seed: int) -> None:
    desk = Desk((ONE,), seed)

    async def scene(gate: Gate) -> None:
        crowd = together(gate, *many("a", 60))
        await later(5.5)
        few = together(gate, *many("b", 3))
        await ends([*crowd, *few])

    desk.play(scene)
    places = [desk.order.index(who) for who in ("b0", "b1", "b2")]
    assert max(places) <= 13, desk.order


@pytest.mark.parametrize("seed", SEEDS)
def test_a_newcomer_does_not_overtake_those_who_wait(seed: int) -> None:
    desk = Desk((ONE,), seed)

    async def scene(gate: Gate) -> None:
        tasks = []
        for who in many("a", 30):
            tasks += together(gate, who)
            await later(0.5)
        assert await ends(tasks) == ["ok"] * 30

    desk.play(scene)
    assert desk.order == many("a", 30)


def test_who_needs_something_else_is_not_held_up() -> None:
    desk = Desk((ONE,))

    async def scene(gate: Gate) -> None:
        waiting = together(gate, *many("a", 4), seconds=100.0)
        await later(1)
        assert code(await propose(gate, "a-free", name="other")) == "ok"
        assert desk.simulation.clock.now_s == 1
        await ends(waiting)

    desk.play(scene)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_window_lets_as_many_through_as_the_limit_allows_and_tenants_take_turns(seed: int) -> None:
    desk = Desk((FIVE_A_MINUTE,), seed)

    async def scene(gate: Gate) -> list[str]:
        return await ends(together(gate, *many("a", 14), *many("b", 6), seconds=0.0))

    assert desk.play(scene) == ["ok"] * 20
    windows = Counter(int(round(at_s, 3) // 60) for _, at_s in desk.begun)
    assert windows == {0: 5, 1: 5, 2: 5, 3: 5}
    second = [who[0] for who, at_s in desk.begun if at_s >= 60]
    assert abs(Counter(second[:4])["a"] - 2) <= 1
    assert desk.port.asked["look"] <= 4 * 20


@pytest.mark.parametrize("seed", [0, 1, 9, 57, 70])
def test_a_newcomer_takes_the_rest_of_a_window_once_all_who_waited_have_theirs(seed: int) -> None:
    desk = Desk((FIVE_A_MINUTE,), seed)

    async def scene(gate: Gate) -> list[str]:
        first = together(gate, *many("a", 7), seconds=30.0)
        await later(60.0)
        return await ends([*first, *together(gate, *many("b", 3), seconds=0.0)])

    assert desk.play(scene) == ["ok"] * 10
    assert [int(round(at_s, 3) // 60) for _, at_s in desk.begun] == [0] * 5 + [1] * 5


@pytest.mark.parametrize("seed", range(12))
def test_whose_window_would_turn_too_late_hears_at_once_in_which_one_it_is_ones_turn(seed: int) -> None:
    desk = Desk((FIVE_A_MINUTE,), seed)

    async def scene(gate: Gate) -> list[Observation]:
        return list(await asyncio.gather(*together(gate, *many("a", 17), deadline_s=90, seconds=0.0)))

    seen = desk.play(scene)
    assert Counter(map(code, seen)) == {"ok": 10, "RATE_LIMITED": 7}
    assert desk.simulation.clock.now_s == pytest.approx(60)
    late = [each.retry_after_s for each in seen if each.retry_after_s is not None]
    assert {round(each) for each in late} <= {60, 120}


def test_the_deadline_ends_waiting_for_a_place_and_says_when_it_may_be_ones_turn() -> None:
    desk = Desk((ONE,))

    async def scene(gate: Gate) -> list[Observation]:
        return list(await asyncio.gather(*together(gate, *many("a", 9), deadline_s=7, seconds=2.0)))

    seen = desk.play(scene)
    assert Counter(map(code, seen)) == {"ok": 3, "TOOL_TIMEOUT": 1, "RATE_LIMITED": 5}
    assert desk.simulation.clock.now_s == pytest.approx(7)
    late = [each.retry_after_s for each in seen if each.retry_after_s is not None]
    assert all(one < other for one, other in pairwise(sorted(late)))
    assert 1 < min(late) < max(late) < 20


def test_who_cannot_wait_until_the_window_turns_hears_so_at_once() -> None:
    desk = Desk((FIVE_A_MINUTE,))

    async def scene(gate: Gate) -> Observation:
        tasks = together(gate, *many("a", 12), seconds=0.0)
        await later(1)
        seen = await propose(gate, "b0", deadline_s=10)
        assert desk.simulation.clock.now_s == 1
        await ends(tasks)
        return seen

    seen = desk.play(scene)
    assert code(seen) == "RATE_LIMITED"
    assert seen.retry_after_s == pytest.approx(59 + 60, abs=1)


def test_in_a_full_room_who_is_one_too_many_of_the_largest_tenant_hears_when_to_come_back() -> None:
    desk = Desk((ONE,), waiting_max=4)

    async def scene(gate: Gate) -> tuple[list[str], list[str]]:
        crowd = together(gate, *many("a", 8), seconds=10.0)
        await later(1)
        refused = [each for each in crowd if each.done()]
        assert [code(each.result()) for each in refused] == ["RATE_LIMITED"] * 3
        assert all((each.result().retry_after_s or 0) > 0 for each in refused)
        assert desk.simulation.clock.now_s == 1
        few = together(gate, *many("b", 2), seconds=10.0)
        return await ends(crowd), await ends(few)

    crowd, few = desk.play(scene)
    assert Counter(crowd) == {"ok": 3, "RATE_LIMITED": 5}
    assert few == ["ok", "ok"]


@pytest.mark.parametrize("seed", range(3))
def test_whoever_is_cancelled_at_any_step_leaves_the_line_at_once_and_a_record(seed: int) -> None:
    def is_cut(step: int) -> bool:
        desk = Desk((ONE,), seed)
        victim: list[asyncio.Task[Observation]] = []
        left = [step]

        def watch(_: str) -> None:
            left[0] -= bool(victim)
            if left[0] == 0:
                victim[0].cancel()

        async def scene(gate: Gate) -> None:
            first = together(gate, "a0", "a1")
            await later(0.5)
            desk.simulation._watch = watch
            victim.extend(together(gate, "b0"))
            others = together(gate, "c0")
            await asyncio.wait([*first, *victim, *others])
            assert await ends([*first, *others]) == ["ok"] * 3

        desk.play(scene)
        assert desk.most == 1
        assert desk.simulation.clock.now_s <= 6
        records = asyncio.run(desk.store.records(AuditQuery(limit=1_000)))
        assert len([each for each in records if each.call == "b0"]) == 1
        return victim[0].cancelled()

    steps = list(takewhile(is_cut, range(1, 100)))
    assert 10 < len(steps) < 99


def test_who_is_cancelled_while_waiting_leaves_no_gap() -> None:
    desk = Desk((ONE,))

    async def scene(gate: Gate) -> list[str]:
        tasks = together(gate, *many("a", 6))
        await later(0.5)
        for each in [task for who, task in zip(many("a", 6), tasks, strict=True) if who not in desk.order][1:3]:
            each.cancel()
        await asyncio.wait(tasks)
        return [code(each.result()) for each in tasks if not each.cancelled()]

    assert desk.play(scene) == ["ok"] * 4
    assert [at_s for _, at_s in desk.begun] == pytest.approx([0, 1, 2, 3])


@pytest.mark.parametrize("seed", range(8))
def test_a_gate_that_closes_lets_nobody_wait_and_leaves_their_records(seed: int) -> None:
    desk = Desk((ONE,), seed)

    async def scene() -> list[str]:
        async with desk.opened() as other:
            first = together(other, "b0", seconds=100.0)
            await later(0.5)
            async with desk.opened() as gate:
                tasks = together(gate, *many("a", 5))
                await later(5)
            assert all(each.done() for each in tasks), "somebody still waits, or is not on record yet"
            assert desk.simulation.clock.now_s == pytest.approx(5.5)
            assert await ends(first) == ["ok"]
            return await ends(tasks)

    assert desk.simulation.run(scene) == ["CANCELLED"] * 5
    records = asyncio.run(desk.store.records(AuditQuery(limit=1_000)))
    assert {each.call for each in records} >= set(many("a", 5))


def test_whose_time_is_up_hears_it_then_and_not_at_the_next_poll() -> None:
    desk = Desk((ONE,))

    async def scene(gate: Gate) -> float:
        tasks = together(gate, *many("a", 2), seconds=100.0)
        await later(30)
        assert code(await propose(gate, "b0", deadline_s=0.1)) == "RATE_LIMITED"
        heard_s = desk.simulation.clock.now_s
        await ends(tasks)
        return heard_s

    assert desk.play(scene) == pytest.approx(30.1)


@pytest.mark.parametrize("places", [0, 1])
def test_who_is_cancelled_takes_no_place_not_even_one_that_is_free_just_then(places: int) -> None:
    desk = Desk((ONE,), waiting_max=2)

    async def scene(gate: Gate) -> list[str]:
        tasks = together(gate, "a0", seconds=10.0)
        await later(1)
        tasks += together(gate, "a1", "a2")
        await later(1)
        for each in tasks[1:]:
            each.cancel()
        for _ in range(places):
            gate._queues.wake(CLOUD)
        await asyncio.wait(tasks[1:])
        return await ends([tasks[0], *together(gate, "b1", "b2")])

    assert desk.play(scene) == ["ok"] * 3


def test_who_takes_nothing_of_what_others_wait_for_does_not_wait_with_them() -> None:
    desk = Desk((Limit(ScopeKind.VENDOR, Unit.COST_MICROS, 10, 60, shared=True),))

    async def scene(gate: Gate) -> None:
        waiting = together(gate, *many("a", 2), name="dear")
        await later(1)
        assert code(await propose(gate, "b0")) == "ok"
        assert await ends(waiting) == ["ok"] * 2

    desk.play(scene)
    assert [round(at_s) for _, at_s in desk.begun] == [0, 1, 60]


def test_who_waits_for_its_own_twin_meanwhile_hands_its_turn_on() -> None:
    desk = Desk((Limit(ScopeKind.VENDOR, Unit.CONCURRENT, 2, shared=True),))

    async def scene(gate: Gate) -> list[str]:
        tasks = together(gate, "a0", "a1", seconds=10.0)
        await later(1)
        tasks += together(gate, "a-twin", "a-twin", name="keep", seconds=100.0)
        await later(1)
        return await ends([*tasks, *together(gate, "a2")])

    assert desk.play(scene) == ["ok"] * 5
    assert [(who, round(at_s, 2)) for who, at_s in desk.begun[2:]] == [("a-twin", 10), ("a2", 10)]


def test_a_turn_that_is_not_used_is_handed_on() -> None:
    both = (ONE, Limit(ScopeKind.TENANT, Unit.CALLS, 2))
    desk = Desk(both)

    async def scene(gate: Gate) -> list[str]:
        return await ends(together(gate, *many("a", 6), "b0"))

    assert Counter(desk.play(scene)) == {"ok": 3, "BUDGET_EXHAUSTED": 4}
    assert [at_s for _, at_s in desk.begun] == pytest.approx([0, 1, 2])


@pytest.mark.parametrize("seed", SEEDS)
def test_who_waits_for_a_rate_and_for_a_place_gets_both(seed: int) -> None:
    desk = Desk((FIVE_A_MINUTE, Limit(ScopeKind.TOOL, Unit.CONCURRENT, 2, shared=True)), seed)

    async def scene(gate: Gate) -> list[str]:
        return await ends(together(gate, *many("a", 12), *many("b", 3), seconds=3.0))

    assert desk.play(scene) == ["ok"] * 15
    assert desk.most == 2
    assert max(Counter(int(round(at_s, 3) // 60) for _, at_s in desk.begun).values()) <= 5
    assert desk.simulation.clock.now_s < 200
    assert desk.port.asked["look"] <= 10 * 15


@pytest.mark.parametrize("seed", SEEDS)
def test_what_another_process_lets_go_of_is_noticed_and_never_too_much_taken(seed: int) -> None:
    desk = Desk((THREE,), seed)

    async def scene() -> list[str]:
        async with desk.opened() as one, desk.opened() as two:
            return await ends([*together(one, *many("a", 10)), *together(two, *many("b", 10))])

    assert desk.simulation.run(scene) == ["ok"] * 20
    assert desk.most == 3


def test_who_is_woken_from_outside_does_not_wait_for_the_next_poll() -> None:
    desk = Desk((ONE,))

    async def scene() -> float:
        async with desk.opened() as one, desk.opened() as two:
            first = together(one, "a0", seconds=20.0)
            await later(1)
            waiting = together(two, "b0")
            await asyncio.wait(first)
            two._queues.wake(ScopeKey("*", ScopeKind.VENDOR, "elsewhere"))
            two._queues.wake(CLOUD)
            assert await ends(waiting) == ["ok"]
        return desk.begun[-1][1]

    assert desk.simulation.run(scene) == pytest.approx(20)
