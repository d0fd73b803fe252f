"""One file: who may read it, who shares it, what is on it, and what happens when it fails."""

import asyncio
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from typing import TypeAlias

import apsw
import pytest

from interlock.core.budget import NOTHING, Amounts, Usage
from interlock.core.errors import StoreClosed, StoreError
from interlock.core.journal import AuditQuery
from interlock.ports import Claim, NotClaimed
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_shared import claimed, verified
from interlock.testing.store_values import SCOPE, TENANT, Values

Open: TypeAlias = Callable[..., Awaitable[SqliteStore]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def open_store(path: Path) -> AsyncIterator[Open]:
    opened: list[SqliteStore] = []

    async def open_one(chain: str = "main", seal: AesSeal | None = None) -> SqliteStore:
        opened.append(await SqliteStore.open(path, chain=chain, seal=seal))
        return opened[-1]

    yield open_one
    for store in opened:
        await store.close()


async def held(path: Path) -> Amounts:
    """What is held on the disk, as a program that knows nothing of this process reads it."""
    connection = apsw.Connection(str(path))
    row = connection.execute("SELECT held_calls, held_concurrent FROM usage").fetchone() or (0, 0)
    connection.close()
    return Amounts(calls=row[0], concurrent=row[1])


@pytest.mark.requirement("IDEM-2", "BUD-2", "AUD-2")
async def test_calls_that_are_written_together_are_whole_where_one_of_them_fails(path: Path, open_store: Open) -> None:
    values = Values()
    store = await open_store()
    earlier = await claimed(store, intent=values.intent("k0"))
    read, ended = await claimed(store, intent=values.read()), await claimed(store, intent=values.read())
    bad = values.intent("bad")
    assert bad.event is not None
    bad = replace(bad, event=replace(bad.event, nonce="short"))
    writes = [
        store.claim(values.intent("k1", limit=5)),
        store.settle(values.settlement(earlier)),
        store.settle(values.settlement(ended)),
        store.claim(bad),
        store.claim(values.intent("k2", limit=5)),
        store.claim(values.intent("k3", limit=5)),
        store.record(values.entry(calls=1)),
    ]
    first, _, _, fault, second, third, _ = await asyncio.gather(*writes, return_exceptions=True)
    assert isinstance(fault, ValueError)
    assert isinstance(first, Claim)
    assert third is NotClaimed.BUDGET
    assert isinstance(second, Claim)
    usage = Usage.read((await store.look(values.look())).usage[0])
    assert (usage.used, usage.held) == (Amounts(calls=3), Amounts(calls=3, concurrent=3))
    assert await held(path) == Amounts(calls=2, concurrent=2)  # the read is held in memory alone
    for claim in (first, second, read):
        assert await store.settle(values.settlement(claim)) is not None
    assert await held(path) == NOTHING
    await verified(store)


@pytest.mark.requirement("BUD-2")
async def test_a_read_is_held_in_memory_while_the_process_is_alone_and_on_the_disk_otherwise(
    path: Path, open_store: Open
) -> None:
    values = Values()
    store = await open_store()
    claim = await claimed(store, intent=values.read(limit=2))
    # Something else that writes the same scope must not write this hold with it.
    await store.record(values.entry(calls=1))
    assert await held(path) == NOTHING
    assert Usage.read((await store.look(values.look())).usage[0]).held == Amounts(calls=1, concurrent=1)

    other = await open_store("other")
    assert await held(path) == Amounts(calls=1, concurrent=1)
    assert await other.claim(values.read(limit=2)) is NotClaimed.BUDGET
    assert await store.settle(values.settlement(claim)) is not None
    assert await held(path) == NOTHING
    assert Usage.read((await other.look(values.look())).usage[0]).used == Amounts(calls=2)


@pytest.mark.requirement("BUD-2", "POL-6")
async def test_what_one_process_writes_the_other_reads_and_is_guarded_by(open_store: Open) -> None:
    values = Values()
    one = await open_store("one")
    two = await open_store("two")
    await claimed(one, intent=values.intent("k", limit=1))
    assert await two.claim(values.intent("k", limit=9)) is NotClaimed.KEY
    assert await two.claim(values.intent(limit=1)) is NotClaimed.BUDGET
    epoch = await two.publish((values.registered("a"),), values.event())
    assert await one.epoch() == epoch
    assert await one.claim(values.intent()) is NotClaimed.EPOCH
    run = (await two.look(values.look())).run
    assert run is not None
    assert run.tools == frozenset({"save"})
    await verified(two)


async def test_two_processes_of_one_name_write_two_chains_that_the_next_take_up(open_store: Open) -> None:
    values = Values()
    one, two = await open_store(), await open_store()
    assert (await one.append(values.event())).chain == "main"
    assert (await two.append(values.event())).chain == "main.2"
    await two.close()
    three = await open_store()
    assert (await three.append(values.event())).chain == "main.2"
    assert [(head.chain, head.sequence) for head in await verified(one)] == [("main", 1), ("main.2", 2)]


@pytest.mark.requirement("AUD-4")
async def test_with_a_key_nothing_that_is_kept_whole_can_be_read_in_the_file(path: Path, open_store: Open) -> None:
    values = Values()
    store = await open_store(seal=AesSeal(bytes(32), random=token_bytes))
    operation = values.operation("k", sealed=b'{"secret":"opal"}')
    asking = values.asking("other")
    await store.ask(
        replace(asking, operation=replace(operation, id="waits"), approval=replace(asking.approval, summary="opal"))
    )
    claim = await claimed(store, intent=replace(values.intent(), operation=operation))
    event = values.event(data=b"opal")
    await store.settle(replace(values.settlement(claim), observation=b'"opal"', event=event))
    assert (await store.records(AuditQuery(subject="", call=event.call)))[0].payloads == event.payloads
    files = [file for file in path.parent.iterdir() if file.is_file()]
    assert len(files) >= 2
    assert not any(b"opal" in file.read_bytes() for file in files)
    await store.close()
    wrong = await open_store(seal=AesSeal(bytes([1] * 32), random=token_bytes))
    with pytest.raises(StoreError, match="do not open"):
        await wrong.find(TENANT, operation.id)


async def test_a_new_file_is_for_its_owner_alone(path: Path, open_store: Open) -> None:
    await open_store()
    files = await asyncio.to_thread(lambda: list(path.parent.iterdir()))
    modes = {file.name: stat.S_IMODE((await asyncio.to_thread(file.stat)).st_mode) for file in files}
    assert modes == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600, "store.db-locks": 0o700}


