"""One connection to PostgreSQL: several named queries go over it in one round trip."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final, NamedTuple, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from interlock.core.errors import StoreError
from interlock.store.queries import POSTGRES, named_queries

QUERIES: Final = {name: text.encode() for name, text in named_queries(POSTGRES).items()}

Row: TypeAlias = tuple[Any, ...]
"""A row as it comes; the functions of `rows` and the tables give it types."""

Sent: TypeAlias = "bytes | None"
"""A value as it travels."""


class Spelled(NamedTuple):
    """The values of a query as they travel, and how each does: 1 as its bytes, 0 as digits."""

    values: Sequence[Sent]
    forms: Sequence[int]


Values: TypeAlias = "Spelled | tuple[object, ...] | dict[str, object]"
Step: TypeAlias = "tuple[str, Values]"
"""A named query and its values; `begin` and `commit` are such names too."""

QUERIES["begin"] = b"BEGIN"
QUERIES["commit"] = b"COMMIT"
QUERIES["rollback"] = b"ROLLBACK"
QUERIES["listen"] = b"LISTEN interlock"
QUERIES["one_moment"] = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

CONNECT_S: Final = 5
LOCK_WAIT_MS: Final = 3_000
STATEMENT_MS: Final = 10_000
ANSWER_S: Final = 12.0
IDLE_IN_BATCH_MS: Final = 2_000


_SESSION: Final = (
    "-c synchronous_commit=on -c client_min_messages=warning "
    # Every query finds its rows by an index: one plan does for all values, also before the tables were ever analysed.
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off "
    "-c enable_hashjoin=off -c enable_mergejoin=off "
    # Rows that are updated by their places are locked in the order of these, not in that in which they lie.
    "-c random_page_cost=0.5"
)


class Line:
    """A connection. One trip at a time.

    It speaks to `libpq` itself: what `psycopg` does for each query costs more than the query. `answered` is called once
    a trip has come back without a fault, in the same round of the event loop; whoever awaits the trip goes on after it.
    """

    def __init__(self, connection: psycopg.AsyncConnection[Row]) -> None:
        self.connection = connection
        self._pgconn = connection.pgconn
        self._loop = asyncio.get_running_loop()
        self._socket = -1
        self._prepared: set[str] = set()
        self._results: list[PGresult] = []
        self._coming: list[str | None] = []
        self._arrived: asyncio.Future[list[PGresult]] | None = None
        self._late_s = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self.hear: Callable[[str], None] | None = None
        self.lost: Callable[[], None] | None = None
        self.answered: Callable[[], None] | None = None

    @staticmethod
    async def open(url: str) -> Line:
        """Connect. A process that stops in the midst of a batch does not hold others up for long."""
        options = f"-c lock_timeout={LOCK_WAIT_MS} -c idle_in_transaction_session_timeout={IDLE_IN_BATCH_MS}"
        return Line(await psycopg.AsyncConnection.connect(addressed(url, options=options), autocommit=True))

    @property
    def is_broken(self) -> bool:
        """Whether nothing goes over it any more."""
        return self._pgconn.status != ConnStatus.OK

    async def trip(self, *steps: Step) -> list[list[Row]]:
        """The rows of each step, in order. One that fails fails those after it, and the transaction."""
        return [read_rows(each) for each in await self._results_of(steps)]

    async def count(self, *steps: Step) -> list[int]:
        """How many rows each step has changed."""
        return [each.command_tuples or 0 for each in await self._results_of(steps)]

    async def roll_back(self) -> None:
        """Undo what was not committed."""
        if self._pgconn.transaction_status != TransactionStatus.IDLE:
            await self.trip(("rollback", ()))

    async def close(self) -> None:
        """Let go of it, whatever is on its way."""
        self._fail(psycopg.OperationalError("the connection was closed"))

    # --- on the way ---------------------------------------------------------------------------------------------------

    async def _results_of(self, steps: tuple[Step, ...]) -> list[PGresult]:
        if self.is_broken:
            raise psycopg.OperationalError("the connection is lost")
        self._enter()
        arrived: asyncio.Future[list[PGresult]] = self._loop.create_future()
        self._arrived = arrived
        self._late_s = self._loop.time() + ANSWER_S
        if self._watch is None:
            self._watch = self._loop.call_at(self._late_s, self._look_at_the_time)
        try:
            self._coming = self._send(steps)
            return await arrived
        except asyncio.CancelledError:
            # What comes back would be taken for the answer to another trip.
            await self.close()
            raise
        finally:
            self._arrived = None

    def _look_at_the_time(self) -> None:
        """One timer does for all trips: most have ended long before it comes."""
        self._watch = None
        if self._arrived is None:
            return
        if self._loop.time() < self._late_s:
            self._watch = self._loop.call_at(self._late_s, self._look_at_the_time)
        else:
            self._fail(psycopg.OperationalError("the server does not answer"))

    def _enter(self) -> None:
        if self._socket < 0:
            self._pgconn.nonblocking = 1
            self._pgconn.enter_pipeline_mode()
            self._socket = self._pgconn.socket
            self._loop.add_reader(self._socket, self._read)

    def _send(self, steps: tuple[Step, ...]) -> list[str | None]:
        """Hand all of it over; for each result that will come the query that it prepares, if it does."""
        pgconn, self._results = self._pgconn, []
        coming: list[str | None] = []
        # All of it before any of it is on its way: one value that cannot travel must leave no half a trip behind.
        for name, (values, forms) in [(name, _spelled(name, values)) for name, values in steps]:
            if name not in self._prepared and name not in coming:
                pgconn.send_prepare(name.encode(), _PLAIN[name][0])
                coming.append(name)
            coming.append(None)
            pgconn.send_query_prepared(name.encode(), values, forms, 1)
        pgconn.pipeline_sync()
        if pgconn.flush():
            self._loop.add_writer(self._socket, self._write)
        return coming

    def _write(self) -> None:
        try:
            if not self._pgconn.flush():
                self._loop.remove_writer(self._socket)
        except psycopg.OperationalError as fault:
            self._fail(fault)

    def _read(self) -> None:
        pgconn = self._pgconn
        try:
            pgconn.consume_input()
        except psycopg.OperationalError as fault:
            self._fail(fault)
            return
        if self.hear is not None:
            self._listen(self.hear)
        ended = False
        while not pgconn.is_busy():
            result = pgconn.get_result()
            if result is None:
                if ended:
                    return
                ended = True
            elif result.status == _SYNC:
                self._arrive()
                return
            else:
                ended = False
                self._results.append(result)

    def _listen(self, hear: Callable[[str], None]) -> None:
        """What other connections have notified."""
        while (said := self._pgconn.notifies()) is not None:
            if said.be_pid != self._pgconn.backend_pid:
                hear(said.extra.decode())

    def _arrive(self) -> None:
        arrived = self._arrived
        if arrived is None or arrived.done():
            return
        try:
            answers = self._answers()
        except psycopg.Error as fault:
            arrived.set_exception(fault)
            return
        try:
            if self.answered is not None:
                self.answered()
        finally:
            arrived.set_result(answers)

    def _fail(self, fault: psycopg.OperationalError) -> None:
        """The connection is of no use any more."""
        if self._socket >= 0:
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            self._socket = -1
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        self._pgconn.finish()
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_exception(fault)
        elif self.lost is not None:
            self.lost()

    def _answers(self) -> list[PGresult]:
        """The results of the steps, without those of their preparation. Raises the first fault.

        The last may be that of the commit, where nothing was begun: it comes after the results of all steps.
        """
        results = self._results
        answers = []
        for at, result in enumerate(results):
            if result.status in _FAULTS:
                raise psycopg.errors.error_from_result(result)
            if (name := self._coming[at]) is None:
                answers.append(result)
            else:
                self._prepared.add(name)
        return answers


_SYNC: Final = ExecStatus.PIPELINE_SYNC
_FAULTS: Final = (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE)


def read_rows(result: PGresult) -> list[Row]:
    """The rows of a result in binary form."""
    if result.ntuples == result.nfields == 1:  # what a function answers
        cell = result.get_value(0, 0)
        return [(None if cell is None else _READS[result.ftype(0)](cell),)]
    reads = [_READS[result.ftype(column)] for column in range(result.nfields)]
    value = result.get_value
    return [
        tuple([None if (cell := value(row, column)) is None else read(cell) for column, read in enumerate(reads)])
        for row in range(result.ntuples)
    ]


def _spelled(name: str, values: Values) -> Spelled:
    """A query's values in its order: bytes, columns and texts travel as they are, numbers as their digits."""
    if type(values) is Spelled:
        return values
    given = values if isinstance(values, tuple) else [values[each] for each in _PLAIN[name][1]]
    forms = [0 if isinstance(value, int | float) else 1 for value in given]
    return Spelled([value if value is None or type(value) is bytes else _bytes(value) for value in given], forms)


