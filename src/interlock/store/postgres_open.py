"""Prepares a PostgreSQL database for a process: the schema, an owner with a lease, a chain to write."""

from __future__ import annotations

from itertools import count
from typing import Final

from interlock.core.chain import genesis
from interlock.core.errors import StoreError, StoreNewer
from interlock.store.postgres_glimpses import Glimpses
from interlock.store.postgres_line import Line
from interlock.store.postgres_sheet import Desk
from interlock.store.queries import POSTGRES, migrations
from interlock.store.seal import Seal

_MIGRATIONS: Final = 7_310
_WAIT_MS: Final = 30_000


async def migrate(line: Line) -> None:
    """Bring a database, new or old, to the present schema; of processes that race, one does it.

    Raises `StoreNewer` where a newer Interlock wrote it, `StoreError` where its tables are another program's.
    """
    connection, scripts = line.connection, migrations(POSTGRES)
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = {_WAIT_MS}")
        await connection.execute(f"SET LOCAL statement_timeout = {_WAIT_MS}")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATIONS,))
        await connection.execute("CREATE TABLE IF NOT EXISTS interlock_schema (version integer PRIMARY KEY)")
        found = await (
            await connection.execute("SELECT max(version), to_regclass('calls') FROM interlock_schema")
        ).fetchone()
        version, calls = found or (None, None)
        if version is None and calls is not None:
            raise StoreError(
                "the database has tables of another program; give Interlock a database or schema of its own"
            )
        if version is not None and version > len(scripts):
            raise StoreNewer(f"the database has version {version}; this Interlock knows versions up to {len(scripts)}")
        for number, script in enumerate(scripts[version or 0 :], (version or 0) + 1):
            await connection.execute(script.encode())
            await connection.execute("INSERT INTO interlock_schema VALUES (%s)", (number,))


async def move_in(line: Line, *, chain: str, seal: Seal, lease_s: float) -> Desk:
    """Be an owner that nobody was before, and write the first chain of this name that no owner at work writes."""
    try:
        *_, branches = await line.trip(("begin", ()), ("enter", ()), ("sweep_owners", ()), ("select_branch", ()))
        chain = "~".join([chain, *(branch for (branch,) in branches)])
        for number in count(1):
            name = chain if number == 1 else f"{chain}.{number}"
            ((taken,),) = (await line.trip(("select_chain_is_taken", (name,))))[0]
            if not taken:
                break
        chain_id, sequence, digest = await _chain(line, name)
        ((owner,),) = (await line.trip(("insert_owner", (chain_id, lease_s))))[0]
        _, ((floor,),), _ = await line.trip(("insert_batches", (owner,)), ("select_fence_floor", ()), ("commit", ()))
    finally:
        await line.roll_back()
    return Desk(seal, owner, chain_id, name, 0, sequence, digest, glimpses=Glimpses(floor=floor))


async def _chain(line: Line, name: str) -> tuple[int, int, bytes]:
    """A chain and where it stands, once nobody writes it any more."""
    rows = (await line.trip(("select_chain", (name,))))[0]
    if not rows:
        rows = (await line.trip(("insert_chain", (name, bytes.fromhex(genesis(name).hash)))))[0]
    _, rows = await line.trip(("lock_last_batches_of_chain", (rows[0][0],)), ("select_chain", (name,)))
    chain_id, sequence, digest = rows[0]
    return chain_id, sequence, digest