async def test_a_closed_store_answers_nothing_and_closes_again(open_store: Open) -> None:
    values = Values()
    store = await open_store()
    await store.close()
    for question in (
        store.look(values.look()),
        store.claim(values.read()),
        store.claim(values.intent()),
        store.epoch(),
        store.heads(),
        store.records(AuditQuery()),
        store.usage(TENANT),
        store.versions(),
        store.open_calls(),
        store.append(values.event()),
        store.approvals(TENANT),
    ):
        with pytest.raises(StoreClosed):
            await question
    await store.close()


async def test_counters_survive_a_restart(open_store: Open) -> None:
    values = Values()
    store = await open_store()
    for _ in range(3):
        await store.settle(values.settlement(await claimed(store, intent=values.read())))
    before = await store.usage(TENANT)
    await store.close()
    store = await open_store()
    assert await store.usage(TENANT) == before
    assert before == ((SCOPE, Usage(Amounts(calls=3))),)


async def test_a_program_that_writes_beside_it_does_not_make_it_lose_what_it_holds(
    path: Path, open_store: Open
) -> None:
    values = Values()
    store = await open_store()
    claim = await claimed(store, intent=values.read(limit=1))
    shell = apsw.Connection(str(path))
    shell.execute("DELETE FROM checkpoints")
    shell.close()
    await store.append(values.event())
    assert await store.claim(values.read(limit=1)) is NotClaimed.BUDGET
    await store.settle(values.settlement(claim))
    assert (await store.look(values.look())).usage[0] == Usage(Amounts(calls=1))


@pytest.mark.requirement("IDEM-2", "BUD-2")
async def test_of_claims_that_race_in_two_processes_one_wins(open_store: Open) -> None:
    values = Values()
    stores = [await open_store("one"), await open_store("two")]
    answers = await asyncio.gather(*[stores[n % 2].claim(values.intent("k", limit=5)) for n in range(40)])
    assert sum(isinstance(answer, Claim) for answer in answers) == 1
