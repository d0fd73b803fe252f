"""Writes arguments as a protobuf message, and messages as JSON: exact, or not at all.

Messages are shown as the JSON mapping of protobuf shows them, but 64-bit integers as integers: that is the spelling
that schemas of tools take, so what one tool answers can be an argument of another.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import DecodeError, EncodeError, Message
from google.protobuf.message_factory import GetMessageClass

from interlock.core.canonical import Json
from interlock.core.http_build import Unbuildable

_DYNAMIC = frozenset({"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"})
_AS_TEXT = frozenset({"google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask"})
_WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_FLOATS = {FieldDescriptor.CPPTYPE_DOUBLE: "d", FieldDescriptor.CPPTYPE_FLOAT: "f"}


class Unreadable(Exception):
    """The bytes are no such message, or one that JSON cannot say."""


class Messages:
    """The messages of one tool."""

    def __init__(self, descriptors: str) -> None:
        self._pool = DescriptorPool()
        for file in FileDescriptorSet.FromString(base64.b64decode(descriptors)).file:
            self._pool.AddSerializedFile(file.SerializeToString())

    def write(self, name: str, values: Mapping[str, Json]) -> bytes | Unbuildable:
        """The message of this full name that holds the values, or why there is none. Total."""
        kind = self._pool.FindMessageTypeByName(name)
        fields = {str(field.json_name): field for field in kind.fields}
        for argument, value in values.items():
            if argument not in fields:
                return Unbuildable(f"{name} has no such field", argument)
            why = _misfit(fields[argument], value)
            if why or isinstance(_message(kind, {argument: value}, pool=self._pool), str):
                return Unbuildable(why or _OTHER, argument)
        message = _message(kind, values, pool=self._pool)
        if isinstance(message, str):
            return Unbuildable("together they are no message of its kind")
        try:
            return message.SerializeToString(deterministic=True)
        except EncodeError:
            return Unbuildable("a field that must be there is missing")

    def read(self, name: str, data: bytes) -> Json:
        """The message as JSON. Raises `Unreadable`."""
        try:
            message = GetMessageClass(self._pool.FindMessageTypeByName(name)).FromString(data)
            return self._of_message(message)
        except (DecodeError, ValueError, TypeError, OverflowError, RecursionError) as fault:
            raise Unreadable(name) from fault

    def _of_message(self, message: Any) -> Json:
        kind: Descriptor = message.DESCRIPTOR
        name = str(kind.full_name)
        if name in _DYNAMIC:
            found: Json = MessageToDict(message, descriptor_pool=self._pool)
            return found
        if name in _AS_TEXT:
            text: str = message.ToJsonString()
            return text
        if name in _WRAPPERS:
            field = kind.fields_by_name["value"]
            return self._of_value(field, message.value)
        if name == "google.protobuf.Any":
            return self._of_any(message)
        shown = (field for field in kind.fields if not field.has_presence or message.HasField(field.name))
        return {str(field.json_name): self._of_field(field, getattr(message, field.name)) for field in shown}

    def _of_field(self, field: FieldDescriptor, value: Any) -> Json:
        entry = _entry_of(field)
        if entry is not None:
            item = entry.fields_by_name["value"]
            return {_key(key): self._of_value(item, value[key]) for key in value}
        if field.is_repeated:
            return [self._of_value(field, each) for each in value]
        return self._of_value(field, value)

    def _of_value(self, field: FieldDescriptor, value: Any) -> Json:
        if field.message_type is not None:
            return self._of_message(value)
        if field.enum_type is not None:
            return _enum(field.enum_type, value)
        if isinstance(value, bytes):
            return base64.b64encode(value).decode()
        found: Json = _number(value, is_short=_FLOATS.get(field.cpp_type) == "f") if type(value) is float else value
        return found

    def _of_any(self, message: Any) -> Json:
        """What it holds, where the descriptors know that; else its bytes."""
        kind = message.type_url.rpartition("/")[2]
        try:
            inner = GetMessageClass(self._pool.FindMessageTypeByName(kind)).FromString(message.value)
        except (KeyError, DecodeError):
            return {"@type": message.type_url, "value": base64.b64encode(message.value).decode()}
        shown = self._of_message(inner)
        is_plain = isinstance(shown, dict) and kind not in _DYNAMIC
        return {"@type": message.type_url, **(shown if is_plain and isinstance(shown, dict) else {"value": shown})}


def _message(kind: Descriptor, values: Mapping[str, Json], *, pool: DescriptorPool) -> Message | str:
    """The message; a text, which is told to nobody, where the values are none: it holds what they hold."""
    try:
        return ParseDict(dict(values), GetMessageClass(kind)(), descriptor_pool=pool)
    except (ParseError, ValueError, TypeError, OverflowError, RecursionError) as fault:
        return str(fault) or "no message"


def _misfit(field: FieldDescriptor, value: Json) -> str:
    """Why a value is not taken as it is, where it is not: the library would read many a thing as another.

    None is left out, as the mapping has it.
    """
    entry = _entry_of(field)
    if value is None or (entry is None and not field.is_repeated):
        return "" if value is None else _misfit_one(field, value)
    if entry is not None:
        item = entry.fields_by_name["value"]
        return _first(_misfit_one(item, each) for each in value.values()) if isinstance(value, dict) else _OTHER
    return _first(_misfit_one(field, each) for each in value) if isinstance(value, list) else _OTHER


def _misfit_one(field: FieldDescriptor, value: Json) -> str:
    inner = field.message_type
    if inner is None:
        return _misfit_scalar(field, value)
    if inner.full_name in _DYNAMIC:
        return _first(_FLOATED for each in _integers(value) if not _survives(each, "d"))
    if inner.full_name in _WRAPPERS:
        return _misfit_scalar(inner.fields_by_name["value"], value)
    if inner.full_name in _AS_TEXT:
        return "" if isinstance(value, str) else _OTHER
    if not isinstance(value, dict):
        return _OTHER
    fields = {str(each.json_name): each for each in inner.fields}
    return _first(_misfit(fields[name], each) if name in fields else _OTHER for name, each in value.items())


def _misfit_scalar(field: FieldDescriptor, value: Json) -> str:
    form = _FLOATS.get(field.cpp_type, "")
    if form:
        is_number = type(value) in (int, float)
        return "" if is_number and _survives(value, form) else _FLOATED if is_number else _OTHER
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "" if isinstance(value, str) and _is_base64(value) else _OTHER
    return "" if type(value) is _KINDS.get(field.cpp_type, int) else _OTHER


_KINDS: Mapping[int, type] = {
    FieldDescriptor.CPPTYPE_BOOL: bool,
    FieldDescriptor.CPPTYPE_STRING: str,
    FieldDescriptor.CPPTYPE_ENUM: str,
}
"""What a value of such a field is; all others are integers."""

_OTHER = "it does not fit its field"
_FLOATED = "its field holds numbers as floating point, which would change it"


def _first(found: Iterable[str]) -> str:
    return next(filter(None, found), "")


def _is_base64(text: str) -> bool:
    """In the one spelling that the bytes have."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except ValueError:
        return False


