"""Starts processes that prove pieces of a log, one for each core, and hands them the pieces.

They are programs of their own (`interlock.prover`), not forks and not copies of the program that runs here, which must
not begin anew. Where the log is and the keys go through a pipe. A process that cannot be started, or ends, proves
nothing more; what it was asked is read here then.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Final

from interlock.core.chain import Head, Stretch
from interlock.core.checkpoint import Span
from interlock.core.frozen import frozen

PROCESSES_MAX: Final = 8
JOB_RECORDS: Final = 2_000
JOB_SPANS: Final = 16
AHEAD: Final = 4
"""How many jobs each process may have before the first of them is answered."""

Proved = tuple[Span, Stretch | None]


@frozen
class Where:
    """How another process opens the same log: its address, its keys, and whether it is a file that nobody writes."""

    address: str
    master: bytes
    seal: bytes | None = None
    closed: bool = False

    def to_line(self, held: Iterable[Head]) -> bytes:
        """What a prover is told first, with the heads that are held outside; `read_where` reads it."""
        return _line({
            "address": self.address,
            "master": self.master.hex(),
            "seal": None if self.seal is None else self.seal.hex(),
            "closed": self.closed,
            "held": [[each.chain, each.sequence, each.hash] for each in held],
        })  # fmt: skip


def read_where(line: bytes) -> tuple[Where, tuple[Head, ...]]:
    """Where the log is, and the heads that are held outside, of the line that `Where.to_line` gives."""
    said = json.loads(line)
    seal = None if said["seal"] is None else bytes.fromhex(said["seal"])
    where = Where(said["address"], bytes.fromhex(said["master"]), seal, said["closed"])
    return where, tuple(Head(*each) for each in said["held"])


def _line(said: object) -> bytes:
    """One line of JSON."""
    return json.dumps(said).encode() + b"\n"


def spans_to_line(job: Iterable[Span]) -> bytes:
    """A job as a prover is asked it; `read_spans` reads it."""
    return _line([[span.chain, span.after, span.through] for span in job])


def read_spans(line: bytes) -> tuple[Span, ...]:
    """The spans of a job, of the line that `spans_to_line` gives."""
    return tuple(Span(*each) for each in json.loads(line))


def stretches_to_line(found: Iterable[Stretch | None]) -> bytes:
    """The answer to a job, as far as who asked does not know it; `read_stretches` reads it."""
    return _line([None if each is None else [each.start.hash, each.before, each.end.hash] for each in found])


def read_stretches(line: bytes, job: Iterable[Span]) -> list[Stretch | None]:
    """What each span of the job was shown to be, of the line that `stretches_to_line` gives."""
    return [_stretch(span, each) for span, each in zip(job, json.loads(line), strict=True)]


def _stretch(span: Span, found: Sequence[str] | None) -> Stretch | None:
    if found is None:
        return None
    start, before, end = found
    return Stretch(Head(span.chain, span.after, start), Head(span.chain, span.through, end), before)


class OtherProcesses:
    """Proves with so many processes, which live while something is proved."""

    def __init__(self, where: Where, *, count: int) -> None:
        self._where = where
        self._count = min(count, PROCESSES_MAX)

    async def prove(self, spans: Iterable[Span], *, held: tuple[Head, ...]) -> AsyncGenerator[Proved, None]:
        """What each span was shown to be, in order; None where nobody says so. Closing it ends the processes."""
        crew = self._crew(held)
        sent: deque[tuple[_Prover, list[Span]]] = deque()
        try:
            for prover, job in zip(cycle(crew), _jobs(iter(spans)), strict=False):
                await asyncio.to_thread(prover.ask, job)
                sent.append((prover, job))
                for each in await _next(sent) if len(sent) == AHEAD * len(crew) else ():
                    yield each
            while sent:
                for each in await _next(sent):
                    yield each
        finally:
            for prover in crew:
                prover.end()

    def _crew(self, held: tuple[Head, ...]) -> list[_Prover]:
        """All of them, or nobody."""
        crew = list[_Prover]()
        try:
            crew.extend(_Prover(self._where, held) for _ in range(self._count))
        except OSError:  # there is no room for one more process
            for prover in crew:
                prover.end()
            return []
        return crew


def provers_of(address: str, *, master: bytes, seal: bytes | None, closed: bool = False) -> OtherProcesses | None:
    """Those who prove the log at this address; None where more than this process would not be faster."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    is_python = Path(sys.executable or "").name.startswith(("python", "pypy"))
    if not address or cores < 2 or not is_python:
        return None
    return OtherProcesses(Where(address, master, seal, closed), count=cores)


async def _next(sent: deque[tuple[_Prover, list[Span]]]) -> list[Proved]:
    """The answer to what was asked first."""
    prover, job = sent.popleft()
    return await asyncio.to_thread(prover.answer, job)


def _jobs(spans: Iterator[Span]) -> Iterator[list[Span]]:
    """Small spans together, so that asking costs less than proving."""
    job, records = list[Span](), 0
    for span in spans:
        job.append(span)
        records += span.through - span.after
        if records >= JOB_RECORDS or len(job) == JOB_SPANS:
            yield job
            job, records = [], 0
    if job:
        yield job


class _Prover:
    """One process. Raises `OSError` where it cannot be started."""

    def __init__(self, where: Where, held: tuple[Head, ...]) -> None:
        path = os.pathsep.join(each or str(Path.cwd()) for each in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "interlock.prover"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError("a process without pipes")
        self._asks, self._answers = self._process.stdin, self._process.stdout
        self._unsaid = where.to_line(held)

    def ask(self, job: list[Span]) -> None:
        self._tell(self._unsaid + spans_to_line(job))
        self._unsaid = b""

    def answer(self, job: list[Span]) -> list[Proved]:
        """What it found; nothing where it has ended."""
        line = self._answers.readline()
        found = read_stretches(line, job) if line.endswith(b"\n") else [None] * len(job)
        return list(zip(job, found, strict=True))

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._asks, self._answers):
            with suppress(OSError):  # what was still to be said to it goes nowhere
                pipe.close()

    def _tell(self, lines: bytes) -> None:
        with suppress(BrokenPipeError):  # it has ended, and will answer nothing
            self._asks.write(lines)
            self._asks.flush()
