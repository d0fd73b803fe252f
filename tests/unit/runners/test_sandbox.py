"""A program that cannot be run in a sandbox is not run at all, and the call says why."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.outcome import Failed
from interlock.core.refusals import Code
from interlock.declare.program import DeclaredProgram, program
from interlock.ports import Invocation
from interlock.runners.sandbox import SandboxRunner
from interlock.runners.sandbox_command import Machine
from interlock.runners.sandbox_probe import NoSandbox
from tests.execution import PLAIN, invocation_of, passing

MISSING = NoSandbox("bubblewrap is missing: install it.")


def declared(folder: Path) -> DeclaredProgram:
    (folder / "run.sh").write_text("touch /tmp/never")
    return program(
        name="run",
        description="Run it.",
        effect="read",
        command=["/bin/sh", "run.sh"],
        folder=folder,
        input_schema={"type": "object"},
    )


def bound(tool: DeclaredProgram, found: Machine | NoSandbox = MISSING) -> SandboxRunner:
    runner = SandboxRunner(redactor=PLAIN, find=lambda: found)
    runner.bind(tool.spec(), code=tool.code)
    return runner


def invocation(tool: Any, **options: Any) -> Invocation:
    return invocation_of(tool, {}, **options)


@pytest.mark.requirement("EXEC-7")
async def test_where_no_sandbox_works_nothing_is_run_and_it_says_what_to_install(tmp_path: Path) -> None:
    tool = declared(tmp_path)
    outcome = (await bound(tool).run(invocation(tool))).outcome
    assert outcome == Failed(
        Code.TOOL_UNAVAILABLE,
        "Programs cannot be run here. bubblewrap is missing: install it.",
        nothing_happened=True,
    )


@pytest.mark.requirement("EXEC-7")
async def test_a_bubblewrap_that_makes_no_sandbox_runs_nothing(tmp_path: Path) -> None:
    tool, ran = declared(tmp_path), tmp_path / "ran"
    fake = tmp_path / "bwrap"
    fake.write_text(f"#!/bin/sh\necho x >>{ran}\nexit 1\n")
    fake.chmod(0o755)
    runner = bound(tool, Machine((str(fake),), "/usr/bin/prlimit"))
    for _ in range(2):
        outcome = (await runner.run(invocation(tool))).outcome
        assert isinstance(outcome, Failed)
        assert (outcome.code, outcome.nothing_happened) == (Code.TOOL_UNAVAILABLE, True)
    await runner.close()
    assert ran.read_text() == "x\nx\n"  # only ever the attempt to make one, anew each time


async def test_no_secret_in_why_a_sandbox_cannot_be_started_reaches_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tool = declared(tmp_path)
    runner = bound(tool)
    runner._machine = Machine(("x" * 200_000,), "prlimit")
    # What the system says of it is all that can be planted in it.
    outcome = (await runner.run(invocation(tool, secrets={"token": "Argument list too long"}))).outcome
    assert isinstance(outcome, Failed)
    assert outcome.message == "The sandbox could not be started."
    assert "run could not be started" in caplog.text
    assert "OSError: [Errno 7] [redacted]" in caplog.text
    assert "Argument list" not in caplog.text
    await runner.close()


async def test_a_program_that_is_not_bound_is_not_run(tmp_path: Path) -> None:
    runner = SandboxRunner(redactor=PLAIN, find=lambda: MISSING)
    outcome = (await runner.run(invocation(declared(tmp_path)))).outcome
    assert isinstance(outcome, Failed)
    assert outcome.message == "The program of run is not loaded."


def test_only_a_program_is_bound(tmp_path: Path) -> None:
    with pytest.raises(SpecInvalid, match="run: what runs in a sandbox"):
        SandboxRunner(redactor=PLAIN).bind(declared(tmp_path).spec(), code=print)


async def test_a_program_has_no_functions_beside_it(tmp_path: Path) -> None:
    tool = declared(tmp_path)
    runner, asked = bound(tool), invocation(tool)
    assert await runner.precondition(asked) is None
    assert await runner.reconcile(asked) is None
    assert await runner.resolve(asked.operation) is None
    await runner.close()


async def test_who_waits_for_a_turn_until_the_deadline_started_nothing(tmp_path: Path) -> None:
    tool = declared(tmp_path)
    runner = SandboxRunner(redactor=PLAIN, sandboxes_max=1, find=lambda: MISSING)
    runner.bind(tool.spec(), code=tool.code)
    await runner._turns.acquire()
    waiting = asyncio.ensure_future(runner.run(invocation(tool, within_s=-1.0)))
    await passing(0)
    waiting.cancel()
    outcome = (await waiting).outcome
    assert isinstance(outcome, Failed)
    assert (outcome.message, outcome.nothing_happened) == ("Too many programs are running at present.", True)
