"""Writes in groups: one that cannot be written fails alone, and a lost answer is found out, never sent again."""

import asyncio
from dataclasses import replace

import psycopg
import pytest
from anyio.lowlevel import checkpoint

from interlock.core.chain import Receipt
from interlock.core.effect import CallState
from interlock.core.errors import StoreClosed, StoreError
from interlock.core.journal import AuditQuery
from interlock.core.policy import PolicySource
from interlock.ports import Claim
from interlock.store import postgres_writer
from interlock.store.postgres_line import Line, Row, Step
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import TENANT, Values
from tests.postgres import Opens

TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


async def test_a_write_that_the_database_refuses_fails_alone(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    odd = replace(values.intent(), operation=replace(values.operation(), task="a\x00b"))
    answers = await asyncio.gather(
        *[store.claim(each) for each in (values.intent(), odd, values.intent())], return_exceptions=True
    )
    assert [type(each) for each in answers] == [Claim, StoreError, Claim]
    assert len(await store.open_calls()) == 2
    await verified(store)


@pytest.mark.requirement("IDEM-4")
@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_connection_lost_around_a_commit_leaves_each_write_once(
    postgres_url: str, postgres_stores: Opens, moment: str
) -> None:
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    writer = store._writer
    line = writer._line
    assert line is not None
    trip, lost = line.trip, list[bool]()

    async def cut(*steps: Step) -> list[list[Row]]:
        is_commit = steps[-1][0] == "commit" and not lost
        if is_commit and moment == "before":
            lost.append(True)
            with psycopg.connect(postgres_url, autocommit=True) as admin:
                admin.execute(TERMINATE)
        line.answered = None  # who hears it is the one that waits for the trip
        answer = await trip(*steps)
        if is_commit and moment == "after":
            lost.append(True)
            await line.close()
            raise psycopg.OperationalError("the answer was lost")
        return answer

    line.trip = cut  # type: ignore[method-assign]  # the network, which may lose an answer at any time
    claim = await claimed(store, intent=values.intent("k"))
    assert lost
    assert await store.settle(values.settlement(claim)) is not None
    assert [each.kind for each in await store.records(AuditQuery())] == ["call.claimed", "call.claimed", "call.settled"]
    found = await store.find(TENANT, claim.operation_id)
    assert found is not None
    assert found.state is CallState.SUCCEEDED
    await verified(store)


@pytest.mark.requirement("IDEM-5")
async def test_where_it_stays_unknown_whether_a_claim_was_written_nobody_holds_it(
    monkeypatch: pytest.MonkeyPatch, postgres_stores: Opens
) -> None:
    monkeypatch.setattr(postgres_writer, "PATIENCE_S", 0)
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    line = store._writer._line
    assert line is not None
    trip = line.trip

    async def cut(*steps: Step) -> list[list[Row]]:
        line.answered = None
        await trip(*steps)
        if steps[-1][0] != "commit":
            return []
        await line.close()
        raise psycopg.OperationalError("the answer was lost")

    line.trip = cut  # type: ignore[method-assign]  # the network, which may lose an answer at any time
    with pytest.raises(StoreError, match="not known whether this was written"):
        await store.record(values.entry())
    assert len(await store.records(AuditQuery())) == 2
    assert (await store.append(values.event())).sequence > 0
    await verified(store)


async def test_a_closed_store_takes_nothing_more(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    last = asyncio.ensure_future(store.append(values.event()))
    await checkpoint()
    await store.close()
    assert (await last).sequence == 1
    with pytest.raises(StoreClosed):
        await store.append(values.event())
    with pytest.raises(StoreClosed):
        await store.epoch()


@pytest.mark.requirement("IDEM-4", "AUD-2")
@pytest.mark.parametrize("fault", ["cut", "refused"])
@pytest.mark.parametrize("question", ["pass_batch", "renew_lease"])
async def test_what_had_become_of_a_write_is_found_out_whatever_comes_in_between(
    monkeypatch: pytest.MonkeyPatch, postgres_stores: Opens, question: str, fault: str
) -> None:
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    trip, lost = Line.trip, list[str]()

    async def cut(line: Line, *steps: Step) -> list[list[Row]]:
        line.answered = None
        answer = await trip(line, *steps)
        names = [name for name, _ in steps]
        if line is store._writer.lease._line or names[-1] != ["commit", question, ""][len(lost)]:
            return answer
        lost.append(names[-1])
        if names[-1] == question and fault == "refused":
            raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")
        await line.close()
        raise psycopg.OperationalError("the answer was lost")

    monkeypatch.setattr(Line, "trip", cut)  # the network, which may lose an answer at any time
    claim = await claimed(store, intent=values.intent("k", limit=5))
    assert lost == ["commit", question]
    assert await store.settle(values.settlement(claim)) is not None
    assert [each.kind for each in await store.records(AuditQuery())] == ["call.claimed", "call.claimed", "call.settled"]
    await verified(store)


@pytest.mark.requirement("IDEM-4", "AUD-2")
async def test_a_write_that_reaches_the_server_after_it_was_given_up_is_refused(
    monkeypatch: pytest.MonkeyPatch, postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    trip, late = Line.trip, list[Step]()
    network = await Line.open(postgres_url)

    async def delay(line: Line, *steps: Step) -> list[list[Row]]:
        if line is network or line is store._writer.lease._line:
            return await trip(line, *steps)
        if steps[-1][0] == "commit" and not late:
            late.extend(steps)
            await line.close()
            raise psycopg.OperationalError("the connection was lost")
        answer = await trip(line, *steps)
        if steps[-1][0] == "renew_lease":
            with pytest.raises(psycopg.Error, match="another batch"):
                await network.trip(*late)
            await network.roll_back()
        return answer

    monkeypatch.setattr(Line, "trip", delay)  # the network, in which a packet may be held up
    assert (await store.append(values.event())).sequence == 2
    await network.close()
    assert [each.record.sequence for each in await store.records(AuditQuery())] == [1, 2]
    await verified(store)


async def test_where_nobody_can_be_asked_any_more_what_was_written_nothing_is_written_again(
    monkeypatch: pytest.MonkeyPatch, postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    trip, lost = Line.trip, list[bool]()

    async def cut(line: Line, *steps: Step) -> list[list[Row]]:
        line.answered = None
        answer = await trip(line, *steps)
        if steps[-1][0] != "commit" or lost:
            return answer
        lost.append(True)
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute("DELETE FROM owners")  # as the next process does after a day
        await line.close()
        raise psycopg.OperationalError("the answer was lost")

    monkeypatch.setattr(Line, "trip", cut)  # the network, which may lose an answer at any time
    with pytest.raises(StoreError, match="not known whether this was written"):
        await store.record(values.entry())
    assert (await store.append(values.event())).sequence == 3
    await verified(store)


async def test_a_call_is_found_whole_by_who_looks_while_it_is_settled(postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    claim = await claimed(store, intent=values.intent("k"))
    _, found = await asyncio.gather(store.settle(values.settlement(claim)), store.find(TENANT, claim.operation_id))
    assert found is not None
    assert (found.state, found.operation.sealed) == (CallState.SUCCEEDED, values.operation().sealed)


@pytest.mark.parametrize("odd", ["a\x00b", "a\ud800b"])
async def test_what_cannot_travel_fails_alone_also_where_it_has_a_transaction_for_itself(
    postgres_stores: Opens, odd: str
) -> None:
    store, values = await postgres_stores(), Values()
    refused = store.save_policies((PolicySource(odd, "permit(principal, action, resource);"),), values.event())
    answers = await asyncio.gather(
        store.append(values.event()), refused, store.append(values.event()), return_exceptions=True
    )
    assert [isinstance(each, Receipt) for each in answers] == [True, False, True]
    assert isinstance(answers[1], StoreError | UnicodeEncodeError)
    assert (await store.append(values.event())).sequence == 3
    await verified(store)


async def test_those_who_are_answered_together_write_together_again(postgres_stores: Opens) -> None:
    commits = list[tuple[str, ...]]()
    values = Values()
    store = await postgres_stores(on_commit=lambda when, names: commits.append(names) if when == "after" else None)

    async def call() -> None:
        for _ in range(3):
            claim = await claimed(store, intent=values.intent(run=None))
            assert await store.settle(values.settlement(claim)) is not None

    await asyncio.gather(*[call() for _ in range(5)])
    assert commits == [("claim",) * 5, ("settle",) * 5] * 3
