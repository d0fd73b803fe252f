"""Kept results in SQLite, sealed where the store is, in parts that each fit into an ordinary transaction."""

from __future__ import annotations

from functools import partial
from typing import Final

from interlock.core.artifact import Artifact
from interlock.store.rows import read_labels, write_labels
from interlock.store.seal import of_artifact, of_part
from interlock.store.sqlite_db import Db
from interlock.store.writer import Writer

FORGOTTEN_AT_ONCE: Final = 64
"""How many parts one transaction overwrites."""


class SqliteArtifacts:
    """The port `Artifacts` of a SQLite store: it writes through the store's writer, and reads beside it."""

    def __init__(self, writer: Writer, db: Db, *, reader: Db) -> None:
        self._writer = writer
        self._db = db
        self._reader = reader

    async def append(self, tenant: str, artifact_id: str, *, number: int, data: bytes, at_us: int) -> None:
        """Keep one part; nobody can read it before the artifact is kept."""
        sealed = self._db.seal.seal(data, context=of_part(tenant, artifact_id, number))
        run = partial(self._db.run, "insert_artifact_part", tenant, artifact_id, number, at_us, sealed)
        await self._writer.write("artifact_part", run=run)

    async def keep(self, artifact: Artifact) -> None:
        """All parts are there."""
        tenant, name = artifact.tenant, artifact.id
        run = partial(
            self._db.run,
            "insert_artifact",
            tenant,
            name,
            artifact.operation_id,
            artifact.tool,
            artifact.principal,
            artifact.media_type,
            artifact.size_bytes,
            write_labels(artifact.labels),
            artifact.at_us,
            self._db.seal.seal(artifact.sealed, context=of_artifact(tenant, name)),
        )
        await self._writer.write("artifact", run=run)

    async def artifact(self, tenant: str, artifact_id: str) -> Artifact | None:
        """What is known of one."""
        self._writer.check()
        row = self._reader.one("select_artifact", tenant, artifact_id)
        if row is None:
            return None
        operation, tool, principal, media_type, size_bytes, labels, at_us, sealed = row
        opened = self._reader.seal.open(sealed, context=of_artifact(tenant, artifact_id))
        known = (operation, tool, principal, media_type, size_bytes, read_labels(labels), at_us)
        return Artifact(tenant, artifact_id, *known, opened)

    async def part(self, tenant: str, artifact_id: str, *, number: int) -> bytes | None:
        """One part of a kept one."""
        self._writer.check()
        row = self._reader.one("select_artifact_part", tenant, artifact_id, number)
        return None if row is None else self._reader.seal.open(row[0], context=of_part(tenant, artifact_id, number))

    async def forget(self, before_us: int) -> None:
        """Forget what was kept before then, some parts at a time so that others can write."""
        for query in ("forget_artifacts", "forget_artifact_parts"):
            while await self._writer.write("forget_artifacts", run=partial(self._forget, query, before_us)):
                pass

    def _forget(self, query: str, before_us: int) -> bool:
        """Whether there may be more. What is deleted is overwritten."""
        self._db.connection.execute("PRAGMA secure_delete = ON")
        self._db.run(query, before_us, FORGOTTEN_AT_ONCE)
        gone = self._db.changes()
        self._db.connection.execute("PRAGMA secure_delete = OFF")
        return gone == FORGOTTEN_AT_ONCE
