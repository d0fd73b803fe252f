"""`interlock demo` and `interlock bench`: run what only a checkout of the project has, with the same Python."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.verb import verb

app = typer.Typer()

DEMO = Path("examples/research-agent/main.py")
BENCH = Path("benchmarks")
PACKAGE = Path(__file__).resolve().parents[2]


@verb(app, "demo")
async def demo() -> Answer:
    """Run the example that comes with the source."""
    path = in_checkout(DEMO)
    if path is None:
        return _not_here("The demonstration", DEMO)
    return _ended(path, [str(path)])


@verb(app, "bench")
async def bench() -> Answer:
    """Run the benchmarks that come with the source."""
    path = in_checkout(BENCH)
    if path is None or not (path / "__main__.py").exists():
        return _not_here("The benchmarks", BENCH)
    return _ended(path, ["-m", path.name])


def in_checkout(below: Path, *, package: Path = PACKAGE) -> Path | None:
    """A path of the checkout that holds `package` (at src/interlock), or None where it was installed without one."""
    root = package.parents[1]
    found = root / below
    return found if package.parent.name == "src" and found.exists() else None


def _ended(path: Path, arguments: Sequence[str]) -> Answer:
    """Run it in the checkout. Its output is for people, so it goes to standard error where a program reads ours."""
    command = [sys.executable, *arguments]
    root = in_checkout(Path())
    code = subprocess.run(command, cwd=root, stdout=sys.stderr.fileno(), check=False).returncode
    text = f"{path.name} ended with {code}."
    return Answer({"path": str(path), "exit_code": code}, text, PROBLEM if code else DONE)


def _not_here(what: str, path: Path) -> Answer:
    return problem(
        "NOT_IN_CHECKOUT",
        f"{what} ({path}) comes with the source, not with the installed package.",
        next_step="Clone the repository, run scripts/setup there, and try again.",
    )
