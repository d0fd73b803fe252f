"""Reads how long a server asks to wait before a call is made again: `RetryInfo` of its status, or a pushback."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from interlock.core.grpc_answer import waited_s

DETAILS = "grpc-status-details-bin"
PUSHBACK = "grpc-retry-pushback-ms"

_RETRY_INFO = "google.rpc.RetryInfo"
_INTEGER, _BYTES, _TEXT, _MESSAGE = (
    FieldDescriptorProto.TYPE_INT64,
    FieldDescriptorProto.TYPE_BYTES,
    FieldDescriptorProto.TYPE_STRING,
    FieldDescriptorProto.TYPE_MESSAGE,
)
_ONE, _MANY = FieldDescriptorProto.LABEL_OPTIONAL, FieldDescriptorProto.LABEL_REPEATED
_FIELDS: Mapping[str, tuple[tuple[str, int, Any, Any, str], ...]] = {
    "Status": (("details", 3, _MESSAGE, _MANY, "Packed"),),
    "Packed": (("type_url", 1, _TEXT, _ONE, ""), ("value", 2, _BYTES, _ONE, "")),
    "RetryInfo": (("retry_delay", 1, _MESSAGE, _ONE, "Delay"),),
    "Delay": (("seconds", 1, _INTEGER, _ONE, ""), ("nanos", 2, _INTEGER, _ONE, "")),
}
"""As much of google/rpc/status.proto and error_details.proto as is read here."""


def wait_s(metadata: Iterable[tuple[str, str | bytes]]) -> float | None:
    """Seconds, within a day; None where the trailing metadata says nothing that can be read."""
    found = {name.lower(): value for name, value in metadata}
    details, pushback = found.get(DETAILS), found.get(PUSHBACK)
    told = _told(details) if isinstance(details, bytes) else None
    if told is None and isinstance(pushback, str) and pushback.isascii() and pushback.isdigit() and len(pushback) < 16:
        told = int(pushback) / 1_000
    return None if told is None else waited_s(told)


def _told(details: bytes) -> float | None:
    try:
        for each in _STATUS.FromString(details).details:
            if each.type_url.rpartition("/")[2] == _RETRY_INFO:
                delay = _RETRY.FromString(each.value).retry_delay
                return float(delay.seconds + delay.nanos / 1_000_000_000)
    except DecodeError:
        return None
    return None


def _classes() -> Mapping[str, Any]:
    file = FileDescriptorProto(name="interlock/status.proto", package="interlock", syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, number, kind, label, inner in fields:
            message.field.add(
                name=field, number=number, type=kind, label=label, type_name=f".interlock.{inner}" if inner else None
            )
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: GetMessageClass(pool.FindMessageTypeByName(f"interlock.{name}")) for name in _FIELDS}


_CLASSES = _classes()
_STATUS, _RETRY = _CLASSES["Status"], _CLASSES["RetryInfo"]
