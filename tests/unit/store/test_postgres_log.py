"""A log in PostgreSQL is read without being one of those who write."""

from interlock.core.journal import AuditQuery
from interlock.store.postgres_log import postgres_log
from interlock.store.seal import NoSeal
from interlock.testing.store_values import Values
from tests.postgres import Opens


async def test_records_are_read_as_the_store_reads_them(postgres_url: str, postgres_stores: Opens) -> None:
    store, values = await postgres_stores(), Values()
    await store.append(values.event())
    async with postgres_log(postgres_url, seal=NoSeal()) as log:
        assert await log.records(AuditQuery()) == await store.records(AuditQuery())
