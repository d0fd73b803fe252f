"""The memory of a family of processes is added up, and of what is not there, it is nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from interlock.runners.sandbox_memory import held_bytes

HOLDS = """
import subprocess, sys
held = bytearray(b"x" * (30 << 20))
child = subprocess.Popen([sys.executable, "-c", "held = bytearray(b'x' * (30 << 20)); print(1, flush=True); input()"])
child.wait()
"""


@pytest.fixture
def family() -> Iterator[int]:
    """A process and a child of it, each of which holds 30 MB."""
    ends = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdin=ends, stdout=ends) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid


@pytest.mark.requirement("EXEC-7")
def test_what_children_hold_counts_too(family: int) -> None:
    assert 60 << 20 < held_bytes(family) < 200 << 20


def test_a_process_that_is_gone_holds_nothing() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()
    assert held_bytes(process.pid) == 0
    assert held_bytes(os.getpid()) > 0
