"""Cases of a cold process: what importing costs, and what the first governed call does."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from benchmarks.harness import Measured

RUNS = 7
IMPORT = "import interlock"
FIRST_CALL = """
import asyncio
from benchmarks.tools import ALICE, POLICY, SETTINGS, search
from interlock import Gate, ToolCall
async def main():
    async with Gate.open(tools=[search], policies=[POLICY], settings=SETTINGS) as gate:
        seen = await gate.call(ToolCall("c", "search", '{"query":"x"}'), principal=ALICE)
        assert seen.status.value == "ok", seen
asyncio.run(main())
"""


async def import_time() -> Measured:
    """`import interlock` in a new process, less the bare interpreter."""
    return Measured("import interlock", _beyond_python(IMPORT), "s", None, 0.2, 0.1)


async def first_call() -> Measured:
    """From the start of a process to the answer of its first governed call, less the bare interpreter."""
    return Measured("first governed call of a cold process", _beyond_python(FIRST_CALL), "s", None, 0.6, 0.3)


def _beyond_python(code: str) -> float:
    """Seconds more than `pass` takes: medians of several, after one run that fills the caches."""
    _run(code)
    return statistics.median([_run(code) for _ in range(RUNS)]) - statistics.median([_run("pass") for _ in range(RUNS)])


def _run(code: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start
