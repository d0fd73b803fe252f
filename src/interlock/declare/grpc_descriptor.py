"""Reads the descriptors of a gRPC method: its messages, all that they are made of, and what their comments say."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from interlock.core.errors import SpecInvalid


@dataclass(frozen=True, slots=True)
class Described:
    """What descriptors say: the messages and methods, and comments on messages and fields, by full name."""

    pool: DescriptorPool
    files: Mapping[str, FileDescriptorProto]
    comments: Mapping[str, str]

    def method(self, path: str) -> MethodDescriptor:
        """The method of `/package.Service/Method`. Raises `SpecInvalid` unless it takes exactly one message."""
        service, _, name = path.removeprefix("/").partition("/")
        try:
            found: Any = self.pool.FindServiceByName(service).methods_by_name.get(name)
        except KeyError:
            found = None
        if found is None or not path.startswith("/"):
            raise SpecInvalid(f"the descriptors have no method {path!r}; it is written /package.Service/Method")
        if found.client_streaming:
            raise SpecInvalid(f"{path} takes a stream of messages; a tool sends one")
        method: MethodDescriptor = found
        return method

    def encoded(self, *messages: Descriptor) -> str:
        """The files that the messages need, without comments and services, as a FileDescriptorSet in base64."""
        wanted: dict[str, FileDescriptorProto] = {}
        for name in sorted({str(each.file.name) for each in messages}):
            self._take(name, wanted)
        return base64.b64encode(FileDescriptorSet(file=wanted.values()).SerializeToString(deterministic=True)).decode()

    def _take(self, name: str, wanted: dict[str, FileDescriptorProto]) -> None:
        """A file after all that it imports."""
        if name in wanted:
            return
        for each in self.files[name].dependency:
            self._take(each, wanted)
        bare = FileDescriptorProto()
        bare.CopyFrom(self.files[name])
        bare.ClearField("source_code_info")
        bare.ClearField("service")
        wanted[name] = bare


def described(data: bytes) -> Described:
    """What a serialized FileDescriptorSet says. Raises `SpecInvalid` where it is none, or lacks what it imports."""
    try:
        files = {each.name: each for each in FileDescriptorSet.FromString(data).file}
    except DecodeError:
        raise SpecInvalid("the descriptor is no FileDescriptorSet: make it by protoc --descriptor_set_out") from None
    if not files:
        raise SpecInvalid("the descriptor describes nothing")
    pool = DescriptorPool()
    added: set[str] = set()
    for name in files:
        _add(name, files, pool=pool, added=added)
    return Described(pool, files, {name: text for each in files.values() for name, text in _comments(each)})


def _add(name: str, files: Mapping[str, FileDescriptorProto], *, pool: DescriptorPool, added: set[str]) -> None:
    """A file after all that it imports; each is marked first, so that imports in a circle end."""
    if name in added:
        return
    if name not in files:
        raise SpecInvalid(f"the descriptor lacks {name}, which it imports: make it with protoc --include_imports")
    added.add(name)
    for each in files[name].dependency:
        _add(each, files, pool=pool, added=added)
    try:
        pool.AddSerializedFile(files[name].SerializeToString())
    except TypeError as fault:
        raise SpecInvalid(f"the descriptor of {name} contradicts itself") from fault


def _comments(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """What stands above messages and fields, where the descriptor was made with --include_source_info."""
    said = {tuple(each.path): " ".join(each.leading_comments.split()) for each in file.source_code_info.location}
    for number, message in enumerate(file.message_type):
        yield from _on(message, (4, number), within=file.package, said=said)


def _on(
    message: DescriptorProto, path: tuple[int, ...], *, within: str, said: Mapping[tuple[int, ...], str]
) -> Iterator[tuple[str, str]]:
    """The numbers are those of the fields of DescriptorProto: 2 are its fields, 3 the messages within it."""
    name = f"{within}.{message.name}".lstrip(".")
    yield name, said.get(path, "")
    for number, field in enumerate(message.field):
        yield f"{name}.{field.name}", said.get((*path, 2, number), "")
    for number, nested in enumerate(message.nested_type):
        yield from _on(nested, (*path, 3, number), within=name, said=said)
