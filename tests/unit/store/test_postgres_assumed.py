"""A claim is written in one trip on what was seen before; where that holds no more, it is as if it had been read."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import psycopg
import pytest

from interlock.core.approval import ApprovalState
from interlock.core.budget import SUM_MAX, Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit
from interlock.core.chain import Receipt
from interlock.core.effect import CallEvent
from interlock.core.labels import Labels, Trust
from interlock.ports import Claim, Intent, NotClaimed
from interlock.store import postgres_writer
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_line import Line, Row, Step
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import RUN, SCOPE, TENANT, Values
from tests.postgres import Opens

WEB = Labels(trust=Trust.UNTRUSTED, origins=frozenset({"web"}))

Trips = list[list[str]]


def trips_of(store: PostgresStore) -> Trips:
    """The trips of its writer from now on, each as the names of its steps."""
    line, trips = store._writer._line, Trips()
    assert line is not None
    trip = line.trip

    async def noted(*steps: Step) -> list[list[Row]]:
        trips.append([name for name, _ in steps])
        return await trip(*steps)

    line.trip = noted  # type: ignore[method-assign]  # the network, which is listened to
    return trips


async def warmed(opens: Opens, values: Values, chain: str = "main", *, scopes: str = "new") -> PostgresStore:
    """A store that has claimed before, as most have; where the scope is known to it, one call is one statement."""
    store = await opens(chain)
    held = () if scopes == "new" else (Reservation(SCOPE, Amounts(concurrent=1)),)
    claim = await claimed(store, intent=replace(values.intent(f"warm-{chain}", run=None), reservations=held))
    if held:
        await store.settle(values.settlement(claim))
    return store


@pytest.fixture(params=["new", "known"])
def scopes(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def looked(store: PostgresStore, intent: Intent) -> Intent:
    await store.look(Values().look(intent.operation.key))
    return intent


def assumed(trips: Trips) -> bool:
    """Whether the last write was one that assumed."""
    return bool({"begin_claims", "write_claim"} & {*trips[-1]})


@pytest.mark.parametrize("limit", [None, 5])
@pytest.mark.parametrize("run", [None, RUN])
async def test_a_claim_is_one_trip_and_so_is_its_settlement(
    postgres_stores: Opens, scopes: str, run: str | None, limit: int | None
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values, scopes=scopes)
    trips = trips_of(store)
    for key in ("a", "b"):
        claim = await claimed(store, intent=await looked(store, values.intent(key, run=run, limit=limit)))
        assert assumed(trips)
        assert await store.settle(values.settlement(claim, labels=WEB)) is not None
    assert len(trips) == 4
    assert trips[2:] == [["write_claim"], ["write_call"]]
    seen = await store.look(values.look("a"))
    assert seen.prior is not None
    assert seen.usage[0].used.calls == 2
    assert seen.run is not None
    assert (seen.run.labels == WEB, seen.run.tools == {"save"}) == (run is not None, run is not None)
    await verified(store)


async def test_many_claims_at_once_are_one_trip(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    intents = [await looked(store, values.intent(f"k{number}", limit=20)) for number in range(20)]
    trips = trips_of(store)
    assert all(isinstance(each, Claim) for each in await asyncio.gather(*map(store.claim, intents)))
    assert len(trips) == 1
    assert (await store.look(values.look("k0"))).usage[0].held.calls == 20
    assert await store.claim(await looked(store, values.intent("k20", limit=20))) is NotClaimed.BUDGET
    too_many = [replace(values.intent(f"m{number}", limit=1, run=None), epoch=0) for number in range(2)]
    for each in too_many:
        await looked(store, each)
    trips.clear()
    assert await asyncio.gather(*map(store.claim, too_many)) == 2 * [NotClaimed.BUDGET]
    assert not any(assumed([trip]) for trip in trips)
    await verified(store)


@pytest.mark.requirement("IDEM-2")
async def test_a_key_that_somebody_took_meanwhile_is_theirs(postgres_stores: Opens, scopes: str) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values, scopes=scopes), await postgres_stores("other")
    intent = await looked(store, values.intent("k", run=None))
    await claimed(other, intent=values.intent("k", run=None))
    trips = trips_of(store)
    assert await store.claim(intent) is NotClaimed.KEY
    assert assumed(trips[:1])
    assert len(trips) > 1
    assert len(await store.open_calls()) == (2 if scopes == "new" else 1)
    await verified(store)


@pytest.mark.requirement("IDEM-5")
@pytest.mark.parametrize("fence", [1, 7])
async def test_a_key_whose_call_came_and_was_dropped_meanwhile_goes_on_above_its_fence(
    postgres_url: str, postgres_stores: Opens, scopes: str, fence: int
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values, scopes=scopes)
    intent = await looked(store, values.intent("k", run=None))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE epoch SET fence_floor = %s", (fence,))  # as a purge leaves it
    trips = trips_of(store)
    assert (await claimed(store, intent=intent)).fence == fence + 1
    assert assumed(trips[:1])
    assert len(trips) == (4 if scopes == "new" else 3)
    await verified(store)


@pytest.mark.requirement("APR-4")
async def test_questions_that_wait_under_a_key_that_is_taken_are_void(postgres_stores: Opens, scopes: str) -> None:
    values = Values()
    store = await warmed(postgres_stores, values, scopes=scopes)
    await store.ask(values.asking("k"))
    trips = trips_of(store)
    await claimed(store, intent=await looked(store, values.intent("k", run=None)))
    assert assumed(trips)
    assert [each.state for each in await store.approvals(TENANT)] == [ApprovalState.VOID]


async def test_an_epoch_that_ended_meanwhile_is_told(postgres_stores: Opens, scopes: str) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values, scopes=scopes), await postgres_stores("other")
    intent = await looked(store, values.intent("k", run=None))
    epoch = await other.publish((values.registered("x"),), values.event())
    assert await store.claim(intent) is NotClaimed.EPOCH
    assert isinstance(await store.claim(replace(intent, epoch=epoch)), Claim)


@pytest.mark.parametrize("version", [None, 1])
async def test_a_run_that_went_on_meanwhile_is_read_anew(
    postgres_stores: Opens, scopes: str, version: int | None
) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values, scopes=scopes), await postgres_stores("other")
    await claimed(store, intent=await looked(store, values.intent("a")))
    intent = await looked(store, replace(values.intent("b"), run_version=version))
    theirs = values.intent("c")
    await claimed(other, intent=replace(theirs, operation=replace(theirs.operation, tool="search"), ceiling=WEB))
    trips = trips_of(store)
    taken = await store.claim(intent)
    assert assumed(trips[:1])
    assert isinstance(taken, Claim) == (version is None)
    assert taken is NotClaimed.RUN or version is None
    run = (await store.look(values.look())).run
    assert run is not None
    assert (run.labels, run.tools) == (WEB, {"save", "search"})


async def test_who_has_seen_more_of_a_run_than_is_assumed_is_not_refused_for_it(postgres_stores: Opens) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await postgres_stores("other")
    await claimed(store, intent=await looked(store, values.intent("a")))
    await claimed(other, intent=replace(values.intent("c"), ceiling=WEB))
    run = (await other.look(values.look())).run
    assert run is not None
    fresh = values.intent(run=RUN)
    trips = trips_of(store)
    assert isinstance(await store.claim(replace(fresh, run_version=run.version)), Claim)
    assert not any(assumed([trip]) for trip in trips)


async def test_a_run_that_somebody_else_began_meanwhile_is_read_anew(postgres_stores: Opens) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await postgres_stores("other")
    intent = await looked(store, values.intent("a"))
    theirs = values.intent("c")
    await claimed(other, intent=replace(theirs, operation=replace(theirs.operation, tool="search")))
    assert isinstance(await store.claim(intent), Claim)
    run = (await store.look(values.look())).run
    assert run is not None
    assert run.tools == {"save", "search"}


@pytest.mark.requirement("BUD-2")
async def test_of_what_is_left_of_a_budget_nobody_takes_more(
    postgres_stores: Opens, monkeypatch: pytest.MonkeyPatch, scopes: str
) -> None:
    monkeypatch.setattr(postgres_writer, "DOUBTS", 1)
    values, limit = Values(), 25
    stores = [await warmed(postgres_stores, values, name, scopes=scopes) for name in ("one", "two", "three")]

    async def take(store: PostgresStore, name: str) -> list[Claim]:
        taken = list[Claim]()
        for number in range(15):
            intent = await looked(store, values.intent(f"{name}-{number}", limit=limit, run=None))
            claim = await store.claim(intent)
            if isinstance(claim, Claim):
                taken.append(claim)
                if number % 3 == 0:
                    await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
        return taken

    claims = await asyncio.gather(*[take(store, str(number)) for number, store in enumerate(stores)])
    usage = dict(await stores[0].usage(TENANT))[SCOPE]
    assert usage.used.calls + usage.held.calls == sum(map(len, claims)) == limit
    for store in stores:
        await verified(store)


@pytest.mark.requirement("BUD-2")
async def test_each_limit_of_a_scope_is_guarded(postgres_stores: Opens, scopes: str) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values, scopes=scopes), await postgres_stores("other")
    full = {unit: Amounts(**{unit.value: 5}) for unit in Unit}
    for unit in Unit:
        scope = replace_id(unit.value)
        await other.claim(reserving(values, Reservation(scope, full[unit])))
        if scopes == "known":
            held = Reservation(scope, Amounts(concurrent=1))
            claim = await claimed(store, intent=reserving(values, held))
            await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
        for amount, expected in ((9, NotClaimed.BUDGET), (10, None), (SUM_MAX * 4, None)):
            limited = Reservation(scope, full[unit], (Limit(ScopeKind.RUN, unit, amount),))
            found = await store.claim(await looked(store, reserving(values, limited)))
            assert found is expected or (expected is None and isinstance(found, Claim)), (unit, amount)
            if isinstance(found, Claim):
                await store.settle(values.settlement(found, CallEvent.PROVE_NOTHING_HAPPENED))
                await store.renew(found, 0)
        usage = dict(await store.usage(TENANT))[scope]
        assert usage.held == full[unit]


@pytest.mark.requirement("BUD-2")
async def test_what_a_settlement_gives_back_in_the_same_batch_counts_for_who_comes_after_it(
    postgres_stores: Opens,
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    only = Reservation(SCOPE, Amounts(concurrent=1), (Limit(ScopeKind.RUN, Unit.CONCURRENT, 1),))
    first = await claimed(store, intent=await looked(store, reserving(values, only)))
    second, third = [await looked(store, reserving(values, only)) for _ in range(2)]
    trips = trips_of(store)
    answers = await asyncio.gather(store.settle(values.settlement(first)), store.claim(second), store.claim(third))
    assert [type(each) for each in answers] == [Receipt, Claim, NotClaimed]
    assert trips
    fourth, fifth = [await looked(store, reserving(values, only)) for _ in range(2)]
    second_claim = answers[1]
    assert isinstance(second_claim, Claim)
    early = await asyncio.gather(store.claim(fourth), store.settle(values.settlement(second_claim)), store.claim(fifth))
    assert [type(each) for each in early] == [NotClaimed, Receipt, Claim]
    assert dict(await store.usage(TENANT))[SCOPE].held == Amounts(concurrent=1)


@pytest.mark.requirement("BUD-2")
@pytest.mark.parametrize("unit", [Unit.CALLS, Unit.CONCURRENT, Unit.WORKING_MS])
async def test_what_many_calls_take_together_is_guarded_scope_by_scope(postgres_stores: Opens, unit: Unit) -> None:
    values, one = Values(), Amounts(calls=1, working_ms=1, concurrent=1)
    store, other = await warmed(postgres_stores, values), await postgres_stores("other")
    scopes = [replace_id(name) for name in "abc"]
    limits = [(), (Limit(ScopeKind.RUN, unit, 6),), (Limit(ScopeKind.RUN, unit, 60),)]
    limited = [Reservation(scope, one, some) for scope, some in zip(scopes, limits, strict=True)]
    known = [Reservation(scope, Amounts(concurrent=1)) for scope in scopes]
    await store.settle(values.settlement(await claimed(store, intent=reserving(values, *known))))
    trips, moves = trips_of(store), {"move_usage", "move_usage_alike"}
    claims = await asyncio.gather(*[claimed(store, intent=reserving(values, *limited)) for _ in range(3)])
    assert moves & {*trips[-1]} == {"move_usage" if unit is Unit.WORKING_MS else "move_usage_alike"}
    await claimed(other, intent=reserving(values, *limited))
    answers = await asyncio.gather(*[store.claim(reserving(values, *limited)) for _ in range(3)])
    assert answers.count(NotClaimed.BUDGET) == 1
    await asyncio.gather(*[store.settle(values.settlement(each)) for each in claims])
    usage = dict(await store.usage(TENANT))
    assert {(usage[each].used.calls, usage[each].held) for each in scopes} == {(3, Amounts(0, 3, 0, 0, 3, 3))}


@pytest.mark.requirement("BUD-2")
async def test_who_comes_before_what_is_given_back_does_not_have_it(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    two = Reservation(SCOPE, Amounts(concurrent=1), (Limit(ScopeKind.RUN, Unit.CONCURRENT, 2),))
    first, second = [await claimed(store, intent=reserving(values, two)) for _ in range(2)]
    early, late = reserving(values, two), reserving(values, two)
    answers = await asyncio.gather(
        store.claim(early),
        store.settle(values.settlement(first)),
        store.settle(values.settlement(second)),
        store.claim(late),
    )
    assert [type(each) for each in answers] == [NotClaimed, Receipt, Receipt, Claim]


@pytest.mark.requirement("IDEM-4", "AUD-2")
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_lost_answer_to_an_assumed_claim_is_found_out(
    monkeypatch: pytest.MonkeyPatch, postgres_stores: Opens, scopes: str, moment: str
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values, scopes=scopes)
    intent = await looked(store, values.intent("k", limit=5, run=None))
    last = "commit" if scopes == "new" else "write_claim"
    trip, lost = Line.trip, Trips()

    async def cut(line: Line, *steps: Step) -> list[list[Row]]:
        if steps[-1][0] != last or lost or line is not store._writer._line:
            return await trip(line, *steps)
        lost.append([name for name, _ in steps])
        if moment == "after":
            line.answered = None
            await trip(line, *steps)
        await line.close()
        raise psycopg.OperationalError("the answer was lost")

    monkeypatch.setattr(Line, "trip", cut)  # the network, which may lose an answer at any time
    claim = await claimed(store, intent=intent)
    assert assumed(lost)
    assert (await store.look(values.look("k"))).usage[0].held.calls == 1
    assert await store.settle(values.settlement(claim)) is not None
    await verified(store)


async def test_where_processes_contend_batches_read_first_for_a_while(postgres_stores: Opens) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await postgres_stores("other")
    intent = await looked(store, values.intent("k"))
    await claimed(other, intent=values.intent("k"))
    await store.claim(intent)
    trips, ways = trips_of(store), list[bool]()
    for number in range(postgres_writer.DOUBTS + 1):
        await claimed(store, intent=await looked(store, values.intent(f"k{number}")))
        ways.append(assumed(trips))
    assert ways[0] is False
    assert ways[-1] is True


@pytest.mark.parametrize(
    "change",
    [lambda each: replace(each, continues="x"), lambda each: replace(each, approval="x")],
    ids=["continued", "approved"],
)
async def test_what_stands_on_more_than_that_is_read_first(
    postgres_stores: Opens, change: Callable[[Intent], Intent]
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    trips = trips_of(store)
    assert isinstance(await store.claim(change(await looked(store, values.intent("k")))), NotClaimed)
    assert not any(assumed([trip]) for trip in trips)


def reserving(values: Values, *reservations: Reservation) -> Intent:
    return replace(values.intent(run=None), reservations=reservations)


def replace_id(name: str) -> ScopeKey:
    return SCOPE._replace(id=name)
