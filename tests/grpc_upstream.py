"""A gRPC server on loopback that is as hostile as it is told to be, and knows what it was really asked and did.

Its messages are described here, by hand: no compiler of protobuf is needed. `behave` is what it does with each call.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

F = FieldDescriptorProto
ACT, FIND, WATCH, UPLOAD = (f"/things.v1.Things/{name}" for name in ("Act", "Find", "Watch", "Upload"))


def file_of(
    name: str,
    package: str,
    messages: Mapping[str, Sequence[tuple[Any, ...]]],
    *,
    imports: Sequence[str] = (),
) -> FileDescriptorProto:
    """A file of proto3. A field is its name, number and type (a full name, or a scalar), then what else is set."""
    file = FileDescriptorProto(name=name, package=package, syntax="proto3", dependency=imports)
    for message, fields in messages.items():
        added = file.message_type.add(name=message)
        for each, number, kind, *more in fields:
            is_named = isinstance(kind, str)
            added.field.add(
                name=each,
                number=number,
                type=F.TYPE_MESSAGE if is_named else kind,
                type_name=f".{kind}" if is_named else None,
                label=F.LABEL_REPEATED if "many" in more else F.LABEL_OPTIONAL,
            )
    return file


def things() -> FileDescriptorSet:
    """The descriptors of the server here."""
    file = file_of(
        "things/v1/things.proto",
        "things.v1",
        {
            "ActRequest": [("thing_id", 1, F.TYPE_STRING), ("count", 2, F.TYPE_INT64)],
            "Thing": [("thing_id", 1, F.TYPE_STRING), ("count", 2, F.TYPE_INT64), ("note", 3, F.TYPE_STRING)],
            "FindRequest": [("id", 1, F.TYPE_STRING), ("reference", 2, F.TYPE_STRING)],
        },
    )
    service = file.service.add(name="Things")
    for path, takes in ((ACT, "ActRequest"), (FIND, "FindRequest"), (WATCH, "ActRequest"), (UPLOAD, "ActRequest")):
        service.method.add(
            name=path.rpartition("/")[2],
            input_type=f".things.v1.{takes}",
            output_type=".things.v1.Thing",
            server_streaming=path == WATCH,
            client_streaming=path == UPLOAD,
        )
    return FileDescriptorSet(file=[file])


DESCRIPTOR = things().SerializeToString()

_POOL = DescriptorPool()
_POOL.AddSerializedFile(things().file[0].SerializeToString())
ActRequest, Thing, FindRequest = (
    GetMessageClass(_POOL.FindMessageTypeByName(f"things.v1.{name}")) for name in ("ActRequest", "Thing", "FindRequest")
)


@dataclass(frozen=True)
class Received:
    """One call as it arrived."""

    path: str
    metadata: dict[str, str]
    data: bytes


@dataclass
class Upstream:
    """What runs on one port. `done` counts what was really done, by thing; `wired` is all that clients sent."""

    behave: "Behaviour"
    port: int = 0
    received: list[Received] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    wires: list[asyncio.StreamWriter] = field(default_factory=list)
    connections: int = 0
    wired: bytearray = field(default_factory=bytearray)

    @property
    def target(self) -> str:
        return f"dns:///127.0.0.1:{self.port}"

    def break_off(self) -> None:
        """Reset every connection."""
        for wire in self.wires:
            wire.transport.abort()


@dataclass
class Exchange:
    """One call, to be answered."""

    upstream: Upstream
    received: Received
    context: Any

    @property
    def asked(self) -> Any:
        kind = FindRequest if self.received.path == FIND else ActRequest
        return kind.FromString(self.received.data)

    def commit(self) -> None:
        self.upstream.done[self.asked.thing_id] += 1


Behaviour = Callable[[Exchange], Awaitable[bytes | Sequence[bytes]]]


class _Calls(grpc.GenericRpcHandler):
    def __init__(self, found: Upstream) -> None:
        self._found = found

    def service(self, handler_call_details: Any) -> Any:
        path = handler_call_details.method
        return grpc.unary_stream_rpc_method_handler(self._stream(path)) if path == WATCH else self._unary(path)

    def _unary(self, path: str) -> Any:
        async def answer(data: bytes, context: Any) -> Any:
            return await self._found.behave(self._exchange(path, data, context))

        return grpc.unary_unary_rpc_method_handler(answer)

    def _stream(self, path: str) -> Any:
        async def answer(data: bytes, context: Any) -> Any:
            for each in await self._found.behave(self._exchange(path, data, context)):
                if isinstance(each, Exception):
                    raise each
                yield each

        return answer

    def _exchange(self, path: str, data: bytes, context: Any) -> Exchange:
        metadata = {str(key): str(value) for key, value in context.invocation_metadata()}
        exchange = Exchange(self._found, Received(path, metadata, data), context)
        self._found.received.append(exchange.received)
        return exchange


@asynccontextmanager
async def upstream(
    behave: Behaviour, *, credentials: grpc.ServerCredentials | None = None, **more: Any
) -> AsyncIterator[Upstream]:
    """A server that behaves so, for as long as it is needed, behind wires that can be cut."""
    found = Upstream(behave)
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)], **more)
    server.add_generic_rpc_handlers((_Calls(found),))
    if credentials is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    await server.start()
    try:
        async with _wired(found, port):
            yield found
    finally:
        await server.stop(None)


@asynccontextmanager
async def _wired(found: Upstream, port: int) -> AsyncIterator[None]:
    """Carries bytes between the port that clients know and the server's own."""
    busy: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        found.connections += 1
        if found.behave is reset_at_once:
            writer.transport.abort()
            return
        inner_reader, inner = await asyncio.open_connection("127.0.0.1", port)
        found.wires += [writer, inner]
        # Clients break off, and so does the end of the test: that is what these wires are for.
        with suppress(ConnectionError, asyncio.CancelledError):
            await asyncio.gather(_pump(reader, inner, kept=found.wired), _pump(inner_reader, writer))
        for each in (writer, inner):
            each.transport.abort()
        busy.discard(task)

    wires = await asyncio.start_server(carry, "127.0.0.1", 0)
    found.port = wires.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        wires.close()
        for task in tuple(busy):
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, kept: bytearray | None = None) -> None:
    while data := await reader.read(65_536):
        if kept is not None:
            kept += data
        writer.write(data)
        await writer.drain()
    raise ConnectionResetError


