"""Arguments become a message that holds exactly them, and messages become JSON that is exact."""

import base64
import struct
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from google.protobuf import any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.http_build import Unbuildable
from interlock.runners.grpc_message import Messages, Unreadable
from tests.grpc_upstream import F, file_of

KNOWN = (any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)
FIELDS = [
    ("text", 1, F.TYPE_STRING), ("big_number", 2, F.TYPE_INT64), ("positive", 3, F.TYPE_UINT64),
    ("short", 4, F.TYPE_FLOAT), ("long", 5, F.TYPE_DOUBLE), ("data", 6, F.TYPE_BYTES), ("flag", 7, F.TYPE_BOOL),
    ("inner", 8, "a.Inner"), ("many", 9, "a.Inner", "many"), ("at", 10, "google.protobuf.Timestamp"),
    ("lasts", 11, "google.protobuf.Duration"), ("free", 12, "google.protobuf.Struct"),
    ("any_value", 13, "google.protobuf.Value"), ("wrapped", 14, "google.protobuf.Int64Value"),
    ("mask", 15, "google.protobuf.FieldMask"), ("some", 16, "google.protobuf.Any"),
    ("half", 17, "google.protobuf.FloatValue"), ("tags", 18, "a.A.TagsEntry", "many"), ("kind", 19, F.TYPE_INT32),
    ("items", 20, "google.protobuf.ListValue"), ("maybe", 21, F.TYPE_INT32), ("blob", 22, "google.protobuf.BytesValue"),
]  # fmt: skip


def messages() -> Messages:
    imports = [each.DESCRIPTOR.name for each in KNOWN]
    file = file_of("a.proto", "a", {"A": FIELDS, "Inner": [("count", 1, F.TYPE_INT64)]}, imports=imports)
    message = file.message_type[0]
    entry = message.nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_BOOL, label=F.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=F.TYPE_DOUBLE, label=F.LABEL_OPTIONAL)
    enum = file.enum_type.add(name="Kind")
    for number, name in enumerate(("NONE", "BIG")):
        enum.value.add(name=name, number=number)
    kind = next(each for each in message.field if each.name == "kind")
    kind.type, kind.type_name = F.TYPE_ENUM, ".a.Kind"
    message.oneof_decl.add(name="_maybe")
    maybe = next(each for each in message.field if each.name == "maybe")
    maybe.oneof_index, maybe.proto3_optional = 0, True
    known = [FileDescriptorProto.FromString(each.DESCRIPTOR.serialized_pb) for each in KNOWN]
    return Messages(base64.b64encode(FileDescriptorSet(file=[*known, file]).SerializeToString()).decode())


MESSAGES = messages()
VALUES: dict[str, Any] = {
    "text": "grün \U0001f600",
    "bigNumber": -(2**63),
    "positive": 2**64 - 1,
    "short": 0.1,
    "long": 1e300,
    "data": "aGk=",
    "flag": True,
    "inner": {"count": 2**53 + 1},
    "many": [{"count": 1}, {"count": 0}],
    "at": "2026-01-02T03:04:05.006Z",
    "lasts": "1.500s",
    "free": {"a": [1, None, "x", {"b": True}]},
    "anyValue": None,
    "wrapped": 2**62 + 1,
    "mask": "text,inner.count",
    "half": 0.5,
    "tags": {"true": 1.5, "false": 2},
    "kind": "BIG",
    "items": [1, "x"],
    "maybe": 0,
    "blob": "aGk=",
}


@pytest.mark.requirement("TOOL-6")
def test_what_is_written_is_read_as_it_was() -> None:
    data = MESSAGES.write("a.A", VALUES)
    assert isinstance(data, bytes)
    assert MESSAGES.read("a.A", data) == VALUES


def test_a_field_without_presence_is_shown_though_it_is_not_set() -> None:
    shown = MESSAGES.read("a.A", b"")
    assert shown == {
        "text": "", "bigNumber": 0, "positive": 0, "short": 0.0, "long": 0.0, "data": "", "flag": False, "many": [],
        "tags": {}, "kind": "NONE",
    }  # fmt: skip


