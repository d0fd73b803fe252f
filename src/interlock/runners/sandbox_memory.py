"""Adds up the memory that all processes of a sandbox hold together, which no limit of the kernel's does.

The kernel bounds the address space of each process. A sum is bounded by a control group, which a gate rarely may make;
so it is looked at ten times a second. In between, processes times address space bound it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

LOOK_S = 0.1
"""How long a sandbox goes unlooked at."""

_DEPTH_MAX = 4_096
_KIB = 1_024


def held_bytes(first: int) -> int:
    """Memory of a process and all below it that is its own, in bytes; what is shared in it is counted where it lies."""
    return sum(map(_own_bytes, _family(first)))


def _family(first: int) -> Iterator[int]:
    """The process and those below it, as far as they are there at the moment of looking."""
    waiting, seen = [first], 0
    while waiting and seen < _DEPTH_MAX:
        process = waiting.pop()
        seen += 1
        yield process
        for thread in _threads(process):
            waiting += map(int, _text(Path(f"/proc/{process}/task/{thread}/children")).split())


def _threads(process: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{process}/task")  # noqa: PTH208 - names are enough
    except OSError:
        return []


def _own_bytes(process: int) -> int:
    lines = dict(line.partition(":")[::2] for line in _text(Path(f"/proc/{process}/status")).splitlines())
    return _KIB * sum(int(lines.get(name, "0").split()[0]) for name in ("RssAnon", "RssShmem"))


def _text(file: Path) -> str:
    """A process that has ended meanwhile has nothing."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
