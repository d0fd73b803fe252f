"""Makes one gRPC call on a channel that is there, and reads its answer within its limit."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio

from interlock.core.canonical import canonical
from interlock.core.errors import StoreError
from interlock.core.frozen import frozen
from interlock.core.grpc_answer import Ended
from interlock.core.grpc_call import STATUSES, GrpcCall
from interlock.core.http_answer import Answer
from interlock.runners.exchange import NoAnswer, Progress, Terms
from interlock.runners.grpc_channel import Channels, Way
from interlock.runners.grpc_message import Messages, Unreadable
from interlock.runners.grpc_wait import wait_s
from interlock.runners.http_body import KEPT_BYTES_MAX, read_body

_JSON = "application/json"
_TOO_LONG = "message larger than max"
"""Within what the library says of a message that it did not take."""


@frozen
class Illegible:
    """A call that went well, and whose answer is no message of the declared kind."""


@frozen
class Sending:
    """What goes out: the call, where, its message, and metadata."""

    call: GrpcCall
    way: Way
    message: bytes
    metadata: tuple[tuple[str, str], ...]


class Exchanges:
    """Sends calls. `terms.read_s` is the time that is left for the whole of one."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels

    async def send(
        self, sending: Sending, *, messages: Messages, terms: Terms, progress: Progress
    ) -> Answer | Illegible | Ended | NoAnswer:
        """The answer to it. Total but for cancellation and faults of the store."""
        until_s = asyncio.get_running_loop().time() + terms.read_s
        try:
            async with self._channels.to(sending.way, is_shared=terms.is_read) as channel:
                if isinstance(channel, NoAnswer):
                    return channel
                terms = replace(terms, read_s=until_s - asyncio.get_running_loop().time())
                if terms.read_s <= 0:
                    return _LATE
                progress.is_sent = True
                return await _answer(channel, sending, messages=messages, terms=terms)
        except grpc.aio.AioRpcError as ended:
            return _ended(ended)
        except Unreadable:
            return _BROKEN if sending.call.streams else Illegible()
        except StoreError:
            raise
        except Exception as fault:  # noqa: BLE001 - whatever a server brings a library to is no answer
            return NoAnswer(f"the call failed with {type(fault).__name__}", passes=False)

    async def close(self) -> None:
        """Close every connection."""
        await self._channels.close()


_LATE = NoAnswer("it was connected too late to be called")
_BROKEN = NoAnswer("it is no message of the declared kind", passes=False)


async def _answer(channel: Any, sending: Sending, *, messages: Messages, terms: Terms) -> Answer | NoAnswer:
    kind = channel.unary_stream if sending.call.streams else channel.unary_unary
    call = kind(sending.call.request.path)(sending.message, metadata=sending.metadata, timeout=terms.read_s)
    try:
        pieces = _Pieces(call, sending.call, messages)
        spool = None if terms.spool is None else terms.spool()
        taken = await read_body(pieces.read(), encoding="", limit=terms.limit, spool=spool)
        if not terms.is_read and not await pieces.is_ended():
            return NoAnswer("its answer does not end", passes=False)
    finally:
        call.cancel()
    return Answer(200, taken.data, _JSON, None, taken.is_whole, taken.is_readable, whole=taken.whole)


class _Pieces:
    """The JSON of an answer, message by message; those of a stream are the items of one list.

    Only the end of a call says that it went well, so the rest of an effect's answer is read even where it is not shown.
    """

    def __init__(self, call: Any, declared: GrpcCall, messages: Messages) -> None:
        self._call = call
        self._declared = declared
        self._messages = messages
        self._size = 0
        self._has_ended = False

    async def read(self) -> AsyncIterator[bytes]:
        """Piece by piece."""
        if not self._declared.streams:
            data = await self._call
            self._has_ended = True
            yield self._json(data)
            return
        before = b"["
        async for data in self._call:
            self._size += len(data)
            yield before + self._json(data)
            before = b","
        self._has_ended = True
        yield b"]" if before == b"," else b"[]"

    async def is_ended(self) -> bool:
        """Whether the server said how it ended, within what is read of an answer at most."""
        if not self._has_ended:
            async for data in self._call:
                self._size += len(data)
                if self._size > KEPT_BYTES_MAX:
                    return False
            self._has_ended = True
        return True

    def _json(self, data: bytes) -> bytes:
        return canonical(self._messages.read(self._declared.gives, data))


def _ended(fault: grpc.aio.AioRpcError) -> Ended | NoAnswer:
    number: int = fault.code().value[0]
    if fault.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and _TOO_LONG in (fault.details() or ""):
        return NoAnswer("a message of it is too large", passes=False)
    pairs: Iterable[tuple[str, str | bytes]] = fault.trailing_metadata() or ()
    return Ended(STATUSES[number], wait_s(pairs))
