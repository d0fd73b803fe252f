"""Which runs an engine drives: all that are due, those that it was asked for, or none."""

from pathlib import Path

import pytest

from interlock import (
    Drives,
    Gate,
    Host,
    PolicySource,
    Principal,
    Publish,
    Run,
    RunState,
    Settings,
    SettingsInvalid,
    tool,
)
from interlock.core.decision import Deny
from interlock.testing.models import ScriptedModel

ALICE = Principal("acme", "alice", groups=frozenset({"eng"}))
BOB = Principal("acme", "bob", groups=frozenset({"approver", "operator"}))
EVE = Principal("acme", "eve", groups=frozenset({"auditor"}))
ASKS = [PolicySource("p", '@approval("approver") permit (principal, action, resource);')]
NAMED = Settings(drives=Drives.NAMED, runs_every_s=0.02)


@tool(effect="write", owner="eng", key=["name"])
async def save(name: str) -> str:
    """Save."""
    return name


async def waiting(path: Path, *names: str) -> None:
    """Runs in a store, each of which waits for an approval that is then given."""
    model = ScriptedModel([("save", {"name": name}) for name in names])
    still = Settings(runs_every_s=0)
    async with Gate.open(path, tools=[save], policies=ASKS, host=Host(models=(model,)), settings=still) as gate:
        runs = [await gate.runs.start(model="scripted", task="t", principal=ALICE, run_id=name) for name in names]
        waits = [await asked(run) for run in runs]
    async with Gate.open(path, settings=Settings(publish=Publish.NOTHING)) as gate:  # nobody who would go on with it
        for each in waits:
            await gate.approvals.approve(each, by=BOB)


async def asked(run: Run) -> str:
    """The approval that a run waits for, once it does."""
    async for event in run.events():
        if event.state is RunState.WAITING_APPROVAL:
            break
    return (await run.report()).waiting[0]


@pytest.mark.requirement("LOOP-7", "LOOP-8")
async def test_a_gate_that_drives_named_runs_leaves_the_others_alone(tmp_path: Path) -> None:
    await waiting(tmp_path / "a.db", "one", "two")
    models = Host(models=(ScriptedModel(["Done."]),))
    async with Gate.open(tmp_path / "a.db", tools=[save], host=models, settings=NAMED) as gate:
        assert await gate.runs.recover() == 0
        assert await gate.runs.go_on("one", by=ALICE) is None
        run = await gate.runs.get("one", by=ALICE)
        assert (await run.result(timeout_s=10)).state is RunState.COMPLETE
        assert (await gate.runs.head("two", by=ALICE)).state == "waiting_approval"
        refused = await gate.runs.go_on("one", by=ALICE)
        assert isinstance(refused, Deny)


@pytest.mark.requirement("LOOP-8")
async def test_a_run_that_waits_is_taken_again_once_it_was_decided(tmp_path: Path) -> None:
    models = Host(models=(ScriptedModel([("save", {"name": "x"}), "Done."]),))
    async with Gate.open(tmp_path / "a.db", tools=[save], policies=ASKS, host=models, settings=NAMED) as gate:
        run = await gate.runs.start(model="scripted", task="t", principal=ALICE)
        await gate.approvals.approve(await asked(run), by=BOB)
        assert (await run.result(timeout_s=10)).answer == "Done."


@pytest.mark.requirement("LOOP-8")
async def test_a_gate_that_was_opened_to_read_tells_a_run_what_is_said_and_drives_nothing(tmp_path: Path) -> None:
    await waiting(tmp_path / "a.db", "one")
    async with Gate.open(tmp_path / "a.db", settings=Settings(publish=Publish.NOTHING, runs_every_s=0.01)) as gate:
        before = await gate.runs.head("one", by=EVE)
        run = await gate.runs.get("one", by=ALICE)
        assert await run.say("Hurry.") is None
        assert await gate.runs.recover() == 0
        after = await gate.runs.head("one", by=EVE)
        assert (after.version, after.fence, after.state) == (before.version + 1, before.fence, before.state)
        with pytest.raises(SettingsInvalid, match="drives no runs"):
            await gate.runs.start(model="scripted", task="t", principal=ALICE)
        with pytest.raises(SettingsInvalid, match="drives no runs"):
            await gate.runs.go_on("one", by=ALICE)


@pytest.mark.requirement("LOOP-8")
async def test_only_whose_run_it_is_and_operators_have_it_go_on(tmp_path: Path) -> None:
    await waiting(tmp_path / "a.db", "one")
    models = Host(models=(ScriptedModel(["Done."]),))
    async with Gate.open(tmp_path / "a.db", tools=[save], host=models, settings=NAMED) as gate:
        for by in (EVE, Principal("acme", "mallory"), Principal("other", "alice", groups=frozenset({"operator"}))):
            assert isinstance(await gate.runs.go_on("one", by=by), Deny)
        assert (await gate.runs.head("one", by=ALICE)).fence == 1


def test_a_setting_that_is_none_is_refused() -> None:
    with pytest.raises(SettingsInvalid, match="drives must be due, named, none"):
        Settings(drives="some")  # type: ignore[arg-type]


@pytest.mark.requirement("LOOP-8")
async def test_a_run_is_cancelled_by_name_where_there_is_no_model(tmp_path: Path) -> None:
    await waiting(tmp_path / "a.db", "one")
    async with Gate.open(tmp_path / "a.db", tools=[save], settings=NAMED) as gate:
        run = await gate.runs.get("one", by=ALICE)
        assert await run.cancel(reason="enough") is None
        assert await gate.runs.go_on("one", by=ALICE) is None
        assert (await run.result(timeout_s=10)).state is RunState.CANCELLED
