"""On PostgreSQL a call is claimed on what its process saw last; what others have done since is found by the claim."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest

from interlock import Gate, Limit, ScopeKind, ToolCall, Unit
from interlock.store.postgres_line import Line, Row, Step
from tests.gates import ALICE, Shelf, code, opened, save, search

RUN = "run-7"


@pytest.fixture
async def two(
    postgres_url: str, tmp_path: Path, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Gate, Gate]]:
    """Two processes that govern the same tools, at most three calls of a tenant."""
    monkeypatch.chdir(tmp_path)
    limits = [Limit(ScopeKind.TENANT, Unit.CALLS, 3)]
    async with (
        opened(postgres_url, shelf.tools, limits=limits) as one,
        opened(postgres_url, shelf.tools, limits=limits) as other,
    ):
        yield one, other


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What goes over any connection, but for what is done now and then."""
    found, trip = list[list[str]](), Line.trip

    async def noted(line: Line, *steps: Step) -> list[list[Row]]:
        if not {"renew_lease", "notify", "select_due"} & {name for name, _ in steps}:
            found.append([name for name, _ in steps])
        return await trip(line, *steps)

    monkeypatch.setattr(Line, "trip", noted)  # the network, which is listened to
    return found


async def test_a_write_is_two_trips(two: tuple[Gate, Gate], trips: list[list[str]]) -> None:
    one, _ = two
    await one.call(save(), principal=ALICE, task="t")
    trips.clear()
    assert code(await one.call(save("n2"), principal=ALICE, task="t")) == "ok"
    assert trips == [["write_claim"], ["write_call"]]


@pytest.mark.requirement("IDEM-2", "SCALE-2")
async def test_a_key_that_another_process_has_used_replays_or_conflicts(two: tuple[Gate, Gate], shelf: Shelf) -> None:
    one, other = two
    await one.call(save("n0"), principal=ALICE, task="t")
    assert code(await other.call(save(), principal=ALICE, task="t")) == "ok"
    assert (await one.call(save(), principal=ALICE, task="t")).replayed
    assert code(await one.call(save(text="other"), principal=ALICE, task="t")) == "IDEMPOTENCY_CONFLICT"
    assert shelf.saved == [("n0", "hello"), ("n1", "hello")]


@pytest.mark.requirement("BUD-2", "SCALE-2")
async def test_what_others_have_used_up_is_refused_as_used_up(two: tuple[Gate, Gate]) -> None:
    one, other = two
    await one.call(save(), principal=ALICE, task="t")
    for note in ("n2", "n3"):
        assert code(await other.call(save(note), principal=ALICE, task="t")) == "ok"
    assert code(await one.call(save("n4"), principal=ALICE, task="t")) == "BUDGET_EXHAUSTED"


@pytest.mark.requirement("SCALE-2")
@pytest.mark.parametrize("call", [save("n2"), search()])
async def test_a_run_that_others_have_ended_takes_no_more_calls(
    two: tuple[Gate, Gate], postgres_url: str, call: ToolCall, trips: list[list[str]]
) -> None:
    one, _ = two
    for _ in range(2):
        await one.call(save(), principal=ALICE, run=RUN)
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("UPDATE runs SET version = version + 1, ended = 'stopped'")  # as whoever ends a run does
    trips.clear()
    assert code(await one.call(call, principal=ALICE, run=RUN)) == "RUN_ENDED"
    assert trips[0] == ["write_claim"]
