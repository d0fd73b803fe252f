"""A batch of one call is one statement that holds all that several hold."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from anyio.lowlevel import checkpoint

from interlock.core.budget import SUM_MAX, Amounts, Reservation
from interlock.core.labels import Labels, Trust
from interlock.ports import Claim, NotClaimed
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_line import Line, Row, Step
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