def thing(asked: Any, **more: Any) -> bytes:
    """The thing that was asked for."""
    data: bytes = Thing(thing_id=asked.thing_id, count=asked.count, **more).SerializeToString()
    return data


async def ok(exchange: Exchange) -> bytes | Sequence[bytes]:
    exchange.commit()
    done = thing(exchange.asked)
    return [done] * 3 if exchange.received.path == WATCH else done


async def reset_at_once(exchange: Exchange) -> bytes:
    """Never called: the connection is reset before a call can be made."""
    return b""


async def reset_before_commit(exchange: Exchange) -> bytes:
    exchange.upstream.break_off()
    return thing(exchange.asked)


async def reset_after_commit(exchange: Exchange) -> bytes:
    exchange.commit()
    exchange.upstream.break_off()
    return thing(exchange.asked)


async def silence(exchange: Exchange) -> bytes:
    exchange.commit()
    await asyncio.Event().wait()
    return b""


async def crash(exchange: Exchange) -> bytes:
    exchange.commit()
    raise RuntimeError("a fault of the server")


async def garbage(exchange: Exchange) -> bytes:
    exchange.commit()
    return b"\xff\xff\xff"


async def too_large(exchange: Exchange) -> bytes:
    exchange.commit()
    return thing(exchange.asked, note="x" * 5_000_000)


def status(code: str, *, commits: bool = False, details: str = "no", trailing: Any = ()) -> Behaviour:
    """Ends with a status, having done it or not."""

    async def behave(exchange: Exchange) -> bytes:
        if commits:
            exchange.commit()
        await exchange.context.abort(grpc.StatusCode[code], details, tuple(trailing))
        return b""

    return behave


def waiting(seconds: int) -> Any:
    """Trailing metadata that ask to wait: a google.rpc.Status with a RetryInfo, as bytes of the wire."""
    delay = bytes([8, seconds]) if seconds else b""
    info = b"\x0a" + bytes([len(delay)]) + delay
    url = b"type.googleapis.com/google.rpc.RetryInfo"
    packed = b"\x0a" + bytes([len(url)]) + url + b"\x12" + bytes([len(info)]) + info
    return (("grpc-status-details-bin", b"\x08\x08\x1a" + bytes([len(packed)]) + packed),)


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other, the last for ever."""

    async def behave(exchange: Exchange) -> bytes | Sequence[bytes]:
        number = min(len(exchange.upstream.received), len(behaviours)) - 1
        return await behaviours[number](exchange)

    return behave
