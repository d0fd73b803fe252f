"""Starts an MCP server as a process of its own, and carries the messages of a session over its stdin and stdout.

It is started with the declared command and variables and nothing else, once the files of the command were found to be
the ones that were declared. It ends with its session, and with the gate: by the keeper where that is killed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import signal
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)

from interlock.core.frozen import frozen
from interlock.core.mcp_call import StdioServer
from interlock.core.redaction import Redactor
from interlock.runners.exchange import NoAnswer
from interlock.runners.mcp_exchange import current
from interlock.runners.mcp_pace import Asked, Pace
from interlock.runners.sandbox_keeper import Keeper

LOG = logging.getLogger("interlock.tools")

CHUNK_BYTES = 65_536
STDERR_BYTES = 4_096
"""How much of what it last wrote on stderr is kept, for the log."""

NO_MESSAGES_MAX = 100
"""How many lines that are no message it may print before it is ended."""

LEAVING_S = 2.0
"""How long it may take to end by itself once its stdin is closed, and then once it was told to."""

LOOK_S = 0.01

TOO_LARGE = -32998
"""The code of an answer of ours in place of one that was too large to be read."""

_ID = re.compile(rb'"id"\s*:\s*(\d{1,15})\b')
_HEAD_BYTES = 4_096


class NotStarted(Exception):
    """Why it is not there, in words that hold nothing of a credential."""

    def __init__(self, why: NoAnswer) -> None:
        super().__init__(why.reason)
        self.why = why


@frozen
class StdioWay:
    """What is started, with which values in its variables, and how large a message it may send."""

    server: StdioServer
    secrets: Mapping[str, str]
    bytes_max: int


class Processes:
    """The servers that run here."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._keeper = Keeper()

    @asynccontextmanager
    async def open(self, way: StdioWay, *, lost: asyncio.Event) -> AsyncIterator[tuple[Any, Any]]:
        """The streams of a session with a process that was started for it. `lost` is set once it says no more.

        Raises `NotStarted`.
        """
        await _check_files(way.server)
        process = await self._started(way)
        speech, heard = anyio.create_memory_object_stream[SessionMessage | Exception](16)
        asked = Asked()
        reading = asyncio.create_task(_read(process, _Mouth(speech, asked), bytes_max=way.bytes_max, lost=lost))
        stderr = _Tail()
        listening = asyncio.create_task(stderr.fill(process))
        try:
            yield heard, _Writer(process, asked)
        finally:
            with anyio.CancelScope(shield=True):
                died = reading.done()
                await _end(process)
                self._keeper.release(process.pid)
                for task in (reading, listening):
                    task.cancel()
                await asyncio.wait((reading, listening))
                speech.close()
                heard.close()
                if died:
                    self._tell(way, process, stderr)

    def close(self) -> None:
        """Let the keeper end."""
        self._keeper.close()

    async def _started(self, way: StdioWay) -> asyncio.subprocess.Process:
        server = way.server
        variables = {name: os.environ[name] for name in server.inherited if name in os.environ}
        variables |= server.environment
        variables |= {name: way.secrets[secret] for name, secret in server.variables.items()}
        try:
            self._keeper.start()
            process = await asyncio.create_subprocess_exec(
                *server.command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=variables,
                cwd=server.folder,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            raise NotStarted(NoAnswer("its command cannot be started", passes=False)) from fault
        self._keeper.hold(process.pid)
        return process

    def _tell(self, way: StdioWay, process: asyncio.subprocess.Process, stderr: _Tail) -> None:
        redactor = self._redactor.with_secrets(way.secrets.values())
        said = redactor.text(stderr.text)
        LOG.warning("%s ended by itself with %s; it said: %s", way.server.identity, process.returncode, said)


async def _check_files(server: StdioServer) -> None:
    """Raises `NotStarted` where a file of the command is not the one that was declared."""
    for each in server.files:
        found = await asyncio.to_thread(_digest, Path(server.folder) / each.place)
        if found != each.sha256:
            raise NotStarted(NoAnswer(f"{each.place} is not the file that was declared", passes=False))


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


class _Writer:
    """The library's stream of what is written. It writes in the task of whoever sends, so that it knows for whom."""

    def __init__(self, process: asyncio.subprocess.Process, asked: Asked) -> None:
        self._process = process
        self._asked = asked

    async def send(self, item: SessionMessage, /) -> None:
        """Write one message. Raises `anyio.ClosedResourceError` where nobody is there to read it."""
        stdin = self._process.stdin
        if stdin is None or stdin.is_closing() or self._process.returncode is not None:
            raise anyio.ClosedResourceError
        exchange = current()
        if isinstance(item.message, JSONRPCRequest):
            self._asked.put(item.message.id)
            if exchange is not None and exchange.is_call:
                exchange.progress.is_sent = True
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            stdin.write(line.encode() + b"\n")
            await stdin.drain()
        except (OSError, RuntimeError):
            raise anyio.ClosedResourceError from None

    async def aclose(self) -> None:
        """The process is ended by whoever started it."""

    async def __aenter__(self) -> _Writer:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None


class _Tail:
    """The end of what a process writes on stderr."""

    def __init__(self) -> None:
        self._kept = bytearray()

    @property
    def text(self) -> str:
        return self._kept.decode("utf-8", "replace").strip()

    async def fill(self, process: asyncio.subprocess.Process) -> None:
        """Read it to its end, so that the process never waits for somebody to."""
        while process.stderr is not None and (data := await process.stderr.read(CHUNK_BYTES)):
            self._kept += data
            del self._kept[:-STDERR_BYTES]


async def _read(process: asyncio.subprocess.Process, mouth: _Mouth, *, bytes_max: int, lost: asyncio.Event) -> None:
    """What it says, message by message, until it says no more, or too much that is none."""
    lines, strange = _Lines(bytes_max), 0
    try:
        # Whoever reads may be gone, and so may the process: both end a session that is over anyway.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            while strange <= NO_MESSAGES_MAX and process.stdout and (data := await process.stdout.read(CHUNK_BYTES)):
                strange += await mouth.speak(map(_message, lines.feed(data)))
    finally:
        lost.set()
        mouth.close()


class _Mouth:
    """Hands on what a server says: what answers a request at once, all else at its pace."""

    def __init__(self, speech: Any, asked: Asked) -> None:
        self._speech = speech
        self._asked = asked
        self._pace = Pace()

    async def speak(self, messages: Iterable[JSONRPCMessage | None]) -> int:
        """Hand them on. How many of the lines were none."""
        strange = unasked = 0
        for message in messages:
            if message is None:
                strange += 1
                continue
            is_answer = isinstance(message, JSONRPCResponse | JSONRPCError) and self._asked.answered(message.id)
            unasked += not is_answer
            await self._speech.send(SessionMessage(message))
        await self._pace.take(unasked)
        return strange

    def close(self) -> None:
        """It says no more."""
        self._speech.close()


class _Long:
    """A line that is over the limit, by its beginning."""

    def __init__(self, head: bytes) -> None:
        self.head = head


class _Lines:
    """Cuts what comes into lines. Of one over the limit its beginning is kept, for it may say whom it answers."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | _Long]:
        """The lines that are whole now."""
        found: list[bytes | _Long] = []
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._take(end)
            line = b"".join(self._parts)
            if line.strip():
                found.append(line if self._size <= self._bytes_max else _Long(line[:_HEAD_BYTES]))
            self._parts, self._size = [], 0
        self._take(rest)
        return found

    def _take(self, part: bytes) -> None:
        before, self._size = self._size, self._size + len(part)
        if self._size <= self._bytes_max:
            self._parts.append(part)
        elif before <= self._bytes_max:
            self._parts = [b"".join(self._parts)[:_HEAD_BYTES] + part[:_HEAD_BYTES]]


def _message(line: bytes | _Long) -> JSONRPCMessage | None:
    if isinstance(line, _Long):
        named = _ID.search(line.head)
        error = ErrorData(code=TOO_LARGE, message="too large")
        return None if named is None else JSONRPCError(jsonrpc="2.0", id=int(named[1]), error=error)
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its stdin, tell it to end, kill it: whichever it takes. What it started and left behind ends with it."""
    if process.stdin is not None:
        process.stdin.close()
    for sign in (None, signal.SIGTERM):
        if sign is not None:
            _signal(process, sign)
        if await _has_ended(process):
            break
    _signal(process, signal.SIGKILL)
    await _has_ended(process)
    transport = getattr(process, "_transport", None)  # whoever it started may hold its pipes for ever
    if transport is not None:
        transport.close()


def _signal(process: asyncio.subprocess.Process, sign: signal.Signals) -> None:
    """To its whole group, whose number nobody else has while one of it is left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, sign)


async def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether it ends soon. Its own `wait` waits for its pipes too, which others may hold."""
    for _ in range(int(LEAVING_S / LOOK_S)):
        if process.returncode is not None:
            return True
        await anyio.sleep(LOOK_S)
    return process.returncode is not None
