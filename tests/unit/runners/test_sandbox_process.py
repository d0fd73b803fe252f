"""What was started is read under limits and ends whole. The stand-in for bubblewrap here is a shell."""

import asyncio
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_process import Ended, Launch, Sandbox, sealed, start_sandbox
from tests.execution import passing

SHELL = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


@pytest.fixture
def shell(tmp_path: Path) -> tuple[str, ...]:
    """A program that takes bubblewrap's arguments and makes no sandbox, so that what is tested is what is around it."""
    file = tmp_path / "bwrap"
    file.write_text(SHELL)
    file.chmod(0o700)
    return (str(file),)


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    """A keeper that is there."""
    keeper = Keeper()
    keeper.start()
    yield keeper
    keeper.close()


def launch(shell: tuple[str, ...], script: str, *, output_bytes: int = 1_000) -> Launch:
    return Launch(shell, ("--unused",), ("/bin/sh", "-c", script), output_bytes=output_bytes, channel_bytes=10)


def descriptors() -> int:
    """How many are open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def done(started: Sandbox) -> Ended:
    try:
        return await started.ended()
    finally:
        await started.close()


async def test_streams_come_back_apart_with_the_exit_code(shell: tuple[str, ...], keeper: Keeper) -> None:
    ended = await done(start_sandbox(launch(shell, "echo out; echo err >&2; printf s >&0; exit 3"), keeper=keeper))
    assert ended == Ended(3, b"out\n", b"err\n", b"s")


async def test_a_signal_is_told_as_a_shell_tells_it(shell: tuple[str, ...], keeper: Keeper) -> None:
    ended = await done(start_sandbox(launch(shell, "sh -c 'kill -9 $$'; exit $?"), keeper=keeper))
    assert ended.code == 137


async def test_over_the_limit_it_is_stopped_and_no_more_is_kept(shell: tuple[str, ...], keeper: Keeper) -> None:
    ended = await done(start_sandbox(launch(shell, "while :; do echo more; done", output_bytes=100), keeper=keeper))
    assert (ended.over, len(ended.stdout)) == ("stdout", 100)


async def test_at_the_limit_it_is_not_stopped(shell: tuple[str, ...], keeper: Keeper) -> None:
    ended = await done(start_sandbox(launch(shell, "printf 12345", output_bytes=5), keeper=keeper))
    assert (ended.over, ended.stdout) == ("", b"12345")


async def test_closing_ends_what_runs(shell: tuple[str, ...], keeper: Keeper) -> None:
    started = start_sandbox(launch(shell, "trap '' TERM; echo $$; while :; do sleep 100; done"), keeper=keeper)
    waiting = asyncio.ensure_future(started.ended())
    await passing(0)
    waiting.cancel()
    await started.close()
    assert started._process.returncode == -9
    await started.close()


async def test_no_descriptor_is_left_open(shell: tuple[str, ...], keeper: Keeper) -> None:
    before = descriptors()
    held = sealed(b"x")
    await done(start_sandbox(Launch(shell, (), ("/bin/true",), (held,)), keeper=keeper))
    with pytest.raises(OSError, match=r"."):
        start_sandbox(Launch(shell, (), ("x" * 300_000,), (sealed(b"x"),)), keeper=keeper)
    assert descriptors() == before


async def test_a_bubblewrap_that_is_not_there_has_started_nothing(keeper: Keeper) -> None:
    ended = await done(start_sandbox(Launch(("/none/bwrap",), (), ("/bin/true",)), keeper=keeper))
    assert (ended.code, ended.channel) == (127, b"")


def test_sealed_bytes_are_read_from_the_beginning_and_never_changed() -> None:
    held = sealed(b"x" * 100_000)
    assert len(os.read(held, 200_000)) == 100_000
    with pytest.raises(PermissionError):
        os.ftruncate(held, 0)
    os.close(held)


STARTING = """
import asyncio, sys
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_process import Launch, start_sandbox

async def main():
    sandbox = start_sandbox(Launch((sys.argv[1],), (), ("/bin/sleep", "1000")), keeper=Keeper())
    print(sandbox._process.pid, flush=True)
    await sandbox.ended()

asyncio.run(main())
"""


def test_what_does_not_follow_its_gate_yet_ends_with_it_all_the_same(shell: tuple[str, ...]) -> None:
    gate = subprocess.Popen([sys.executable, "-c", STARTING, *shell], stdout=subprocess.PIPE)
    assert gate.stdout is not None
    with gate, os.fdopen(os.pidfd_open(int(gate.stdout.readline()))) as started:
        gate.kill()
        ended, _, _ = select.select([started], [], [], 20)
    assert ended
