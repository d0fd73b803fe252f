"""Descriptors are read whole or refused with a sentence, and only what a method needs of them is kept."""

import base64

import pytest

pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from interlock.core.errors import SpecInvalid
from interlock.declare.grpc_descriptor import described
from tests.grpc_upstream import ACT, DESCRIPTOR, UPLOAD, F, file_of, things


def two_files() -> FileDescriptorSet:
    inner = file_of("inner.proto", "in_ner", {"Inner": [("text", 1, F.TYPE_STRING)]})
    outer = file_of("outer.proto", "out_er", {"Outer": [("inner", 1, "in_ner.Inner")]}, imports=["inner.proto"])
    other = file_of("other.proto", "other", {"Other": []})
    outer.service.add(name="S").method.add(name="M", input_type=".out_er.Outer", output_type=".out_er.Outer")
    return FileDescriptorSet(file=[outer, other, inner])


def test_what_a_method_needs_is_kept_and_no_more() -> None:
    known = described(two_files().SerializeToString())
    kept = FileDescriptorSet.FromString(base64.b64decode(known.encoded(known.method("/out_er.S/M").input_type)))
    assert [each.name for each in kept.file] == ["inner.proto", "outer.proto"]
    assert not kept.file[1].service


def test_comments_are_found_by_the_names_of_what_they_stand_on_and_change_nothing() -> None:
    bare = things()
    said = things()
    for path, text in (((4, 0), " To act.\n"), ((4, 0, 2, 1), " How many,\n at most.\n")):
        said.file[0].source_code_info.location.add(path=path, leading_comments=text)
    known, other = described(said.SerializeToString()), described(bare.SerializeToString())
    assert known.comments["things.v1.ActRequest.count"] == "How many, at most."
    assert known.comments["things.v1.ActRequest"] == "To act."
    assert known.encoded(known.method(ACT).input_type) == other.encoded(other.method(ACT).input_type)


@pytest.mark.parametrize(
    "path", ["things.v1.Things/Act", "/things.v1.Things/Nothing", "/Things/Act", "/", "", ACT + "/x"]
)
def test_a_method_that_is_not_described_is_refused(path: str) -> None:
    with pytest.raises(SpecInvalid, match="the descriptors have no method"):
        described(DESCRIPTOR).method(path)


def test_a_method_that_takes_a_stream_is_refused() -> None:
    with pytest.raises(SpecInvalid, match="a tool sends one"):
        described(DESCRIPTOR).method(UPLOAD)


def test_what_is_no_set_of_descriptors_is_refused() -> None:
    whole = two_files()
    torn = FileDescriptorProto(name="a.proto", dependency=["missing.proto"])
    wrong = file_of("a.proto", "a", {"A": [("b", 1, "a.Nowhere")]})
    circle = [FileDescriptorProto(name=a, dependency=[b]) for a, b in (("a", "b"), ("b", "a"))]
    for data, sentence in (
        (b"\xff\xff", "no FileDescriptorSet"),
        (b"", "describes nothing"),
        (FileDescriptorSet(file=[torn]).SerializeToString(), "missing.proto.*--include_imports"),
        (FileDescriptorSet(file=[wrong]).SerializeToString(), "contradicts itself"),
        (FileDescriptorSet(file=circle).SerializeToString(), "contradicts itself"),
        (FileDescriptorSet(file=whole.file[:1]).SerializeToString(), "lacks inner.proto"),
    ):
        with pytest.raises(SpecInvalid, match=sentence):
            described(data)
