"""Every store holds the same contract; what differs is what a crash leaves."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from secrets import token_bytes

import psycopg
import pytest

from interlock.ports import Claim, Intent, Look, NotClaimed
from interlock.store.memory import MemoryStore
from interlock.store.postgres import PostgresStore
from interlock.store.seal_aes import AesSeal
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract import StoreContract
from interlock.testing.store_contract_artifacts import ArtifactContract
from interlock.testing.store_contract_closings import ClosingContract
from interlock.testing.store_contract_compensation import CompensationContract
from interlock.testing.store_contract_documents import DocumentContract
from interlock.testing.store_contract_due_runs import DueRunContract
from interlock.testing.store_contract_look_ups import LookUpContract
from interlock.testing.store_contract_noted_runs import NotedRunContract
from interlock.testing.store_contract_runs import RunContract
from interlock.testing.store_contract_shared import Store
from interlock.testing.store_values import Values
from tests.postgres import Opens, reused

pytestmark = pytest.mark.requirement(
    "IDEM-2", "IDEM-3", "IDEM-4", "BUD-1", "BUD-2", "APR-4", "APR-5", "AUD-2", "AUD-4", "SCALE-1"
)


class Contract(
    StoreContract,
    LookUpContract,
    ClosingContract,
    CompensationContract,
    ArtifactContract,
    DocumentContract,
    RunContract,
    DueRunContract,
    NotedRunContract,
):
    """All of it."""


class TestMemory(Contract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()

    async def after_crash(self, store: Store) -> Store:
        assert isinstance(store, MemoryStore)
        store.abandon()
        return store


class TestSqlite(Contract):
    """A crash is a process that goes without settling: its lock goes with it, as `tests/crash` shows with real ones."""

    seal: AesSeal | None = None

    @pytest.fixture
    async def opened(self) -> AsyncIterator[list[SqliteStore]]:
        stores: list[SqliteStore] = []
        yield stores
        for store in stores:
            await store.close()

    @pytest.fixture
    async def store(self, tmp_path: Path, opened: list[SqliteStore]) -> SqliteStore:
        self.path = tmp_path / "store.db"
        opened.append(await SqliteStore.open(self.path, chain="main", seal=self.seal))
        self.opened_stores = opened
        return opened[0]

    async def after_crash(self, store: Store) -> Store:
        await store.close()
        self.opened_stores.append(await SqliteStore.open(self.path, chain="main", seal=self.seal))
        return self.opened_stores[-1]


class TestSqliteSealed(TestSqlite):
    seal = AesSeal(bytes(32), random=token_bytes)


class TestSqliteShared(TestSqlite):
    """The same beside another process, so that nothing can be held in memory."""

    @pytest.fixture
    async def store(self, tmp_path: Path, opened: list[SqliteStore]) -> SqliteStore:
        self.path = tmp_path / "store.db"
        self.opened_stores = opened
        opened.append(await SqliteStore.open(self.path, chain="main"))
        opened.append(await SqliteStore.open(self.path, chain="peer"))
        return opened[0]


@pytest.fixture
async def postgres_url() -> AsyncIterator[str]:
    """A schema as it is at first; these tests leave nothing behind but rows."""
    async with reused.url() as url:
        yield url


class TestPostgres(Contract):
    """Beside another process, as there may always be one. A crash is a lease that has run out."""

    @pytest.fixture
    async def store(self, postgres_url: str, postgres_stores: Opens) -> PostgresStore:
        self.url, self.opens = postgres_url, postgres_stores
        return await postgres_stores(seal=AesSeal(bytes(32), random=token_bytes))

    async def after_crash(self, store: Store) -> Store:
        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute("UPDATE owners SET until = clock_timestamp()")
        return await self.opens(seal=AesSeal(bytes(32), random=token_bytes))


class TestPostgresLooked(TestPostgres):
    """The same where somebody looks before each claim, as the gate does: most claims are written without reading."""

    @pytest.fixture
    async def store(self, postgres_url: str, postgres_stores: Opens) -> PostgresStore:
        self.url, self.opens = postgres_url, partial(self.looking, postgres_stores)
        return await self.opens(seal=AesSeal(bytes(32), random=token_bytes))

    async def test_a_write_whose_waiter_is_cancelled_is_carried_out_and_found(
        self, *, store: Store, values: Values
    ) -> None:
        """Who is cancelled while he looks has handed nothing over."""
        store.claim = self.handed_over  # type: ignore[method-assign]  # without a look
        await super().test_a_write_whose_waiter_is_cancelled_is_carried_out_and_found(store=store, values=values)

    async def looking(self, opens: Opens, **options: object) -> PostgresStore:
        store = await opens(**options)
        claim = store.claim

        async def looked(intent: Intent) -> Claim | NotClaimed:
            operation = intent.operation
            await store.look(Look(operation.tenant, operation.key, operation.run, (), intent.at_us))
            return await claim(intent)

        self.handed_over, store.claim = claim, looked  # type: ignore[method-assign]  # as the walk calls them
        return store
