"""Connections that are cut at any byte, in either direction, leave each write once or not at all, and say which."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

import pytest
from psycopg.conninfo import conninfo_to_dict

from interlock.core.errors import StoreError
from interlock.core.journal import AuditQuery
from interlock.ports import Claim
from interlock.store.postgres import PostgresStore
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import SCOPE, TENANT, Values

WRITERS, WRITES = 8, 150


class Cutter:
    """Hands on what goes between a process and its server, and cuts each connection after so many bytes."""

    def __init__(self, server: str, *, seed: int) -> None:
        self._server = server
        self._random = Random(seed)
        self.cuts = 0
        self.connections: set[asyncio.Task[None]] = set()

    def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Begin one connection."""
        self.connections.add(asyncio.create_task(self.connected(reader, writer)))

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its beginning to its end."""
        its_reader, its_writer = await asyncio.open_unix_connection(self._server)
        there = self._random.random() < 0.5
        left = self._random.randrange(9_000, 30_000) if there else self._random.randrange(300, 1_500)
        ways = [
            asyncio.create_task(self._hand_on(reader, its_writer, left=left if there else None)),
            asyncio.create_task(self._hand_on(its_reader, writer, left=None if there else left)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        for each in (writer, its_writer):
            each.close()
            with suppress(OSError):
                await each.wait_closed()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, left: int | None) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data if left is None else data[:left])
                await writer.drain()
                left = None if left is None else left - len(data)
                if left is not None and left <= 0:
                    self.cuts += 1
                    return


@asynccontextmanager
async def cutting(url: str, folder: Path, *, seed: int) -> AsyncIterator[tuple[str, Cutter]]:
    """The same database at another address, on the way to which connections are cut."""
    found = conninfo_to_dict(url)
    name = f".s.PGSQL.{found.get('port') or 5432}"
    cutter = Cutter(f"{found['host']}/{name}", seed=seed)
    async with await asyncio.start_unix_server(cutter.connect, str(folder / name)):
        yield url.replace(str(found["host"]), str(folder)), cutter
    await asyncio.gather(*cutter.connections)


async def opened(address: str) -> PostgresStore:
    """A store; opening one does not wait for a server."""
    while True:
        with suppress(StoreError):
            return await PostgresStore.open(address, chain="main")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("IDEM-4", "BUD-2", "AUD-2", "AUD-3")
@pytest.mark.parametrize("seed", range(6))
async def test_writes_over_connections_that_are_cut_at_any_byte_are_there_once(
    postgres_url: str, tmp_path: Path, seed: int
) -> None:
    values, told, unknown = Values(), Counter[str](), 0
    async with cutting(postgres_url, tmp_path, seed=seed) as (address, cutter):
        store = await opened(address)

        async def write() -> None:
            nonlocal unknown
            for _ in range(WRITES):
                entry = values.entry(calls=1)
                try:
                    receipt = await store.record(entry)
                    told[f"{receipt.chain} {receipt.sequence}"] += 1
                except StoreError:
                    unknown += 1

        await asyncio.gather(*[write() for _ in range(WRITERS)])
        await store.close()
    assert cutter.cuts > 3
    direct = await PostgresStore.open(postgres_url, chain="main")
    records = await direct.records(AuditQuery(limit=100_000))
    there = {f"{each.record.chain} {each.record.sequence}" for each in records}
    assert set(told) <= there
    assert set(told.values()) == {1}
    assert len(told) <= len(records) <= len(told) + unknown
    assert [usage.used.calls for _, usage in await direct.usage(TENANT)] == [len(records)]
    await verified(direct)
    await direct.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("IDEM-4", "BUD-2", "AUD-2", "AUD-3")
@pytest.mark.parametrize("seed", range(6))
async def test_calls_one_after_the_other_over_such_connections_are_claimed_and_settled_once(
    postgres_url: str, tmp_path: Path, seed: int
) -> None:
    values, settled, unknown = Values(), set[str](), 0
    async with cutting(postgres_url, tmp_path, seed=seed) as (address, cutter):
        store = await opened(address)

        async def call(key: str) -> None:
            claim = await store.claim(values.intent(key, run=None, limit=WRITES))
            assert isinstance(claim, Claim), claim
            if await store.settle(values.settlement(claim)) is not None:
                settled.add(claim.operation_id)

        for number in range(WRITES):
            try:
                await call(f"k{number}")
            except StoreError:
                unknown += 1
        await store.close()
    assert cutter.cuts > 3
    direct = await PostgresStore.open(postgres_url, chain="main")
    kinds = Counter(each.kind for each in await direct.records(AuditQuery(limit=100_000)))
    opens = {each.operation.id for each in await direct.open_calls()}
    assert not opens & settled
    assert kinds["call.claimed"] == kinds["call.settled"] + len(opens)
    assert len(settled) <= kinds["call.settled"] <= len(settled) + unknown
    usage = dict(await direct.usage(TENANT))[SCOPE]
    assert (usage.used.calls, usage.held.calls) == (kinds["call.settled"], len(opens))
    await verified(direct)
    await direct.close()
