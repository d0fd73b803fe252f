"""What went wrong with storage for others: locked databases, lost rows, forked chains, bytes that could not be kept."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest

from interlock.core.journal import AuditQuery
from interlock.ports import Claim
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import Values

pytestmark = pytest.mark.trouble

Case = Callable[[str], Mapping[str, Any]]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = await SqliteStore.open(tmp_path / "store.db", chain="main")
    yield store
    await store.close()


@pytest.mark.requirement("SCALE-1")
async def test_many_writers_beside_a_long_reader_lose_nothing_and_nothing_is_locked(
    trouble_case: Case, store: SqliteStore, tmp_path: Path
) -> None:
    case = trouble_case("STO-01")["input"]
    values = Values()
    reader = apsw.Connection(str(tmp_path / "store.db"))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM audit").fetchone() == (0,)

    async def write() -> None:
        for _ in range(case["per_writer"]):
            await store.append(values.event())

    await asyncio.gather(*[write() for _ in range(case["writers"])])
    assert reader.execute("SELECT count(*) FROM audit").fetchone() == (0,)
    reader.close()
    assert [head.sequence for head in await verified(store)] == [case["writers"] * case["per_writer"]]


async def test_output_with_nul_characters_is_kept_as_it_is(trouble_case: Case, store: SqliteStore) -> None:
    data = trouble_case("STO-03")["input"]["tool_result"].encode()
    values = Values()
    await store.append(values.event(data=data))
    (found,) = await store.records(AuditQuery())
    assert found.payloads[1].data == data


@pytest.mark.requirement("AUD-2")
async def test_concurrent_writers_do_not_fork_the_chain(trouble_case: Case, store: SqliteStore) -> None:
    case = trouble_case("AUD-03")["input"]
    values = Values()
    other = await SqliteStore.open(store.path, chain="main")
    writers = (store, other) * (case["writers"] // 2)
    await asyncio.gather(*[each.append(values.event()) for each in writers for _ in range(case["events_each"])])
    heads = await verified(store)
    assert sum(head.sequence for head in heads) == case["writers"] * case["events_each"]
    await other.close()


@pytest.mark.requirement("BUD-2")
async def test_parallel_children_cannot_all_start_on_the_same_stale_number(
    trouble_case: Case, store: SqliteStore
) -> None:
    case = trouble_case("BUD-03")["input"]
    values = Values()
    left = int(case["limit_usd"] - case["spent"]) + 1
    intents = [values.intent(limit=left) for _ in range(case["parallel_children"])]
    answers = await asyncio.gather(*[store.claim(intent) for intent in intents])
    assert sum(isinstance(answer, Claim) for answer in answers) == left == 1


@pytest.mark.requirement("IDEM-2")
async def test_of_calls_of_one_key_one_runs_and_the_others_see_it_running(
    trouble_case: Case, store: SqliteStore
) -> None:
    case = trouble_case("IDM-03")["input"]
    values = Values()
    answers = await asyncio.gather(*[store.claim(values.intent(case["key"])) for _ in range(case["concurrency"])])
    assert sum(isinstance(answer, Claim) for answer in answers) == 1
    prior = (await store.look(values.look(case["key"]))).prior
    assert prior is not None
    assert prior.observation is None


@pytest.mark.requirement("IDEM-3")
async def test_a_worker_that_wakes_after_it_was_replaced_writes_nothing(trouble_case: Case, store: SqliteStore) -> None:
    assert trouble_case("DUR-03")["input"]["events"][-1] == "w1 resumes and writes"
    values = Values()
    first = await claimed(store, intent=values.intent("k"))
    await store.close()
    second = await SqliteStore.open(store.path, chain="main")
    (found,) = await second.open_calls()
    taken = await second.take_over(found, values.event())
    assert taken is not None
    assert await second.settle(values.settlement(first)) is None
    assert await second.settle(values.settlement(taken)) is not None
    await second.close()
