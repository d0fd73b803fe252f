"""Other processes prove pieces of a log: what they find, and that nobody misses them where they cannot."""

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import apsw
import pytest

from interlock import Gate, Host, Keys
from interlock.copies import create_backup, verify_backup
from interlock.core.audit_log import Verified
from interlock.core.chain import Break, Head, Stretch
from interlock.core.checkpoint import Span
from interlock.proving import OtherProcesses, Where, provers_of
from interlock.runtime import proof
from tests.gates import ALICE, Shelf, opened, save, search

KEYS = Keys.random()
SEAL = bytes(range(32))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every log is long enough, and pieces are small."""
    for name, value in (("PAGE", 3), ("PIECE_PAGES", 1), ("APART_FROM", 1)):
        monkeypatch.setattr(proof, name, value)


async def some_calls(gate: Gate) -> None:
    await asyncio.gather(*[gate.call(search(str(number)), principal=ALICE) for number in range(12)])
    await gate.call(save(text="long" * 1_000), principal=ALICE, task="t")


async def with_two(gate: Gate, address: str, *, seal: bytes | None = None) -> tuple[Verified | Break, list[bool]]:
    """What two processes have a log be, and which of its pieces they found whole."""
    processes, whole = OtherProcesses(Where(address, KEYS.master, seal), count=2), list[bool]()

    class Noted:
        async def prove(
            self, spans: Iterable[Span], *, held: tuple[Head, ...]
        ) -> AsyncGenerator[tuple[Span, Stretch | None], None]:
            async for span, found in processes.prove(spans, held=held):
                whole.append(found is not None)
                yield span, found

    world = gate._world
    object.__setattr__(world, "provers", Noted())
    return await gate.audit.verify(), whole


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("seal", [None, SEAL], ids=["plain", "sealed"])
async def test_processes_prove_a_file_that_is_in_use(tmp_path: Path, short: None, seal: bytes | None) -> None:
    path, host = str(tmp_path / "gate.db"), Host(keys=KEYS, seal=seal)
    async with opened(path, Shelf().tools, host=host) as gate:
        await some_calls(gate)
        alone = await gate.audit.verify()
        found, whole = await with_two(gate, path, seal=seal)
        assert isinstance(found, Verified)
        assert found == alone
        assert whole.count(True) == len(whole) >= found.records // 3
        database = apsw.Connection(path)
        database.execute("update audit set record = null where place = (select max(place) - 5 from audit)")
        database.close()
        found, whole = await with_two(gate, path, seal=seal)
        assert isinstance(found, Break)
        assert not all(whole)


@pytest.mark.requirement("AUD-2")
async def test_processes_prove_a_database(postgres_url: str, short: None) -> None:
    async with opened(postgres_url, Shelf().tools, host=Host(keys=KEYS)) as gate:
        await some_calls(gate)
        found, whole = await with_two(gate, postgres_url)
        assert isinstance(found, Verified)
        assert all(whole)
        assert whole


async def test_a_log_that_they_cannot_open_is_read_here(tmp_path: Path, short: None) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools, host=Host(keys=KEYS)) as gate:
        await some_calls(gate)
        found, whole = await with_two(gate, str(tmp_path / "another.db"))
        assert isinstance(found, Verified)
        assert not any(whole)


async def test_where_no_process_can_be_started_it_is_read_here(
    tmp_path: Path, short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools, host=Host(keys=KEYS)) as gate:
        await some_calls(gate)
        found, whole = await with_two(gate, path)
        assert isinstance(found, Verified)
        assert whole == []


async def test_who_stops_asking_leaves_no_process_behind(tmp_path: Path) -> None:
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools, host=Host(keys=KEYS)) as gate:
        await some_calls(gate)
        proved = OtherProcesses(Where(path, KEYS.master), count=2).prove([Span("main", 0, 3)] * 200, held=())
        _, found = await anext(proved)
        assert found is not None
        crew = list(proved.ag_frame.f_locals["crew"])
        assert len(crew) == 2
        await proved.aclose()
        assert all(prover._process.returncode is not None for prover in crew)


async def test_a_backup_is_proved_by_processes_too(tmp_path: Path, short: None) -> None:
    path = tmp_path / "gate.db"
    async with opened(str(path), Shelf().tools) as gate:
        await some_calls(gate)
    await create_backup(path, tmp_path / "b")
    shutil.copy(f"{path}.key", tmp_path / "b.key")
    assert (await verify_backup(tmp_path / "b")).log.records


def test_one_core_or_no_address_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert provers_of("", master=b"", seal=None) is None
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})
    assert provers_of("a.db", master=b"", seal=None) is None
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    assert provers_of("a.db", master=b"", seal=None) is not None
    monkeypatch.setattr(sys, "executable", "/usr/bin/server")
    assert provers_of("a.db", master=b"", seal=None) is None
