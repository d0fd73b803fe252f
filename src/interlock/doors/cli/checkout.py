"""`interlock demo` and `interlock bench`: run what only a checkout of the project has, with the same Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.verb import line, verb

app = typer.Typer()

DEMO = Path("examples/research-agent/main.py")
BENCH = Path("benchmarks/__main__.py")
PACKAGE = Path(__file__).resolve().parents[2]


Passed = Annotated[list[str] | None, typer.Argument(metavar="[-- OPTIONS]", help="Passed on, after two dashes.")]


@verb(app, "demo")
async def demo(options: Passed = None) -> Answer:
    """Run the example that comes with the source.

    With --json its own words go to standard error, and the document says how it ended.
    """
    path = in_checkout(DEMO)
    if path is None:
        return _not_here("The demonstration", DEMO)
    # The working directory stays the caller's: paths among the options are theirs.
    return run_program([str(path), *(options or ())], folder=None, out=_out())


@verb(app, "bench")
async def bench(options: Passed = None) -> Answer:
    """Run the benchmarks that come with the source.

    With --json their own words go to standard error, and the document says how they ended.
    """
    path = in_checkout(BENCH)
    if path is None:
        return _not_here("The benchmarks", BENCH)
    return run_program(["-m", path.parent.name, *(options or ())], folder=path.parents[1], out=_out())


def in_checkout(below: Path, *, package: Path = PACKAGE) -> Path | None:
    """A path of the checkout that holds `package` (at src/interlock), or None where it was installed without one."""
    root = package.parents[1]
    found = root / below
    return found if package.parent.name == "src" and found.exists() else None


def run_program(arguments: Sequence[str], *, folder: Path | None, out: int | None) -> Answer:
    """Run this Python with these arguments and wait. `out` is the file that its output goes to (None: ours)."""
    command = [sys.executable, *arguments]
    code = subprocess.run(command, cwd=folder, stdout=out, check=False).returncode
    return Answer({"command": [*command], "exit_code": code}, f"It ended with {code}.", PROBLEM if code else DONE)


def _out() -> int | None:
    """Where a program reads our one document, what is for people goes to standard error."""
    return sys.stderr.fileno() if line().json else None


def _not_here(what: str, path: Path) -> Answer:
    return problem(
        "NOT_IN_CHECKOUT",
        f"{what} ({path}) comes with the source, not with the installed package.",
        next_step="Clone the repository, run scripts/setup there, and try again.",
    )
