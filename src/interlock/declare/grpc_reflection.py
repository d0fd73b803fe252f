"""Asks a server what its methods take and give, once, when a tool is declared: never while it is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.message import DecodeError
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from interlock.core.errors import SpecInvalid
from interlock.core.http_template import Origin

REFLECTION_S = 10.0
FILES_MAX = 1_000


def reflected(origin: Origin, path: str) -> bytes:
    """The FileDescriptorSet of a method, with all that it needs. Raises `SpecInvalid` where the server tells nothing.

    It is asked by whoever declares the tool, at the place that they declare: no egress guard stands between them.
    """
    service = path.removeprefix("/").partition("/")[0]
    try:
        with _channel(origin) as channel:
            grpc.channel_ready_future(channel).result(timeout=REFLECTION_S)
            return _asked(reflection_pb2_grpc.ServerReflectionStub(channel), service)
    except grpc.FutureTimeoutError:
        raise SpecInvalid(f"{origin} cannot be reached, to ask what {path} takes") from None
    except grpc.RpcError as fault:
        code = getattr(fault, "code", lambda: grpc.StatusCode.UNKNOWN)().name
        raise SpecInvalid(f"{origin} does not say what {path} takes: its reflection ended with {code}") from None


def _asked(stub: Any, service: str) -> bytes:
    found: dict[str, FileDescriptorProto] = {}
    wanted = list(_files(stub, reflection_pb2.ServerReflectionRequest(file_containing_symbol=service)))
    while wanted:
        file = wanted.pop()
        found[file.name] = file
        if len(found) > FILES_MAX:
            raise SpecInvalid(f"the server describes {service} in more than {FILES_MAX} files")
        known = found.keys() | {each.name for each in wanted}
        for name in file.dependency:
            if name not in known:
                wanted += _files(stub, reflection_pb2.ServerReflectionRequest(file_by_filename=name))
                known |= {each.name for each in wanted}
    return FileDescriptorSet(file=[found[name] for name in sorted(found)]).SerializeToString()


def _files(stub: Any, request: reflection_pb2.ServerReflectionRequest) -> Iterator[FileDescriptorProto]:
    for answer in stub.ServerReflectionInfo(iter([request]), timeout=REFLECTION_S):
        if answer.HasField("error_response"):
            asked = request.file_containing_symbol or request.file_by_filename
            raise SpecInvalid(f"the server has no {asked}, says its reflection")
        try:
            for data in answer.file_descriptor_response.file_descriptor_proto:
                yield FileDescriptorProto.FromString(data)
        except DecodeError:
            raise SpecInvalid("what the server's reflection says is no descriptor") from None


def _channel(origin: Origin) -> grpc.Channel:
    target = f"dns:///{origin.host}:{origin.port}"
    if origin.scheme == "http":
        return grpc.insecure_channel(target)
    return grpc.secure_channel(target, grpc.ssl_channel_credentials())
