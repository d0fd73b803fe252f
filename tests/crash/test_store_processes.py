"""Real processes on one SQLite file: killed at an instant, and racing."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interlock.core.budget import NOTHING
from interlock.core.effect import CallEvent, CallState
from interlock.core.journal import AuditQuery
from interlock.store.sqlite import SqliteStore
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import SCOPE, TENANT, Values

PROGRAM = Path(__file__).with_name("store_process.py")

pytestmark = pytest.mark.crash


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    started = subprocess.Popen([sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def line(started: subprocess.Popen[str]) -> str:
    assert started.stdout is not None
    return started.stdout.readline().strip()


@pytest.mark.requirement("IDEM-3", "IDEM-4", "BUD-2")
async def test_claims_of_a_killed_process_are_orphaned_at_once_and_leak_no_hold(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with process("hold", str(path), "first") as first:
        assert line(first) == "held"
        store = await SqliteStore.open(path, chain="second")
        held = await store.open_calls()
        assert [each.state for each in held] == [CallState.CLAIMED] * 4
        assert not any(each.orphaned for each in held)
        first.kill()
        first.wait()
    values = Values()
    for found in await store.open_calls():
        assert found.orphaned
        claim = await store.take_over(found, values.event())
        assert claim is not None
        await store.settle(values.settlement(claim, CallEvent.LOSE_OUTCOME))
        assert await store.settle(values.settlement(claim)) is not None
    assert dict(await store.usage(TENANT))[SCOPE].held == NOTHING
    assert await store.open_calls() == ()
    assert {head.chain for head in await verified(store)} == {"first", "second"}
    await store.close()


@pytest.mark.requirement("IDEM-4", "BUD-2", "AUD-3")
@pytest.mark.parametrize(
    ("moment", "op", "state", "records"),
    [
        ("before", "claim", None, 0),
        ("after", "claim", CallState.CLAIMED, 1),
        ("before", "settle", CallState.CLAIMED, 1),
        ("after", "settle", CallState.SUCCEEDED, 2),
    ],
)
async def test_killed_around_a_commit_the_store_holds_all_of_it_or_nothing(
    tmp_path: Path, moment: str, op: str, state: CallState | None, records: int
) -> None:
    path = tmp_path / "store.db"
    with process("die", str(path), "first", moment, op) as dying:
        dying.wait()
        assert dying.returncode == -9
    store = await SqliteStore.open(path, chain="first")
    found = await store.find(TENANT, "first-1")
    assert (None if found is None else found.state) == state
    assert len(await store.records(AuditQuery())) == records
    usage = dict(await store.usage(TENANT)).get(SCOPE)
    assert (0 if usage is None else usage.held.concurrent) == (state is CallState.CLAIMED)
    assert [each.orphaned for each in await store.open_calls()] == [True] * (state is CallState.CLAIMED)
    await verified(store)
    await store.close()


@pytest.mark.requirement("IDEM-3", "IDEM-4")
async def test_work_that_goes_on_is_nobodys_only_once_its_process_has_died(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with process("go_on", str(path), "first") as first:
        assert line(first) == "closed"
        store = await SqliteStore.open(path, chain="second")
        assert store.is_alone
        assert [each.orphaned for each in await store.open_calls()] == [False]
        first.kill()
        first.wait()
    assert [each.orphaned for each in await store.open_calls()] == [True]
    await store.close()


@pytest.mark.requirement("BUD-2", "AUD-2")
async def test_processes_that_share_a_limit_never_oversell_it_and_their_chains_verify(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with (
        process("work", str(path), "one", "80", "100") as one,
        process("work", str(path), "two", "80", "100") as two,
        process("work", str(path), "three", "80", "100") as three,
    ):
        won = 0
        for each in (one, two, three):
            assert line(each) == "ready"
            won += int(line(each).removeprefix("won "))
            assert each.wait() == 0
    assert won == 100
    store = await SqliteStore.open(path, chain="four")
    usage = dict(await store.usage(TENANT))[SCOPE]
    assert (usage.used.calls, usage.held) == (100, NOTHING)
    await verified(store)
    await store.close()


@pytest.mark.requirement("SCALE-1")
async def test_a_process_that_is_left_alone_holds_reads_in_memory_again(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await SqliteStore.open(path, chain="first")
    values = Values()
    with process("hold", str(path), "second") as second:
        # In a thread: the first process lets the second in from its event loop.
        assert await asyncio.to_thread(line, second) == "held"
        await store.claim(values.read())
        assert len(await store.open_calls()) == 5
        second.kill()
        second.wait()
    while not store.is_alone:
        await store.append(values.event())
    await store.claim(values.read())
    assert len(await store.open_calls()) == 5
    await store.close()
