"""Writes the body of a request: JSON, a form, or multipart, to the same bytes for the same arguments."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from hashlib import sha256

from interlock.core.canonical import Json, canonical
from interlock.core.frozen import frozen
from interlock.core.http_style import Misfit, is_absent, pairs, scalar
from interlock.core.http_template import BodyKind, Slot, Style

Filled = tuple[Slot, Json]

_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(; ?[\w!#$&^.+-]+=[\w!#$&^.+-]+)*", re.ASCII)
_LINE = b"\r\n"


@frozen
class Body:
    """What is sent, and its media type; nothing where there is no body."""

    data: bytes = b""
    media_type: str = ""


NO_BODY = Body()


def write_body(kind: BodyKind, filled: Iterable[Filled]) -> Body:
    """The body of these slots and values, in order. Raises `Misfit`."""
    match kind:
        case BodyKind.NONE:
            return NO_BODY
        case BodyKind.JSON:
            given = list(filled)
            kind_of_json = next((slot.media_type for slot, _ in given if not slot.name), "")
            return Body(canonical(_document(given)), kind_of_json or "application/json")
        case BodyKind.FORM:
            found = [pair for slot, value in filled if not is_absent(value) for pair in pairs(slot, value)]
            text = "&".join(f"{name}={value}" for name, value in found)
            return Body(text.encode(), "application/x-www-form-urlencoded")
        case BodyKind.MULTIPART:
            return _multipart([part for slot, value in filled for part in _parts(slot, value)])


def is_media_type(text: str) -> bool:
    """Whether it is a media type that can stand in a header."""
    return _MEDIA_TYPE.fullmatch(text) is not None


def _document(filled: Iterable[Filled]) -> Json:
    """An object of the named values, or the one value that is the whole."""
    members: dict[str, Json] = {}
    for slot, value in filled:
        if not slot.name:
            return value
        members[slot.name] = value
    return members


def _parts(slot: Slot, value: Json) -> list[tuple[Slot, bytes, str]]:
    """The parts of one argument: a list of plain values is one part each, as OpenAPI has it."""
    if value is None:
        return []
    if isinstance(value, list) and not any(isinstance(each, list | dict) for each in value):
        return [part for each in value for part in _parts(slot, each)]
    if isinstance(value, list | dict) or slot.style is Style.JSON:
        return [(slot, canonical(value), slot.media_type or "application/json")]
    if slot.is_base64:
        return [(slot, _decoded(scalar(value)), slot.media_type or "application/octet-stream")]
    return [(slot, _utf8(scalar(value)), slot.media_type or "text/plain; charset=utf-8")]


def _multipart(parts: list[tuple[Slot, bytes, str]]) -> Body:
    """RFC 7578. The boundary is a digest of all parts, so none of them can hold it, and a repeat sends equal bytes."""
    digest = sha256()
    for slot, data, media_type in parts:
        digest.update(canonical([slot.name, media_type, len(data)]) + data)
    boundary = digest.hexdigest()[:48].encode()
    written = [_LINE.join([b"--" + boundary, *_head(slot, media_type), b"", data]) for slot, data, media_type in parts]
    return Body(
        _LINE.join([*written, b"--" + boundary + b"--", b""]), f"multipart/form-data; boundary={boundary.decode()}"
    )


def _head(slot: Slot, media_type: str) -> list[bytes]:
    filename = f'; filename="{_quoted(slot.filename)}"' if slot.filename else ""
    disposition = f'Content-Disposition: form-data; name="{_quoted(slot.name)}"{filename}'
    return [disposition.encode(), f"Content-Type: {media_type}".encode()]


def _quoted(text: str) -> str:
    """A name within quotes, as browsers write it."""
    return text.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Misfit("it must be base64") from None


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Misfit("it holds half of a surrogate pair") from None
