"""The request body of an operation: the first kind that can be sent, its properties as arguments where they can be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.core.canonical import Json
from interlock.core.http_body import is_media_type
from interlock.core.http_template import BodyKind, Place, Style
from interlock.declare.http_request import HttpParameter
from interlock.importers.openapi_document import Object, OpenApi, Unfit, local, mapping
from interlock.importers.openapi_document import Place as Operation
from interlock.importers.openapi_parameters import described, written
from interlock.importers.openapi_schema import Schemas

WHOLE = "body"
_LEVELS_MAX = 16
_PLAIN = frozenset(
    "type properties required title description example examples additionalProperties xml externalDocs".split()
)
"""Keywords of an object whose properties may stand as arguments beside each other: nothing is said of the whole."""


@dataclass(frozen=True, slots=True)
class BodyTaken:
    """What an operation takes as its body; `others` are media types that it would take as well."""

    kind: BodyKind = BodyKind.NONE
    parameters: tuple[HttpParameter, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Content:
    """One media type of a body, as it is read."""

    media_type: str
    schema: Json
    encoding: Object
    pointer: str
    required: bool
    said: Object


def read_body(operation: Operation, document: OpenApi, schemas: Schemas) -> BodyTaken:
    """The body, by the first media type that can be sent. Raises `Unfit` where none can."""
    given = mapping(operation.value).get("requestBody")
    if given is None:
        return BodyTaken()
    body, pointer = document.follow(given, f"{operation.pointer}/requestBody")
    required, content = body.get("required") is True, mapping(body.get("content"))
    if operation.method in ("get", "head"):
        if required:
            raise Unfit(f"{operation.method.upper()} has no body", pointer)
        return BodyTaken(others=tuple(content))
    reasons: list[str] = []
    for media_type, each in content.items():
        kind, media = _kind(media_type), mapping(each)
        if kind is None:
            continue
        home = f"{pointer}/content/{media_type.replace('~', '~0').replace('/', '~1')}"
        encoding = mapping(media.get("encoding"))
        found = _Content(media_type, media.get("schema", {}), encoding, f"{home}/schema", required, body)
        try:
            parameters = tuple(_READERS[kind](found, document, schemas))
        except Unfit as fault:
            reasons.append(fault.reason)
            continue
        return BodyTaken(kind, parameters, tuple(name for name in content if name != media_type))
    if reasons:
        raise Unfit("; ".join(reasons), pointer)
    raise Unfit(f"its body is neither JSON, a form nor multipart, but {', '.join(content)[:120] or 'nothing'}", pointer)


def _kind(media_type: str) -> BodyKind | None:
    plain = media_type.partition(";")[0].strip().lower()
    if plain == "application/x-www-form-urlencoded":
        return BodyKind.FORM
    if plain == "multipart/form-data":
        return BodyKind.MULTIPART
    is_json = plain in ("application/json", "text/json", "*/*", "application/*") or plain.endswith("+json")
    return BodyKind.JSON if is_json else None


def _json(content: _Content, document: OpenApi, schemas: Schemas) -> Iterator[HttpParameter]:
    """The properties of a plain object that must be sent, each by itself; anything else as one argument."""
    plain = content.media_type.partition(";")[0].strip().lower()
    media_type = content.media_type if plain.endswith("json") and plain != "application/json" else ""
    if media_type and not is_media_type(media_type):
        raise Unfit(f"{media_type[:80]!r} is no media type", content.pointer)
    members = None if media_type or not content.required else _plain_members(content, document)
    if members is None:
        schema = described(schemas.read(content.schema, content.pointer), content.said)
        yield HttpParameter(
            WHOLE, Place.BODY, schema, required=content.required, is_whole=True, media_type=media_type, wire_name=WHOLE
        )
        return
    properties, required, pointer = members
    for name, each in properties.items():
        if schemas.goes(each, pointer):
            schema = described(schemas.read(each, f"{pointer}/properties/{name}"), {})
            yield HttpParameter(name, Place.BODY, schema, required=name in required, wire_name=name, style=Style.FORM)


def _plain_members(content: _Content, document: OpenApi) -> tuple[Object, list[str], str] | None:
    """Properties, those that must be there, and where they stand; None where the object is more than these."""
    schema, pointer = content.schema, content.pointer
    for _ in range(_LEVELS_MAX):
        if not isinstance(schema, dict):
            return None
        if "$ref" not in schema:
            break
        if not document.is_old and schema.keys() - {"$ref", "description", "title"}:
            return None
        pointer = local(schema["$ref"], pointer)
        schema = document.at(pointer)
    if not isinstance(schema, dict) or "$ref" in schema:
        return None
    properties, required = schema.get("properties"), schema.get("required", [])
    says_more = {name for name in schema.keys() - _PLAIN if not name.startswith("x-")}
    if says_more or schema.get("type", "object") != "object" or schema.get("additionalProperties") not in (None, False):
        return None
    if not isinstance(properties, dict) or not properties or not isinstance(required, list):
        return None
    names = [str(name) for name in required]
    return (properties, names, pointer) if set(names) <= properties.keys() else None


def _form(content: _Content, document: OpenApi, schemas: Schemas) -> Iterator[HttpParameter]:
    for name, each, required in _members(content, document, schemas):
        encoding = mapping(content.encoding.get(name))
        kind, _ = _of(each, document, content.pointer)
        content_type = str(encoding.get("contentType", ""))
        if encoding.keys() & {"style", "explode", "allowReserved"}:
            style, explode = written(
                encoding.get("style"), encoding.get("explode"), place=Place.BODY, pointer=content.pointer
            )
        elif content_type.startswith("application/json") or (kind == "object" and not content_type):
            style, explode = Style.JSON, False
        else:
            style, explode = Style.FORM, True
        yield HttpParameter(
            name,
            Place.BODY,
            described(schemas.read(each, f"{content.pointer}/properties/{name}"), {}),
            required=required,
            wire_name=name,
            style=style,
            explode=explode,
            reserved=encoding.get("allowReserved") is True,
        )


def _multipart(content: _Content, document: OpenApi, schemas: Schemas) -> Iterator[HttpParameter]:
    for name, each, required in _members(content, document, schemas):
        kind, schema = _of(each, document, content.pointer)
        media_type = _media_type(mapping(content.encoding.get(name)).get("contentType"))
        _, items = _of(schema.get("items"), document, content.pointer) if kind == "array" else ("", {})
        is_base64 = _is_binary(schema, document) or (kind == "array" and _is_binary(items, document))
        inner = _media_type(schema.get("contentMediaType", items.get("contentMediaType")))
        found = schemas.read(each, f"{content.pointer}/properties/{name}")
        yield HttpParameter(
            name,
            Place.BODY,
            _as_base64(schema, is_list=kind == "array") if is_base64 else described(found, {}),
            required=required,
            wire_name=name,
            filename=name if is_base64 else "",
            media_type=media_type or (inner if is_base64 else ""),
            is_base64=is_base64,
            style=Style.JSON if media_type == "application/json" and not is_base64 else Style.FORM,
        )


_READERS = {BodyKind.JSON: _json, BodyKind.FORM: _form, BodyKind.MULTIPART: _multipart}


def _members(content: _Content, document: OpenApi, schemas: Schemas) -> Iterator[tuple[str, Json, bool]]:
    """Name, schema and need of each field. Raises `Unfit` where the schema lists none."""
    found: Object = {}
    required: set[str] = set()
    waiting, levels = [(content.schema, content.pointer)], 0
    while waiting:
        given, pointer = waiting.pop()
        levels += 1
        schema, pointer = document.follow(given, pointer)
        if levels > _LEVELS_MAX or schema.keys() & {"anyOf", "oneOf", "not"}:
            raise Unfit("the fields of a form must be listed; here they depend on each other", pointer)
        found.update({name: each for name, each in mapping(schema.get("properties")).items() if name not in found})
        names = schema.get("required")
        required |= {str(each) for each in names} if isinstance(names, list) else set()
        parts = schema.get("allOf")
        waiting.extend((each, f"{pointer}/allOf") for each in (parts if isinstance(parts, list) else []))
    fields = [(name, each, name in required) for name, each in found.items() if schemas.goes(each, content.pointer)]
    if not fields:
        raise Unfit("a form needs an object with properties", content.pointer)
    yield from fields


def _of(schema: Json, document: OpenApi, pointer: str) -> tuple[str, Object]:
    """The type that a schema asks for, as far as one is clear, and the schema that says so."""
    found, pointer = document.follow({} if not isinstance(schema, dict) else schema, pointer)
    kind = found.get("type")
    kinds = [each for each in (kind if isinstance(kind, list) else [kind]) if each not in (None, "null")]
    if len(kinds) == 1:
        return str(kinds[0]), found
    parts = found.get("allOf")
    if not kinds and isinstance(parts, list) and parts:
        return _of(parts[0], document, pointer) if parts[0] != schema else ("", found)
    return ("object" if "properties" in found else "array" if "items" in found else ""), found


def _is_binary(schema: Object, document: OpenApi) -> bool:
    if schema.get("format") == "binary":
        return True
    if document.is_old or "contentEncoding" in schema:
        return False
    return "contentMediaType" in schema or not schema.keys() - {"title", "description", "examples", "example"}


def _as_base64(schema: Object, *, is_list: bool) -> Object:
    """Bytes cannot stand in JSON: a model gives them in base64, and they are sent as they are."""
    one: Object = {"type": "string", "contentEncoding": "base64"}
    said = described({}, schema).get("description", "")
    text = f"{said}\nIn base64; what is sent are the bytes.".strip()
    return {"type": "array", "items": one, "description": text} if is_list else {**one, "description": text}


def _media_type(given: Json) -> str:
    """The first of the media types, unless it leaves open which one it is."""
    first = given.split(",")[0].strip() if isinstance(given, str) else ""
    return first if is_media_type(first) and "*" not in first else ""
