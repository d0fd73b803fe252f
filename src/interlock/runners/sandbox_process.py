"""Starts bubblewrap, reads what comes out of it under limits, and ends it so that nothing of it is left.

The sandbox is a pid namespace: when its first process has ended, the kernel has ended every other. That process is
held by a pidfd, so "nothing is left" is known and not assumed.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from interlock.core.frozen import frozen
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_memory import LOOK_S, held_bytes

CHUNK_BYTES = 65_536
_WAIT = 'read -r go <"/proc/self/fd/$1" || exit 1; shift; exec "$@"'
MEMORY_BYTES_MAX = 1 << 60
ENDING_S = 5.0
"""How long the kernel may take to end what was killed."""


@frozen
class Launch:
    """What to start: `bwrap` with what goes before it, and the `command` that it runs in the sandbox.

    Its `arguments` reach it through a descriptor: a command line can be read by every user. `descriptors` are open
    files that they name by number; the launch owns and closes them. The limits are bytes, of stdout and stderr each,
    and of the channel.
    """

    bwrap: tuple[str, ...]
    arguments: tuple[str, ...]
    command: tuple[str, ...]
    descriptors: tuple[int, ...] = ()
    output_bytes: int = 1024 * 1024
    channel_bytes: int = 1


@frozen
class Ended:
    """What came of it. `code` is the exit code, 128 and the signal for one that was killed.

    `channel` is what the commands around the program wrote: nothing where the program was never started. `over` names
    the stream on which more came than may be, or memory; then it was stopped.
    """

    code: int
    stdout: bytes
    stderr: bytes
    channel: bytes
    over: str = ""


@dataclass(slots=True)
class _Stream:
    """One pipe out of the sandbox. Of what is over the limit nothing is kept."""

    name: str
    descriptor: int
    bytes_max: int
    kept: bytearray = field(default_factory=bytearray)
    open: bool = True


class Sandbox:
    """One running sandbox. Made by `start_sandbox`; whoever made it awaits `ended` and then `close`."""

    def __init__(
        self, process: subprocess.Popen[bytes], *, streams: Mapping[str, _Stream], info: int, keeper: Keeper
    ) -> None:
        self._process = process
        self._keeper = keeper
        self._streams = streams
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._pidfds: dict[int, str] = {}
        self._first: int | None = None
        self._over = ""
        self._info = _Stream("info", info, CHUNK_BYTES)
        for stream in (*streams.values(), self._info):
            self._loop.add_reader(stream.descriptor, self._read, stream)
        self._hold(process.pid, "bwrap")

    async def ended(self, *, memory_bytes: int = MEMORY_BYTES_MAX) -> Ended:
        """Wait until it has ended by itself, or by taking too much, and everything in it has.

        `memory_bytes` is what all its processes may hold together.
        """
        while "bwrap" in self._pidfds.values() and not self._over:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._change()
            if self._first is not None and held_bytes(self._first) > memory_bytes:
                self._over = "memory"
        await self._end()
        code = self._process.returncode
        kept = {name: bytes(stream.kept) for name, stream in self._streams.items()}
        return Ended(-1 if code is None else code, kept["stdout"], kept["stderr"], kept["channel"], self._over)

    async def close(self) -> None:
        """End everything, and wait until it has. May be called at any time, and again."""
        try:
            await self._end()
        finally:
            for stream in (*self._streams.values(), self._info):
                self._shut(stream)

    async def _end(self) -> None:
        self._kill()
        try:
            async with asyncio.timeout(ENDING_S):
                while self._pidfds or any(stream.open for stream in (*self._streams.values(), self._info)):
                    await self._change()
                    self._kill()
        except TimeoutError:  # a process that the kernel cannot end is not waited for for ever
            self._kill_group()

    def _kill(self) -> None:
        """The first process, and with it all others; bubblewrap then ends by itself, having buried it.

        While no first process is known there may be one on its way, in the process group of bubblewrap.
        """
        if self._info.open:
            self._read(self._info)
        if self._first is None:
            self._kill_group()
        for held in [held for held, name in self._pidfds.items() if name == "first"]:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(held, signal.SIGKILL)

    def _kill_group(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _hold(self, pid: int, name: str) -> None:
        try:
            held = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        self._pidfds[held] = name
        self._loop.add_reader(held, self._gone, held)

    def _gone(self, held: int) -> None:
        self._loop.remove_reader(held)
        name = self._pidfds.pop(held)
        os.close(held)
        if name == "bwrap":
            self._process.wait()
            self._keeper.release(self._process.pid)
        self._changed.set()

    def _read(self, stream: _Stream) -> None:
        try:
            data = os.read(stream.descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return
        room = stream.bytes_max - len(stream.kept)
        stream.kept += data[:room]
        if len(data) > room:
            self._over = self._over or stream.name
            self._changed.set()
        if not data:
            self._shut(stream)
            self._changed.set()
        if stream is self._info and self._first is None:
            self._know_first()

    def _know_first(self) -> None:
        """Hold the first process of the namespace, which bubblewrap names once it is there."""
        try:
            pid = json.loads(self._info.kept)["child-pid"]
        except (ValueError, KeyError, TypeError):
            return
        if _parent_of(pid) == self._process.pid:
            self._first = pid
            self._hold(pid, "first")

    def _shut(self, stream: _Stream) -> None:
        if stream.open:
            stream.open = False
            self._loop.remove_reader(stream.descriptor)
            os.close(stream.descriptor)


def start_sandbox(launch: Launch, *, keeper: Keeper) -> Sandbox:
    """Start it. Raises `OSError` where that cannot be; the descriptors of the launch are closed in any case.

    It is started from the event loop's own thread: it ends with the thread that started it. It waits for a word before
    it goes on, so that nothing is ever there that the keeper does not know.
    """
    pipes: dict[str, tuple[int, int]] = {}
    owned = list(launch.descriptors)
    try:
        keeper.start()
        for name in ("stdout", "stderr", "channel", "info"):
            pipes[name] = os.pipe2(os.O_CLOEXEC)
            owned.append(pipes[name][1])
        go, say_go = os.pipe2(os.O_CLOEXEC)
        owned += (go, say_go)
        info = pipes["info"][1]
        known = ("--info-fd", str(info), "--block-fd", str(go))
        arguments = sealed(_nul_separated([*launch.arguments, *known]))
        owned.append(arguments)
        process = _started(launch, pipes, passed=(*launch.descriptors, info, go, arguments))
        keeper.hold(process.pid)
        os.write(say_go, b"\n")
    except BaseException:
        for reader, _ in pipes.values():
            os.close(reader)
        raise
    finally:
        for each in owned:
            os.close(each)
    limits = {"stdout": launch.output_bytes, "stderr": launch.output_bytes, "channel": launch.channel_bytes}
    for reader, _ in pipes.values():
        os.set_blocking(reader, False)
    streams = {name: _Stream(name, pipes[name][0], bytes_max) for name, bytes_max in limits.items()}
    return Sandbox(process, streams=streams, info=pipes["info"][0], keeper=keeper)


def sealed(data: bytes | bytearray) -> int:
    """A descriptor of these bytes that nobody can change any more, at their beginning."""
    held = os.memfd_create("interlock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    left = memoryview(data)
    while left:
        left = left[os.write(held, left) :]
    seal(held)
    return held


def seal(held: int) -> None:
    """Freeze a memory file, and go back to its beginning."""
    os.lseek(held, 0, os.SEEK_SET)
    every = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    fcntl.fcntl(held, fcntl.F_ADD_SEALS, every)


def _started(launch: Launch, pipes: Mapping[str, tuple[int, int]], *, passed: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            "/bin/sh",
            "-c",
            _WAIT,
            "sh",
            str(passed[-2]),
            *launch.bwrap,
            "--args",
            str(passed[-1]),
            "--",
            *launch.command,
        ],
        stdin=pipes["channel"][1],
        stdout=pipes["stdout"][1],
        stderr=pipes["stderr"][1],
        pass_fds=passed,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        cwd="/",
        start_new_session=True,
    )


def _nul_separated(arguments: Sequence[str]) -> bytes:
    return b"".join(each.encode(errors="surrogatepass") + b"\0" for each in arguments)


def _parent_of(pid: int) -> int | None:
    """The parent of a process, which tells that its number has not been given to another meanwhile."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
