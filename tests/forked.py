"""Programs in processes of their own, each forked from one that has imported most of what they need.

That saves the second that imports take. The one that they are forked from has opened nothing. What a program is given
is real: its arguments, folder, environment and streams, and signals; and so is how it ends. How Python itself starts is
left out: tests of that start programs as everybody does.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([
    "tests.crash.kill_worker", "tests.crash.run_worker", "tests.forked", "interlock.doors.cli.main",
    "interlock.doors.cli.session", "interlock.driving", "mcp.server.lowlevel", "mcp.server.stdio", "uvicorn",
])  # fmt: skip


def run(
    command: Sequence[str | Path], *, folder: Path, environment: Mapping[str, str] | None = None, timeout_s: float = 50
) -> "subprocess.CompletedProcess[str]":
    """What a program says and how it ends: a path of one and its arguments, or `-c`, its text and its arguments."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaint:
        given = [*map(str, command)]
        process = start(given, folder=folder, environment=environment, streams=(said, complaint))
        process.join(timeout_s)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(given, timeout_s, _text(said), _text(complaint))
        return subprocess.CompletedProcess(given, process.exitcode, _text(said), _text(complaint))


def start(
    command: Sequence[str | Path],
    *,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    streams: Sequence[IO[Any]],
) -> BaseProcess:
    """A program that has been started, on its stdout and, where that is given, its stderr; there is nothing to read."""
    known = dict(os.environ if environment is None else environment)
    numbers = [_Stream(each) for each in streams]
    process = PROCESSES.Process(target=_program, args=([*map(str, command)], folder, known, numbers))
    process.start()
    return process


class _Stream:
    """An open file that reaches the other process as a number."""

    def __init__(self, file: IO[Any]) -> None:
        self._file = file

    def __reduce__(self) -> tuple[Callable[[Any], int], tuple[Any]]:
        return _number, (DupFd(self._file.fileno()),)


def _number(passed: Any) -> int:
    return int(passed.detach())


def _program(command: list[str], folder: Path, environment: Mapping[str, str], streams: list[int]) -> None:
    """The other process, from where Python would begin with the program."""
    for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), *streams)):
        os.dup2(stream, number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - it is open until the end
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if command[0] == "-c":
        sys.argv[:] = ["-c", *command[2:]]
        sys.path.insert(0, "")
        exec(compile(command[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv[:] = command
        sys.path.insert(0, str(Path(command[0]).parent))
        runpy.run_path(command[0], run_name="__main__")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()
