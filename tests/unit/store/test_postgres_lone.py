"""One claim or settlement is written as a statement with one amount for all scopes, wherever that says all of it."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts, Limit, Reservation, ScopeKind, Taken, Unit, settled
from interlock.core.effect import CallEvent
from interlock.core.labels import Labels, Trust
from interlock.ports import Claim, Intent, NotClaimed
from interlock.store import postgres_lone
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_line import Row, Spelled, Step
from interlock.store.postgres_lone import held_of
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import RUN, SCOPE, TENANT, Values
from tests.postgres import Opens

SCOPES = [SCOPE._replace(id=name) for name in "abc"]
ONE = Amounts(calls=1, working_ms=1, concurrent=1)
WEB = Labels(trust=Trust.UNTRUSTED, origins=frozenset({"web"}))
_AMOUNTS_AT = {"write_claim": 10, "write_call": 8}


def ways_of(store: PostgresStore) -> list[str]:
    """How its writer writes from now on: `one amount`, `amounts` of each scope, or the name of a trip's first step."""
    line, ways = store._writer._line, list[str]()
    assert line is not None
    trip = line.trip

    async def noted(*steps: Step) -> list[list[Row]]:
        name, values = steps[0]
        at = _AMOUNTS_AT.get(name)
        is_one = at is not None and isinstance(values, Spelled) and values.values[at] is None
        ways.append(name if at is None else "one amount" if is_one else "amounts")
        return await trip(*steps)

    line.trip = noted  # type: ignore[method-assign]  # the network, which is listened to
    return ways


def reserving(values: Values, *reservations: Reservation, run: str | None = None) -> Intent:
    return replace(values.intent(run=run), reservations=Taken.of(reservations))


async def warmed(opens: Opens, values: Values) -> PostgresStore:
    """A store that knows that the scopes are there, and where the run stands."""
    store = await opens("main")
    claim = await claimed(store, intent=reserving(values, *(Reservation(each, ONE) for each in SCOPES), run=RUN))
    await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
    return store


@pytest.mark.parametrize("run", [None, RUN])
async def test_what_one_call_takes_is_one_amount_for_all_of_its_scopes(postgres_stores: Opens, run: str | None) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    ways = ways_of(store)
    claim = await claimed(store, intent=reserving(values, *(Reservation(each, ONE) for each in SCOPES), run=run))
    usage = dict(await store.usage(TENANT))
    assert [usage[each].held for each in SCOPES] == [ONE] * 3
    await store.settle(replace(values.settlement(claim, labels=WEB), spent=Amounts(calls=5, working_ms=7)))
    usage = dict(await store.usage(TENANT))
    assert [usage[each].held for each in SCOPES] == [Amounts()] * 3
    assert [usage[each].used for each in SCOPES] == [Amounts(calls=2, working_ms=7)] * 3
    await claimed(store, intent=reserving(values, Reservation(SCOPES[0], ONE), run=run))
    assert ways == ["one amount"] * 3
    seen = await store.look(values.look())
    assert seen.run is not None
    assert (seen.run.labels == WEB) == (run is not None)
    await verified(store)


@pytest.mark.requirement("BUD-2")
@pytest.mark.parametrize("unit", list(Unit))
async def test_a_limit_of_any_unit_holds_to_the_last(postgres_stores: Opens, unit: Unit) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await postgres_stores("other")
    before = dict(await store.usage(TENANT))[SCOPES[1]].used
    limit = Limit(ScopeKind.RUN, unit, before[unit.place] + 2 * ONE[unit.place])
    limits = [(), (limit, replace(limit, amount=limit.amount + 1)), (Limit(ScopeKind.RUN, unit, 9),)]
    limited = [Reservation(scope, ONE, some) for scope, some in zip(SCOPES, limits, strict=True)]
    ways = ways_of(store)
    await claimed(store, intent=reserving(values, *limited))
    assert ways == ["one amount" if unit in (Unit.CALLS, Unit.CONCURRENT) else "amounts"]
    await claimed(other, intent=reserving(values, *limited))
    expected = NotClaimed.BUDGET if ONE[unit.place] else None
    found = await store.claim(reserving(values, *limited))
    assert found is expected or (expected is None and isinstance(found, Claim))


@pytest.mark.requirement("BUD-2")
async def test_more_than_a_limit_allows_of_one_call_is_refused_before_it_is_written(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    ways = ways_of(store)
    none = Reservation(SCOPES[0], ONE, (Limit(ScopeKind.RUN, Unit.CONCURRENT, 0),))
    assert await store.claim(reserving(values, none)) is NotClaimed.BUDGET
    assert "one amount" not in ways


@pytest.mark.parametrize("amounts", [Amounts(calls=1, cost_micros=3), Amounts(calls=2)])
async def test_what_scopes_do_not_take_alike_is_written_for_each(postgres_stores: Opens, amounts: Amounts) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    ways = ways_of(store)
    taken = [Reservation(SCOPES[0], ONE), Reservation(SCOPES[1], amounts)]
    claim = await claimed(store, intent=reserving(values, *taken))
    await store.settle(values.settlement(claim))
    usage = dict(await store.usage(TENANT))
    assert [usage[each].used for each in SCOPES[:2]] == [
        settled(each.amounts, spent=Amounts()).plus(Amounts(calls=1)) for each in taken
    ]
    assert ways == ["amounts"] * 2


async def test_what_a_call_has_spent_beside_time_is_written_for_each_scope(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    ways = ways_of(store)
    for spent in (Amounts(tokens=5), Amounts(cost_micros=6)):
        claim = await claimed(store, intent=reserving(values, Reservation(SCOPES[0], ONE)))
        await store.settle(replace(values.settlement(claim), spent=spent))
    assert dict(await store.usage(TENANT))[SCOPES[0]].used == Amounts(calls=3, tokens=5, cost_micros=6)
    assert ways == ["one amount", "amounts"] * 2


@pytest.mark.requirement("IDEM-3", "BUD-2")
async def test_a_call_whose_outcome_is_lost_goes_on_holding_what_it_spent(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    ways = ways_of(store)
    claim = await claimed(store, intent=reserving(values, Reservation(SCOPES[0], ONE)))
    lost = values.settlement(claim, CallEvent.LOSE_OUTCOME)
    assert await store.settle(replace(lost, spent=Amounts(working_ms=9))) is not None
    assert dict(await store.usage(TENANT))[SCOPES[0]].held == Amounts(calls=1, working_ms=9)
    assert ways == ["one amount", "amounts"]


@pytest.mark.requirement("IDEM-2")
async def test_a_key_that_is_seen_to_be_taken_is_read(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    await claimed(store, intent=values.intent("k", run=None))
    ways = ways_of(store)
    assert await store.claim(values.intent("k", run=None)) is NotClaimed.KEY
    assert ways[0] == "begin"


async def test_reservations_are_remembered_by_what_they_are(
    postgres_stores: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_lone, "HELD_MAX", 2)
    desk = (await warmed(postgres_stores, Values()))._writer.desk
    made = [Taken.of([Reservation(SCOPES[0], Amounts(calls=number))]) for number in range(1, 9)]
    for number, taken in enumerate(made, 1):
        held = held_of(desk, taken)
        assert held is not None
        assert held.claiming[1] == b"%d" % number
        assert held_of(desk, taken) is held
        assert len(desk.held) <= 2
    desk.held[id(made[0])] = (made[1], held)  # as where a number is given anew
    assert held_of(desk, made[0]) is not held
