"""The JSON Schema of a protobuf message: what its JSON mapping takes, in one spelling for each value.

The mapping lets a value be written in several ways (64-bit integers as text, enums by number, fields by two names). A
schema that let them all through would give one operation several digests, so it takes one: names in lowerCamelCase,
integers as integers, enums by name, bytes in base64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from interlock.core.errors import SpecInvalid

Schema = dict[str, Any]

_FLOAT_MAX = 3.4028234663852886e38
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


def _integer(bits: int, *, is_signed: bool) -> Schema:
    lowest = -(1 << (bits - 1)) if is_signed else 0
    return {"type": "integer", "minimum": lowest, "maximum": (1 << (bits - is_signed)) - 1}


_SCALARS: Mapping[int, Callable[[], Schema]] = {
    FieldDescriptor.CPPTYPE_INT32: lambda: _integer(32, is_signed=True),
    FieldDescriptor.CPPTYPE_INT64: lambda: _integer(64, is_signed=True),
    FieldDescriptor.CPPTYPE_UINT32: lambda: _integer(32, is_signed=False),
    FieldDescriptor.CPPTYPE_UINT64: lambda: _integer(64, is_signed=False),
    FieldDescriptor.CPPTYPE_DOUBLE: lambda: {"type": "number"},
    FieldDescriptor.CPPTYPE_FLOAT: lambda: {"type": "number", "minimum": -_FLOAT_MAX, "maximum": _FLOAT_MAX},
    FieldDescriptor.CPPTYPE_BOOL: lambda: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_STRING: lambda: {"type": "string"},
}
_KEYS: Mapping[int, Schema] = {
    FieldDescriptor.CPPTYPE_BOOL: {"enum": ["true", "false"]},
    FieldDescriptor.CPPTYPE_STRING: {},
}
_INTEGER_KEY = {"pattern": "^(0|-?[1-9][0-9]*)$"}
_KNOWN: Mapping[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": "^-?[0-9]{1,12}(\\.[0-9]{1,9})?s$"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Value": {},
}
_WRAPPERS = frozenset(
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)


def schema_of(message: Descriptor, *, comments: Mapping[str, str]) -> Schema:
    """The schema of a tool that sends this message. Raises `SpecInvalid` where it could be any message at all."""
    if message.full_name in _KNOWN or message.full_name in _WRAPPERS:
        raise SpecInvalid(f"{message.full_name} has no fields that could be the arguments of a tool")
    uses = Counter([str(message.full_name)])
    _count(message, uses)
    schemas = _Schemas(frozenset(name for name, count in uses.items() if count > 1), comments)
    schema = schemas.of_fields(message)
    return {**schema, "$defs": schemas.definitions} if schemas.definitions else schema


def _entry_of(field: FieldDescriptor) -> Descriptor | None:
    """The entries of a map, which is written as a list of them; None where the field is no map."""
    inner = field.message_type
    return inner if inner is not None and inner.GetOptions().map_entry else None


def _count(message: Descriptor, uses: Counter[str]) -> None:
    for field in message.fields:
        inner = field.message_type
        if inner is None or inner.full_name in _KNOWN:
            continue
        uses[str(inner.full_name)] += 1
        if uses[str(inner.full_name)] == 1:
            _count(inner, uses)


class _Schemas:
    """The schemas of one message. `shared` are the messages that it holds more than once, or within themselves."""

    def __init__(self, shared: frozenset[str], comments: Mapping[str, str]) -> None:
        self.definitions: dict[str, Schema] = {}
        self._shared = shared
        self._comments = comments

    def of_fields(self, message: Descriptor) -> Schema:
        properties = {str(field.json_name): self._described(field) for field in message.fields}
        required = [str(field.json_name) for field in message.fields if field.is_required]
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {}) | _alternatives(message)

    def _described(self, field: FieldDescriptor) -> Schema:
        said = self._comments.get(str(field.full_name), "")
        return ({"description": said} if said else {}) | self._of_field(field)

    def _of_field(self, field: FieldDescriptor) -> Schema:
        entry = _entry_of(field)
        if entry is not None:
            key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
            names = _KEYS.get(key.cpp_type, _INTEGER_KEY)
            schema = {"type": "object", "additionalProperties": self._of_value(value)}
            return {**schema, "propertyNames": dict(names)} if names else schema
        return {"type": "array", "items": self._of_value(field)} if field.is_repeated else self._of_value(field)

    def _of_value(self, field: FieldDescriptor) -> Schema:
        if field.message_type is not None:
            return self._of_message(field.message_type)
        if field.enum_type is not None:
            return _of_enum(field.enum_type)
        if field.type == FieldDescriptor.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64", "pattern": _BASE64}
        return _SCALARS[field.cpp_type]()

    def _of_message(self, message: Descriptor) -> Schema:
        name = str(message.full_name)
        if name == "google.protobuf.Any":
            raise SpecInvalid("it takes a google.protobuf.Any, which may hold any message: a tool says what it sends")
        if name in _KNOWN:
            return dict(_KNOWN[name])
        if name in _WRAPPERS:
            return self._of_value(message.fields_by_name["value"])
        if name not in self._shared:
            return self.of_fields(message)
        if name not in self.definitions:
            self.definitions[name] = {}  # it may hold itself
            self.definitions[name] = self.of_fields(message)
        return {"$ref": f"#/$defs/{name}"}


def _of_enum(enum: EnumDescriptor) -> Schema:
    """Of names for the same number the first; the null of JSON is one."""
    if enum.full_name == "google.protobuf.NullValue":
        return {"type": "null"}
    names = {value.number: str(value.name) for value in reversed(enum.values)}
    return {"type": "string", "enum": [names[number] for number in sorted(names)]}


def _alternatives(message: Descriptor) -> Schema:
    """At most one of each `oneof`."""
    rules = [rule for oneof in message.oneofs if len(oneof.fields) > 1 for rule in _one_of(oneof.fields)]
    return {"allOf": rules} if rules else {}


def _one_of(fields: Sequence[FieldDescriptor]) -> Iterator[Schema]:
    names = [str(field.json_name) for field in fields]
    given = [{"required": [name]} for name in names]
    yield {"oneOf": [*given, {"not": {"anyOf": given}}], "description": f"At most one of {', '.join(names)}."}
