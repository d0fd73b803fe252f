"""Opens the audit log of a PostgreSQL store for reading alone, without being one of those who write."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from interlock.core.journal import AuditQuery, AuditRecord
from interlock.store.postgres_chain import read_records
from interlock.store.postgres_reads import Reader
from interlock.store.seal import Seal


class PostgresLog:
    """Its records."""

    def __init__(self, reader: Reader, *, seal: Seal) -> None:
        self._reader = reader
        self._seal = seal

    async def records(self, query: AuditQuery) -> tuple[AuditRecord, ...]:
        """Records in order of chain and sequence, with payloads where kept, at most `query.limit`."""
        return await self._reader.on_line(lambda line: read_records(line, query=query, seal=self._seal))


@asynccontextmanager
async def postgres_log(url: str, *, seal: Seal) -> AsyncIterator[PostgresLog]:
    """The log in this database."""
    reader = Reader(url, seal=seal)
    try:
        yield PostgresLog(reader, seal=seal)
    finally:
        await reader.close()