def _bytes(value: object) -> bytes:
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else str(value).encode()


_READS: Final[Mapping[int, Callable[[bytes], object]]] = {
    16: lambda cell: cell == b"\x01",
    17: bytes,
    20: lambda cell: int.from_bytes(cell, "big", signed=True),
    21: lambda cell: int.from_bytes(cell, "big", signed=True),
    23: lambda cell: int.from_bytes(cell, "big", signed=True),
    25: lambda cell: cell.decode(),
    2278: lambda cell: None,
}
"""By the numbers of types: boolean, bytea, bigint, smallint, integer, text, void."""


def _plain(text: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A query with numbered placeholders, and the names of its values in order."""
    order: list[str] = []
    counted = count(1)

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return f"${next(counted)}"
        if name not in order:
            order.append(name)
        return f"${order.index(name) + 1}"

    return re.sub(r"%s|%\((\w+)\)s", number, text.decode()).encode(), tuple(order)


def addressed(url: str, *, options: str = "") -> str:
    """The URL with the settings of a store's connections. Raises `StoreError` where it is no URL of PostgreSQL."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError as wrong:
        raise StoreError(
            "the address of the PostgreSQL store cannot be read; give postgresql://host/database"
        ) from wrong
    own = f"-c statement_timeout={STATEMENT_MS} {_SESSION} {options}"
    settings: dict[str, Any] = {
        "connect_timeout": CONNECT_S,
        "tcp_user_timeout": STATEMENT_MS,
        "application_name": "interlock",
        **given,
        "options": f"{given.get('options') or ''} {own}".strip(),
    }
    return make_conninfo(**settings)


def shown(url: str) -> str:
    """The URL without its password, for people."""
    try:
        found = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "postgresql://(not readable)"
    host, port, name = found.get("host") or "", found.get("port") or "", found.get("dbname") or ""
    place = f"{host}:{port}" if port else str(host)
    return f"postgresql:///{name}?host={place}" if place.startswith("/") else f"postgresql://{place}/{name}"


def database_of(url: str) -> str:
    """The name of the database, as a file may be called."""
    name = str(conninfo_to_dict(url).get("dbname") or "interlock")
    return "".join(each if each.isalnum() or each in "-_." else "_" for each in name)


_PLAIN: Final = {name: _plain(text) for name, text in QUERIES.items()}