@given(st.integers(-(2**63), 2**63 - 1), st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_numbers_stay_what_they_are(number: int, short: float) -> None:
    data = MESSAGES.write("a.A", {"bigNumber": number, "wrapped": number, "short": short})
    assert isinstance(data, bytes)
    shown: Any = MESSAGES.read("a.A", data)
    assert (shown["bigNumber"], shown["wrapped"]) == (number, number)
    assert struct.pack("f", shown["short"]) == struct.pack("f", short)


@pytest.mark.requirement("TOOL-6")
@pytest.mark.parametrize(
    "values",
    [
        {"long": 2**53 + 1}, {"short": 2**24 + 1}, {"free": {"a": [{"b": 2**53 + 1}]}}, {"anyValue": 2**60 + 1},
        {"items": [2**53 + 1]}, {"half": 2**24 + 1}, {"tags": {"true": 2**53 + 1}}, {"anyValue": 10**400},
    ],
)  # fmt: skip
def test_an_integer_that_a_field_would_change_is_not_written(values: dict[str, Any]) -> None:
    found = MESSAGES.write("a.A", values)
    assert isinstance(found, Unbuildable)
    assert (found.argument, "would change" in found.reason) == (next(iter(values)), True)


@pytest.mark.parametrize(
    "values",
    [
        {"unheard": 1}, {"text": 1}, {"text": "\ud800"}, {"bigNumber": 2**63}, {"data": "?"}, {"at": "soon"},
        {"lasts": "1m"}, {"kind": "HUGE"}, {"inner": {"unheard": 1}}, {"many": {}}, {"tags": {"maybe": 1}},
        {"short": 1e39}, {"mask": 1}, {"inner": []}, {"data": "aGl="}, {"data": "aGk"}, {"bigNumber": "1"}, {"flag": 1},
            {"bigNumber": True}, {"kind": 1}, {"long": "1"}, {"wrapped": "1"}, {"many": [{"count": "1"}]}, {"tags": []},
    ],
)  # fmt: skip
def test_what_does_not_fit_is_not_written_and_its_value_is_not_told(values: dict[str, Any]) -> None:
    found = MESSAGES.write("a.A", {"flag": True, **values})
    assert isinstance(found, Unbuildable)
    assert found.argument == next(iter(values))
    assert found.reason in ("a.A has no such field", "it does not fit its field")


def test_what_json_has_no_number_for_is_a_text() -> None:
    data = b"".join([b"\x25" + b"\x00\x00\x80\x7f", b"\x29" + b"\x00" * 6 + b"\xf8\x7f"])
    shown: Any = MESSAGES.read("a.A", data)
    assert (shown["short"], shown["long"]) == ("Infinity", "NaN")


def test_a_newer_servers_enum_is_shown_by_number_and_its_fields_not() -> None:
    shown: Any = MESSAGES.read("a.A", b"\x98\x01\x07" + b"\xf8\x7f\x01")
    assert shown["kind"] == 7


def test_an_any_is_shown_as_what_it_holds_or_as_bytes() -> None:
    def packed(kind: str, value: bytes) -> Any:
        some = any_pb2.Any(type_url=f"type.googleapis.com/{kind}", value=value).SerializeToString()
        shown: Any = MESSAGES.read("a.A", b"\x82\x01" + bytes([len(some)]) + some)
        return shown["some"]

    assert packed("a.Inner", b"\x08\x05") == {"@type": "type.googleapis.com/a.Inner", "count": 5}
    assert packed("un.Known", b"hi")["value"] == "aGk="
    assert packed("a.Inner", b"\xff")["value"] == "/w=="
    assert packed("google.protobuf.Int64Value", b"\x08\x05")["value"] == 5


@pytest.mark.requirement("EXEC-5")
@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"\x0a\x05x",
        b"\x0a\x01\xff",
        b"\x52\x0a\x08" + b"\xff" * 8 + b"\x7f",  # a time after all times
        b"\x62\x02\x0a\x05",
    ],
)
def test_bytes_that_are_no_message_are_unreadable(data: bytes) -> None:
    with pytest.raises(Unreadable):
        MESSAGES.read("a.A", data)


def alone(file: FileDescriptorProto) -> Messages:
    return Messages(base64.b64encode(FileDescriptorSet(file=[file]).SerializeToString()).decode())


def test_two_of_what_may_be_one_are_no_message_though_each_is() -> None:
    file = file_of("b.proto", "b", {"B": [("x", 1, F.TYPE_STRING), ("y", 2, F.TYPE_STRING)]})
    file.message_type[0].oneof_decl.add(name="which")
    for each in file.message_type[0].field:
        each.oneof_index = 0
    assert alone(file).write("b.B", {"y": "1"}) == b"\x12\x011"
    assert alone(file).write("b.B", {"x": "1", "y": "1"}) == Unbuildable("together they are no message of its kind")


def test_a_field_that_proto2_requires_is_there_or_nothing_is_written() -> None:
    file = file_of("b.proto", "b", {"B": [("x", 1, F.TYPE_STRING), ("y", 2, F.TYPE_STRING)]})
    file.syntax = "proto2"
    file.message_type[0].field[0].label = F.LABEL_REQUIRED
    assert isinstance(alone(file).write("b.B", {"y": "1"}), Unbuildable)
    assert alone(file).write("b.B", {"x": "1"}) == b"\x0a\x011"
