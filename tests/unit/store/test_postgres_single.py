"""A batch of one call is one statement that holds all that several hold."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from anyio.lowlevel import checkpoint

from interlock.core.budget import SUM_MAX, Amounts, Limit, Reservation, ScopeKind, Unit, settled
from interlock.core.effect import CallEvent
from interlock.core.labels import Labels, Trust
from interlock.ports import Claim, NotClaimed
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_line import _PLAIN, Line, Row, Step, addressed
from interlock.store.postgres_writer import DOUBTS
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import RUN, SCOPE, TENANT, Values
from tests.postgres import Opens

WEB = Labels(trust=Trust.UNTRUSTED, origins=frozenset({"web"}))
HELD = (Reservation(SCOPE, Amounts(concurrent=1)),)


async def warmed(opens: Opens, values: Values, chain: str = "main") -> PostgresStore:
    """A store that knows that the scope is there."""
    store = await opens(chain)
    claim = await claimed(store, intent=replace(values.intent(run=None), reservations=HELD))
    await store.settle(values.settlement(claim))
    return store


def trips_of(store: PostgresStore) -> list[str]:
    """The first step of each trip of its writer from now on."""
    line, trips = store._writer._line, list[str]()
    assert line is not None
    trip = line.trip

    async def noted(*steps: Step) -> list[list[Row]]:
        trips.append(steps[0][0])
        return await trip(*steps)

    line.trip = noted  # type: ignore[method-assign]  # the network, which is listened to
    return trips


@pytest.mark.requirement("IDEM-5")
async def test_without_a_lease_one_call_is_not_written_either(postgres_url: str, postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    claim = await claimed(store, intent=values.intent(run=None))
    owner, trips = store._writer.desk.owner, trips_of(store)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp()")
    assert await store.settle(values.settlement(claim)) is None
    assert trips[0] == "write_call"
    found = await store.find(TENANT, claim.operation_id)
    assert found is not None
    assert found.orphaned
    assert store._writer.desk.owner > owner
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp()")
    again = await claimed(store, intent=values.intent(run=None))
    found = await store.find(TENANT, again.operation_id)
    assert found is not None
    assert not found.orphaned
    await verified(store)


@pytest.mark.requirement("IDEM-5")
async def test_without_a_lease_no_call_is_claimed(postgres_url: str, postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    owner, trips = store._writer.desk.owner, trips_of(store)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = clock_timestamp()")
    claim = await claimed(store, intent=values.intent(run=None))
    assert trips[0] == "write_claim"
    assert store._writer.desk.owner > owner
    found = await store.find(TENANT, claim.operation_id)
    assert found is not None
    assert not found.orphaned
    await verified(store)


@pytest.mark.requirement("IDEM-4", "AUD-2")
async def test_a_settlement_that_reaches_the_server_after_it_was_given_up_is_refused(
    monkeypatch: pytest.MonkeyPatch, postgres_url: str, postgres_stores: Opens
) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    claim = await claimed(store, intent=values.intent(run=None))
    trip, late, network = Line.trip, list[Step](), await Line.open(postgres_url)

    async def delay(line: Line, *steps: Step) -> list[list[Row]]:
        if line is network or line is store._writer.lease._line:
            return await trip(line, *steps)
        if steps[0][0] == "write_call" and not late:
            late.extend(steps)
            await line.close()
            raise psycopg.OperationalError("the connection was lost")
        answer = await trip(line, *steps)
        if steps[-1][0] == "renew_lease":
            with pytest.raises(psycopg.Error, match="another batch"):
                await network.trip(*late)
        return answer

    monkeypatch.setattr(Line, "trip", delay)  # the network, in which a packet may be held up
    assert await store.settle(values.settlement(claim)) is not None
    await network.close()
    assert late
    assert (await store.look(values.look())).usage[0].used.calls == 1
    await verified(store)


async def test_what_another_process_has_added_to_a_run_is_not_written_over(postgres_stores: Opens) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await warmed(postgres_stores, values, "other")
    claim = await claimed(store, intent=values.intent())
    await other.look(values.look())
    theirs = values.intent()
    await claimed(other, intent=replace(theirs, operation=replace(theirs.operation, tool="search")))
    trips = trips_of(store)
    assert await store.settle(values.settlement(claim, labels=WEB)) is not None
    assert trips[0] == "write_call"
    run = (await store.look(values.look())).run
    assert run is not None
    assert (run.labels, run.tools, run.version) == (WEB, {"save", "search"}, 3)


async def test_an_epoch_that_is_being_changed_is_waited_for(postgres_url: str, postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    async with await psycopg.AsyncConnection.connect(postgres_url) as changing:
        await changing.execute("SELECT pg_advisory_xact_lock(7310, 2)")
        await changing.execute("UPDATE epoch SET epoch = epoch + 1")
        claiming = asyncio.ensure_future(store.claim(values.intent(run=None)))
        waiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while not claiming.done() and not (await (await changing.execute(waiting)).fetchall()):
            await checkpoint()
        await changing.commit()
        assert await claiming is NotClaimed.EPOCH


@pytest.mark.requirement("BUD-2")
async def test_sums_that_are_too_big_for_a_column_stay_at_the_most_that_there_is(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    much = (Reservation(SCOPE, Amounts(tokens=SUM_MAX)),)
    for _ in range(2):
        assert isinstance(await store.claim(replace(values.intent(run=None), reservations=much)), Claim)
    assert (await store.look(values.look())).usage[0].held.tokens == SUM_MAX


@pytest.mark.requirement("BUD-2")
@pytest.mark.parametrize("amounts", [(1, 1), (1, 3)])
@pytest.mark.parametrize("unit", [Unit.CALLS, Unit.CONCURRENT, Unit.WORKING_MS])
async def test_each_scope_of_a_call_has_its_own_amounts_and_limits(
    postgres_stores: Opens, amounts: tuple[int, int], unit: Unit
) -> None:
    values = Values()
    store, other = await warmed(postgres_stores, values), await warmed(postgres_stores, values, "other")
    scopes = [SCOPE._replace(id=name) for name in "abc"]
    taken = [Amounts(calls=each, working_ms=each, concurrent=each) for each in (*amounts, amounts[0])]
    open_ended = tuple(map(Reservation, scopes, taken))
    two_more = (4 if unit is Unit.CALLS else 2) * amounts[1]  # two have been made before
    limits = [(), (Limit(ScopeKind.RUN, unit, two_more),), (Limit(ScopeKind.RUN, unit, 9),)]
    limited = tuple(map(Reservation, scopes, taken, limits))
    for each in (store, other):
        claim = await claimed(each, intent=replace(values.intent(run=None), reservations=open_ended))
        await each.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
    trips = trips_of(store)
    claim = await claimed(store, intent=replace(values.intent(run=None), reservations=limited))
    await claimed(other, intent=replace(values.intent(run=None), reservations=limited))
    assert await store.claim(replace(values.intent(run=None), reservations=limited)) is NotClaimed.BUDGET
    assert trips[:2] == ["write_claim", "write_claim"]
    await store.settle(replace(values.settlement(claim), spent=Amounts(calls=7, working_ms=5)))
    usage = dict(await store.usage(TENANT))
    assert [usage[each].held for each in scopes] == taken
    spent = [settled(each, spent=Amounts(working_ms=5)).plus(Amounts(calls=2 * each.calls)) for each in taken]
    assert [usage[each].used for each in scopes] == spent


async def test_a_scope_that_was_dropped_meanwhile_is_counted_anew(postgres_url: str, postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    drop = "DELETE FROM usage"  # as a purge drops a rate window that is over
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(drop)
        claim = await claimed(store, intent=replace(values.intent(run=None), reservations=HELD))
        assert dict(await store.usage(TENANT))[SCOPE].held == Amounts(concurrent=1)
        for _ in range(DOUBTS):
            await store.settle(values.settlement(await claimed(store, intent=values.intent(run=None))))
        trips = trips_of(store)
        admin.execute(drop)
        assert await store.settle(values.settlement(claim)) is not None
    assert trips[0] == "write_call"
    assert SCOPE in dict(await store.usage(TENANT))


@pytest.mark.parametrize("rows", [0, 4, 20_000])
async def test_scopes_are_locked_in_the_order_of_their_places(
    postgres_url: str, postgres_stores: Opens, rows: int
) -> None:
    await postgres_stores("main")
    async with await psycopg.AsyncConnection.connect(addressed(postgres_url), autocommit=True) as planning:
        await planning.execute(
            "PREPARE moved (bytea[], bigint[]) AS UPDATE usage SET held_calls = held_calls + 1 WHERE place = ANY($1) "
            "AND (used_calls + held_calls + 1 <= $2[array_position($1, place)]) IS NOT FALSE"
        )
        await planning.execute(b"PREPARE alike AS " + _PLAIN["move_usage_alike"][0])
        statements = "moved('{a,b}', NULL)", "alike(1, 1, 1, 1, 1, '{a,b}', NULL, NULL)"
        insert = "INSERT INTO usage SELECT sha256(n::text::bytea), 't', 'run', n, 0 FROM generate_series(1, %s) AS n"
        for sql, values in ((insert, (rows,)), ("ANALYZE usage", None)):
            await planning.execute(sql, values)
            for each in statements:
                plan = await planning.execute(f"EXPLAIN EXECUTE {each}".encode())
                # An index gives them in its order, and a heap as they lie.
                assert any("Index Scan using usage_pkey" in line for (line,) in await plan.fetchall())


async def test_a_fault_of_the_commit_itself_is_a_fault_of_the_write(postgres_url: str, postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            "CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF NEW.task = 'bad' THEN RAISE 'no' USING ERRCODE = 'check_violation'; END IF; RETURN NULL; END $$"
        )
        admin.execute(
            "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON calls DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION fail_once()"
        )
    bad = values.intent(run=None)
    with pytest.raises(Exception, match="the database refused a write"):
        await store.claim(replace(bad, operation=replace(bad.operation, task="bad")))
    assert isinstance(await store.claim(values.intent(run=None)), Claim)
    assert len(await store.open_calls()) == 1
    await verified(store)


async def test_a_run_that_is_only_looked_at_is_not_written(postgres_stores: Opens) -> None:
    values = Values()
    store = await warmed(postgres_stores, values)
    await claimed(store, intent=values.intent())
    before = (await store.look(values.look())).run
    trips = trips_of(store)
    await claimed(store, intent=values.intent())
    assert trips == ["write_claim"]
    assert before is not None
    assert before.id == RUN
    assert (await store.look(values.look())).run == before
