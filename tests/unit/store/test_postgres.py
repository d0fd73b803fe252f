"""A PostgreSQL store as a whole: what closing leaves, and that retention forgets."""

from dataclasses import replace

import psycopg
import pytest

from interlock.core.effect import CallEvent
from interlock.core.errors import StoreClosed
from interlock.core.journal import AuditQuery
from interlock.store import postgres_reads
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import DAY_US, NOW_US, Values
from tests.postgres import Opens, OwnServer


async def test_closing_twice_is_closing_once(postgres_stores: Opens) -> None:
    store = await postgres_stores()
    await store.close()
    await store.close()


async def test_a_store_whose_server_has_gone_closes_all_the_same_and_leaves_no_connection(
    own_server: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_reads, "PATIENCE_S", 0)
    store, values = await own_server.opened(), Values()
    await store.append(values.event())
    await store.epoch()
    (line,) = store._reader._free
    own_server.kill()
    await store.close()
    assert line.is_broken
    with pytest.raises(StoreClosed):
        await store.epoch()


async def test_work_that_goes_on_when_a_store_is_closed_keeps_its_calls_for_a_while(
    postgres_url: str, postgres_stores: Opens
) -> None:
    first, second, values = await postgres_stores("first"), await postgres_stores("second"), Values()
    claim = await claimed(first, intent=values.intent("k"))
    await first.settle(replace(values.settlement(claim, CallEvent.LOSE_OUTCOME), goes_on=True))
    await first.close()
    assert [each.orphaned for each in await second.open_calls()] == [False]
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE owners SET until = until - interval '61 seconds'")
    assert [each.orphaned for each in await second.open_calls()] == [True]


@pytest.mark.requirement("AUD-4")
async def test_many_records_are_purged_whatever_fits_into_one_step(
    monkeypatch: pytest.MonkeyPatch, postgres_stores: Opens
) -> None:
    monkeypatch.setattr("interlock.store.postgres.PURGE_ROWS", 2)
    store, values = await postgres_stores(), Values()
    for _ in range(5):
        await store.append(values.event())
    await store.purge(2**60)
    assert [len(each.payloads) for each in await store.records(AuditQuery())] == [1] * 5
    await verified(store)


@pytest.mark.requirement("IDEM-5")
async def test_the_fences_of_a_key_rise_also_after_its_calls_were_dropped(
    postgres_url: str, postgres_stores: Opens
) -> None:
    store, values, fences = await postgres_stores(), Values(), []
    for _ in range(3):
        claim = await claimed(store, intent=values.intent("k"))
        await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
        fences.append(claim.fence)
    other = await claimed(store, intent=values.intent("open"))
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for left in (4, 1):
            await store.purge(NOW_US + 2 * DAY_US)
            assert admin.execute("SELECT count(*) FROM calls").fetchall() == [(left,)]
    fences.append((await claimed(store, intent=values.intent("k"))).fence)
    assert fences == sorted(set(fences))
    assert await store.settle(values.settlement(other)) is not None
