"""A body is written to the same bytes for the same arguments, in each of its forms."""

from email.parser import BytesParser
from email.policy import HTTP
from hashlib import sha256

import pytest

from interlock.core.canonical import Json
from interlock.core.http_body import NO_BODY, Filled, is_media_type, write_body
from interlock.core.http_style import Misfit
from interlock.core.http_template import BodyKind, Place, Slot, Style


def filled(name: str, value: Json, *, media_type: str = "", filename: str = "", is_base64: bool = False) -> Filled:
    return (Slot(name, Place.BODY, name, Style.FORM, True, False, filename, media_type, is_base64), value)


@pytest.mark.requirement("EXEC-6")
def test_json_is_an_object_of_the_arguments_or_the_one_that_is_the_whole() -> None:
    body = write_body(BodyKind.JSON, [filled("b", [1, {"c": None}]), filled("a", "é")])
    assert (body.data.decode(), body.media_type) == ('{"a":"é","b":[1,{"c":null}]}', "application/json")
    assert write_body(BodyKind.JSON, [filled("", ["x"])]).data == b'["x"]'
    assert write_body(BodyKind.JSON, []).data == b"{}"
    assert write_body(BodyKind.NONE, []) is NO_BODY


@pytest.mark.requirement("EXEC-6")
def test_a_form_writes_lists_as_repeated_names_and_encodes_everything() -> None:
    body = write_body(BodyKind.FORM, [filled("a", "x&y=z +é"), filled("b", ["1", "2"]), filled("c", [])])
    assert body.data == b"a=x%26y%3Dz%20%2B%C3%A9&b=1&b=2"
    assert body.media_type == "application/x-www-form-urlencoded"


@pytest.mark.requirement("EXEC-6")
def test_multipart_is_read_as_it_was_meant_by_an_independent_reader() -> None:
    parts = [
        filled("note", f"line\r\n--{sha256().hexdigest()[:48]}--\r\n--x"),
        filled("tags", ["a", "b"]),
        filled("meta", {"k": [1]}),
        filled("file", "AAECAw==", is_base64=True, filename='a"b.bin', media_type="application/zip"),
        filled("none", None),
    ]
    body = write_body(BodyKind.MULTIPART, parts)
    head = f"Content-Type: {body.media_type}\r\n\r\n".encode()
    read = list(BytesParser(policy=HTTP).parsebytes(head + body.data).iter_parts())
    assert [(part.get_param("name", header="content-disposition"), part.get_content_type()) for part in read] == [
        ("note", "text/plain"),
        ("tags", "text/plain"),
        ("tags", "text/plain"),
        ("meta", "application/json"),
        ("file", "application/zip"),
    ]
    assert read[4].get_payload(decode=True) == b"\0\1\2\3"
    assert read[0].get_payload().endswith("--x")
    assert write_body(BodyKind.MULTIPART, parts) == body


@pytest.mark.requirement("EXEC-6")
def test_a_name_cannot_end_the_head_of_its_part() -> None:
    body = write_body(BodyKind.MULTIPART, [filled('a"\r\nX-Evil: 1\r\n\r\n', "v")])
    assert b"\r\nX-Evil" not in body.data


def test_what_is_to_be_base64_and_is_not_is_refused() -> None:
    with pytest.raises(Misfit):
        write_body(BodyKind.MULTIPART, [filled("file", "not base64!", is_base64=True)])


def test_a_media_type_has_two_halves_and_no_line_break() -> None:
    read = [is_media_type(each) for each in ("text/plain", "text/plain; charset=utf-8", "text", "a/b\r\nX: 1")]
    assert read == [True, True, False, False]
