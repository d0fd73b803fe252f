"""What tests of the sandbox share: programs in Python as tools, a gate around them, and who of them is left."""

import json
import shutil
import textwrap
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from interlock import Gate, Observation, ToolCall
from interlock.declare.program import DeclaredProgram, program
from tests.gates import ALICE, opened

PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin") or "/usr/bin/python3"
ANYTHING = {"type": "object"}


class Written:
    """A program that was written for a test, with a mark by which its processes are found."""

    def __init__(self, folder: Path, source: str, **options: Any) -> None:
        self.mark = f"mark-{uuid4().hex}"
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "attack.py").write_text(textwrap.dedent(source))
        self.tool = self.declared(**options)

    def declared(self, **options: Any) -> DeclaredProgram:
        given: dict[str, Any] = {
            "name": "attack",
            "description": "Do what the test says.",
            "effect": "read",
            "owner": "eng",
            "command": [PYTHON, "-I", "attack.py", self.mark],
            "folder": self.folder,
            "input_schema": ANYTHING,
            **options,
        }
        return program(**given)

    @property
    def left(self) -> list[int]:
        """The processes of it that are there, by their command line."""
        return [pid for pid in _processes() if self.mark.encode() in command_line(pid)]


@asynccontextmanager
async def gate_of(written: Written, **options: Any) -> AsyncIterator[Gate]:
    """An open gate with that one tool. Afterwards nothing of it may be left."""
    tools: list[Any] = [written.tool]
    async with opened(":memory:", tools, **options) as gate:
        yield gate
    assert written.left == []


async def attempt(written: Written, arguments: dict[str, Any] | None = None) -> Observation:
    """What one call of it came to, once nothing of it is left."""
    async with gate_of(written) as gate:
        seen = await call(gate, arguments)
        assert written.left == []
    return seen


async def call(gate: Gate, arguments: dict[str, Any] | None = None) -> Observation:
    return await gate.call(ToolCall("c1", "attack", arguments or {}), principal=ALICE, run="r1", task="t1")


def value(seen: Observation) -> Any:
    """The result of a call that ended well."""
    assert seen.error is None, seen.error
    assert seen.data_json is not None
    return json.loads(seen.data_json)


def message(seen: Observation) -> tuple[str, str]:
    assert seen.error is not None, seen.data_json
    return seen.error.code.value, seen.error.message


def _processes() -> list[int]:
    return [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def descriptors() -> int:
    """How many are open here."""
    return len(list(Path("/proc/self/fd").iterdir()))
