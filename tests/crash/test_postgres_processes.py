"""Real processes on one PostgreSQL: starting at once, racing, standing still, killed; and a database that is killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from interlock.core.budget import NOTHING
from interlock.core.effect import CallEvent, CallState
from interlock.core.journal import AuditQuery, EventKind
from interlock.testing.store_contract_shared import verified
from interlock.testing.store_values import SCOPE, TENANT, Values
from tests.crash.test_store_processes import line
from tests.crash.test_store_processes import process as store_process
from tests.postgres import Opens, OwnServer

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.crash, pytest.mark.timeout(90)]


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process of `postgres_process`, ended at the end whatever it is at."""
    command = [sys.executable, "-m", "tests.crash.postgres_process", *arguments]
    started = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


@pytest.fixture
def effects(tmp_path: Path) -> Path:
    """Where tools leave their effects."""
    path = tmp_path / "effects"
    path.touch()
    return path


def effects_in(path: Path) -> Counter[str]:
    """How often each key has had its effect."""
    return Counter(path.read_text().split())


@pytest.mark.slow
@pytest.mark.requirement("SCALE-1", "AUD-2")
async def test_six_processes_that_start_at_once_migrate_once(postgres_url: str, postgres_stores: Opens) -> None:
    with ExitStack() as all_of_them:
        names = [f"p{number}" for number in range(6)]
        started = [all_of_them.enter_context(store_process("work", postgres_url, name, "16", "1000")) for name in names]
        for each in started:
            assert line(each) == "ready"
            assert line(each) == "won 16"
            assert each.wait() == 0
    store = await postgres_stores()
    # Of each process eight effects with two records and eight reads with one.
    assert len(await store.records(AuditQuery())) == 6 * (8 * 2 + 8)
    assert len(await verified(store)) == 6


@pytest.mark.slow
@pytest.mark.requirement("BUD-2", "AUD-2")
async def test_processes_that_share_a_limit_never_oversell_it_and_their_chains_verify(
    postgres_url: str, postgres_stores: Opens
) -> None:
    with ExitStack() as all_of_them:
        names = ("one", "two", "three")
        started = [all_of_them.enter_context(store_process("work", postgres_url, name, "80", "100")) for name in names]
        won = 0
        for each in started:
            assert line(each) == "ready"
            won += int(line(each).removeprefix("won "))
            assert each.wait() == 0
    assert won == 100
    store = await postgres_stores()
    usage = dict(await store.usage(TENANT))[SCOPE]
    assert (usage.used.calls, usage.held) == (100, NOTHING)
    await verified(store)


@pytest.mark.slow
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
    postgres_url: str, postgres_stores: Opens, moment: str, op: str, state: CallState | None, records: int
) -> None:
    with store_process("die", postgres_url, "first", moment, op) as dying:
        dying.wait()
        assert dying.returncode == -signal.SIGKILL
    store = await postgres_stores()
    found = await store.find(TENANT, "first-1")
    assert (None if found is None else found.state) == state
    assert len(await store.records(AuditQuery())) == records
    await verified(store)


@pytest.mark.requirement("IDEM-5", "BUD-2")
async def test_what_a_killed_process_holds_is_free_once_its_lease_has_run_out(
    postgres_url: str, postgres_stores: Opens
) -> None:
    store, values = await postgres_stores(), Values()
    with store_process("hold", postgres_url, "first") as first:
        assert await asyncio.to_thread(line, first) == "held"
        assert [each.orphaned for each in await store.open_calls()] == [False] * 4
        first.kill()
        first.wait()
    async with asyncio.timeout(10):
        while not all(each.orphaned for each in await store.open_calls()):
            continue
    for found in await store.open_calls():
        claim = await store.take_over(found, values.event())
        assert claim is not None
        await store.settle(values.settlement(claim, CallEvent.PROVE_NOTHING_HAPPENED))
    assert dict(await store.usage(TENANT))[SCOPE].held == NOTHING


@pytest.mark.slow
@pytest.mark.requirement("IDEM-3", "IDEM-5")
async def test_fifty_callers_of_one_key_in_three_processes_execute_it_once(postgres_url: str, effects: Path) -> None:
    with ExitStack() as all_of_them:
        started = [
            all_of_them.enter_context(process("race", postgres_url, str(effects), callers))
            for callers in ("17", "17", "16")
        ]
        for each in started:
            assert line(each) == "ready"
        for each in started:
            assert each.stdin is not None
            each.stdin.write("go\n")
            each.stdin.flush()
        told: Counter[str] = Counter()
        for each in started:
            counts = dict(part.split("=") for part in line(each).split())
            told.update({status: int(count) for status, count in counts.items()})
    assert list(effects_in(effects).values()) == [1]
    assert told["ok"] == 1
    assert sum(told.values()) == 50
    assert set(told) <= {"ok", "replayed", "refused"}


@pytest.mark.requirement("IDEM-5")
async def test_a_process_that_stood_still_past_its_lease_starts_and_writes_nothing_more_for_its_claim(
    postgres_url: str, effects: Path, postgres_stores: Opens
) -> None:
    with process("pause", postgres_url, str(effects)) as paused:
        assert line(paused) == "claimed"
        store, values = await postgres_stores(), Values("acme")
        async with asyncio.timeout(20):
            while not all(each.orphaned for each in await store.open_calls()):
                continue
        (found,) = await store.open_calls()
        taken = await store.take_over(found, values.event())
        assert taken is not None
        os.kill(paused.pid, signal.SIGCONT)
        status, _, code = (await asyncio.to_thread(line, paused)).partition(" ")
        assert (status, code) == ("unknown", "OUTCOME_UNKNOWN")
        assert effects_in(effects) == Counter()
        assert paused.wait() == 0
    kinds = [each.kind for each in await store.records(AuditQuery(tenant="acme"))]
    assert EventKind.SETTLED not in kinds
    assert await store.settle(values.settlement(taken, CallEvent.PROVE_NOTHING_HAPPENED)) is not None
    await verified(store)


@pytest.mark.slow
@pytest.mark.requirement("IDEM-4", "IDEM-5", "AUD-2", "AUD-3")
async def test_a_database_that_is_killed_and_started_again_leaves_every_effect_once_and_every_chain_whole(
    own_server: OwnServer, effects: Path
) -> None:
    with ExitStack() as all_of_them:
        started = [
            all_of_them.enter_context(process("persist", own_server.url, str(effects), first, "160"))
            for first in ("0", "1000")
        ]
        for each in started:
            assert line(each) == "ready"
        assert line(started[0]) == "a quarter"
        own_server.kill()
        own_server.start()
        for each in started:
            last = line(each)
            assert (last if last != "a quarter" else line(each)).startswith("done")
            assert each.wait() == 0
    counted = effects_in(effects)
    assert len(counted) == 320
    assert set(counted.values()) == {1}
    store = await own_server.opened()
    assert [each for each in await store.open_calls() if each.state is CallState.CLAIMED] == []
    await verified(store)
    await store.close()
