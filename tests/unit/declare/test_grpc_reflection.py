"""A server is asked what a method takes when the tool is declared, within bounds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Origin
from interlock.declare import grpc_reflection
from interlock.declare.grpc import grpc_tool
from interlock.declare.grpc_reflection import reflected
from tests.grpc_upstream import ACT, DESCRIPTOR, F, file_of, things

SERVICE = ACT.split("/")[1]


@asynccontextmanager
async def reflecting(files: FileDescriptorSet) -> AsyncIterator[Origin]:
    pool = DescriptorPool()
    for file in files.file:
        pool.AddSerializedFile(file.SerializeToString())
    server = grpc.aio.server()
    reflection.enable_server_reflection([SERVICE], server, pool)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield Origin("http", "127.0.0.1", port)
    await server.stop(None)


def of(origin: Origin, **more: Any) -> Any:
    return grpc_tool(
        name="act",
        description="Act.",
        effect="read",
        target=f"127.0.0.1:{origin.port}",
        plaintext=True,
        method=ACT,
        **more,
    )


@pytest.mark.requirement("TOOL-6")
async def test_a_tool_is_the_same_by_reflection_as_by_its_descriptor() -> None:
    async with reflecting(things()) as origin:
        asked = await asyncio.to_thread(of, origin, reflection=True)
    given = of(origin, descriptor=DESCRIPTOR)
    assert asked.spec() == given.spec()
    assert asked.code == given.code


async def test_what_a_file_imports_is_asked_for_too_and_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = file_of("inner.proto", "in_ner", {"Inner": [("text", 1, F.TYPE_STRING)]})
    files = things()
    files.file[0].dependency.append("inner.proto")
    async with reflecting(FileDescriptorSet(file=[inner, *files.file])) as origin:
        found = FileDescriptorSet.FromString(await asyncio.to_thread(reflected, origin, ACT))
        monkeypatch.setattr(grpc_reflection, "FILES_MAX", 1)
        with pytest.raises(SpecInvalid, match="more than 1 files"):
            await asyncio.to_thread(reflected, origin, ACT)
    assert [each.name for each in found.file] == ["inner.proto", "things/v1/things.proto"]


async def test_a_server_that_does_not_say_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    async with reflecting(things()) as origin:
        with pytest.raises(SpecInvalid, match=r"has no other\.v1\.Things"):
            await asyncio.to_thread(reflected, origin, "/other.v1.Things/Act")
    monkeypatch.setattr(grpc_reflection, "REFLECTION_S", 0.2)
    with pytest.raises(SpecInvalid, match="cannot be reached"):
        await asyncio.to_thread(reflected, origin, ACT)
    silent = grpc.aio.server()
    port = silent.add_insecure_port("127.0.0.1:0")
    await silent.start()
    with pytest.raises(SpecInvalid, match="ended with UNIMPLEMENTED"):
        await asyncio.to_thread(reflected, Origin("http", "127.0.0.1", port), ACT)
    await silent.stop(None)
