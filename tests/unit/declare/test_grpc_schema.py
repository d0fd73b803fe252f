"""The schema of a message takes its JSON mapping, in one spelling for each value."""

from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from google.protobuf import struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from interlock.core.errors import SpecInvalid
from interlock.core.schema import compile_schema
from interlock.declare.grpc_schema import schema_of
from tests.grpc_upstream import F, file_of


def message_of(file: FileDescriptorProto, name: str) -> Descriptor:
    pool = DescriptorPool()
    for known in (struct_pb2, timestamp_pb2, wrappers_pb2):
        pool.AddSerializedFile(known.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    found: Descriptor = pool.FindMessageTypeByName(name)
    return found


def field_of(kind: Any, *more: str) -> Any:
    """The schema of one field of this type."""
    imports = [f"google/protobuf/{name}.proto" for name in ("struct", "timestamp", "wrappers")]
    file = file_of("a.proto", "a", {"A": [("some_field", 1, kind, *more)]}, imports=imports)
    return schema_of(message_of(file, "a.A"), comments={})["properties"]["someField"]


@pytest.mark.requirement("TOOL-6")
@pytest.mark.parametrize(
    ("kind", "fits", "does_not"),
    [
        (F.TYPE_INT64, [0, -(2**63), 2**63 - 1], ["1", 2**63, 1.5, None, True]),
        (F.TYPE_UINT64, [0, 2**64 - 1], [-1, 2**64]),
        (F.TYPE_SINT32, [-(2**31)], [2**31]),
        (F.TYPE_FIXED32, [2**32 - 1], [2**32, -1]),
        (F.TYPE_FLOAT, [1.5, 1], [1e39, "NaN"]),
        (F.TYPE_DOUBLE, [1e300], ["Infinity"]),
        (F.TYPE_BOOL, [True], ["true", 1]),
        (F.TYPE_STRING, ["x", ""], [1, None]),
        (F.TYPE_BYTES, ["aGk=", ""], ["aGk", "a-k=", "a"]),
        ("google.protobuf.Timestamp", ["2026-01-01T00:00:00Z"], [0, {"seconds": 1}]),
        ("google.protobuf.Struct", [{"a": [1, None]}], [[]]),
        ("google.protobuf.Value", [None, 1, {}], []),
        ("google.protobuf.ListValue", [[1]], [{}]),
        ("google.protobuf.Int64Value", [1], ["1", None, {"value": 1}]),
    ],
)
def test_each_kind_of_field_takes_what_it_can_hold(kind: Any, fits: list[Any], does_not: list[Any]) -> None:
    compiled = compile_schema(field_of(kind))
    assert [value for value in fits if compiled.violations(value)] == []
    assert [value for value in does_not if not compiled.violations(value)] == []
    many = compile_schema(field_of(kind, "many"))
    assert not many.violations([*fits, *fits])


def test_a_field_has_the_name_of_the_mapping_and_its_comment_and_no_other_is_taken() -> None:
    file = file_of("a.proto", "a", {"A": [("some_field", 1, F.TYPE_STRING)]})
    schema = schema_of(message_of(file, "a.A"), comments={"a.A.some_field": "Some."})
    assert schema == {
        "type": "object",
        "properties": {"someField": {"description": "Some.", "type": "string"}},
        "additionalProperties": False,
    }


def test_an_enum_is_written_by_name_and_of_two_names_by_the_first() -> None:
    file = file_of("a.proto", "a", {"A": [("kind", 1, F.TYPE_INT32)]})
    enum = file.enum_type.add(name="Kind")
    enum.options.allow_alias = True
    for name, number in (("NONE", 0), ("BIG", 1), ("LARGE", 1)):
        enum.value.add(name=name, number=number)
    file.message_type[0].field[0].type = F.TYPE_ENUM
    file.message_type[0].field[0].type_name = ".a.Kind"
    schema = schema_of(message_of(file, "a.A"), comments={})
    assert schema["properties"]["kind"] == {"type": "string", "enum": ["NONE", "BIG"]}


@pytest.mark.parametrize(
    ("key", "fits", "does_not"), [(F.TYPE_STRING, "x", None), (F.TYPE_INT32, "-7", "07"), (F.TYPE_BOOL, "true", "True")]
)
def test_a_map_is_an_object_whose_names_are_its_keys(key: Any, fits: str, does_not: str | None) -> None:
    file = file_of("a.proto", "a", {"A": [("tags", 1, "a.A.TagsEntry", "many")]})
    entry = file.message_type[0].nested_type.add(name="TagsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=key, label=F.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL)
    compiled = compile_schema(schema_of(message_of(file, "a.A"), comments={}))
    assert not compiled.violations({"tags": {fits: 1}})
    assert compiled.violations({"tags": {fits: "1"}})
    assert does_not is None or compiled.violations({"tags": {does_not: 1}})


def test_of_alternatives_one_at_most_is_taken() -> None:
    file = file_of("a.proto", "a", {"A": [(name, number, F.TYPE_STRING) for number, name in enumerate("xyz", 1)]})
    message = file.message_type[0]
    message.oneof_decl.add(name="which")
    message.oneof_decl.add(name="_z")
    for field in message.field[:2]:
        field.oneof_index = 0
    message.field[2].oneof_index, message.field[2].proto3_optional = 1, True
    compiled = compile_schema(schema_of(message_of(file, "a.A"), comments={}))
    assert not [each for each in ({}, {"x": ""}, {"y": "", "z": ""}) if compiled.violations(each)]
    assert compiled.violations({"x": "", "y": ""})


def test_a_message_that_holds_itself_is_described_once() -> None:
    fields = [("text", 1, F.TYPE_STRING), ("inner", 2, "a.Tree", "many"), ("pair", 3, "a.Pair")]
    file = file_of("a.proto", "a", {"Tree": fields, "Pair": [("one", 1, "a.Leaf"), ("two", 2, "a.Leaf")], "Leaf": []})
    schema = schema_of(message_of(file, "a.Tree"), comments={})
    assert set(schema["$defs"]) == {"a.Tree", "a.Leaf"}
    compiled = compile_schema(schema)
    assert not compiled.violations({"inner": [{"inner": [{"text": "x"}], "pair": {"one": {}}}]})
    assert compiled.violations({"inner": [{"inner": [{"text": 1}]}]})


def test_many_messages_in_messages_do_not_make_a_schema_without_end() -> None:
    names = [f"M{number}" for number in range(30)]
    wide = {a: [(f"f{number}", number, f"a.{b}") for number in (1, 2, 3)] for a, b in pairwise(names)}
    file = file_of("a.proto", "a", {**wide, names[-1]: [("text", 1, F.TYPE_STRING)]})
    assert len(schema_of(message_of(file, "a.M0"), comments={})["$defs"]) == 29


def test_what_could_be_any_message_or_has_no_fields_is_refused() -> None:
    anything = file_of("any.proto", "google.protobuf", {"Any": [("type_url", 1, F.TYPE_STRING)]})
    anything.message_type.add(name="A").field.add(
        name="any", number=1, type=F.TYPE_MESSAGE, type_name=".google.protobuf.Any", label=F.LABEL_OPTIONAL
    )
    with pytest.raises(SpecInvalid, match="any message"):
        schema_of(message_of(anything, "google.protobuf.A"), comments={})
    with pytest.raises(SpecInvalid, match="no fields"):
        schema_of(message_of(anything, "google.protobuf.Struct"), comments={})