def _integers(value: Json) -> Iterator[int]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _integers(each)
    elif type(value) is int:
        yield value


def _survives(value: Json, form: str) -> bool:
    """Whether a number is the same in floating point; one that has a fraction is as near as that comes."""
    if type(value) is not int:
        return True
    try:
        return bool(struct.unpack(form, struct.pack(form, value))[0] == value)
    except (OverflowError, struct.error):
        return False


def _entry_of(field: FieldDescriptor) -> Descriptor | None:
    inner = field.message_type
    return inner if inner is not None and inner.GetOptions().map_entry else None


def _key(key: object) -> str:
    return str(key).lower() if isinstance(key, bool) else str(key)


def _enum(enum: EnumDescriptor, number: int) -> Json:
    """By name; by number where a newer server knows more of them."""
    if enum.full_name == "google.protobuf.NullValue":
        return None
    found = enum.values_by_number.get(number)
    return number if found is None else str(found.name)


def _number(value: float, *, is_short: bool) -> Json:
    """What JSON has no number for is a text; a short float has the shortest spelling that is it again."""
    if math.isnan(value) or math.isinf(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if not is_short:
        return value
    spelled = (float(f"{value:.{digits}g}") for digits in range(6, 10))
    return next(each for each in spelled if _as_short(each) == value)


def _as_short(value: float) -> float | None:
    try:
        found: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return None
    return found
