"""From what a user writes of a request to the template that is sent, refused where no server could mean it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.core.errors import SpecInvalid
from interlock.core.http_body import is_media_type
from interlock.core.http_build import PLACES
from interlock.core.http_path import climbs
from interlock.core.http_template import (
    STYLES,
    BodyKind,
    Credential,
    CredentialPlace,
    Place,
    Slot,
    Style,
    Template,
    read_url,
)
from interlock.core.tool import Parameter, ParameterSource

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
OURS = frozenset(
    """
    accept-encoding connection content-length content-type cookie expect host keep-alive proxy-authenticate
    proxy-authorization proxy-connection te traceparent tracestate trailer transfer-encoding upgrade user-agent
    """.split()
)
"""Headers that neither a parameter nor a template may set: they decide where a request ends, goes, or came from."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")
_EXPLODED = frozenset({Style.FORM, Style.DEEP})


@dataclass(frozen=True, slots=True)
class HttpParameter:
    """One argument of an HTTP tool, and where it stands in the request.

    `schema` is its JSON Schema; `wire_name` its name in the request (default: its own). `style` and `explode` are those
    of OpenAPI; their defaults are, too. `is_key`: no argument, but the operation's idempotency key. `is_whole`: the
    argument is the whole JSON body, of `media_type` where that is not plain JSON. `reserved` is OpenAPI's
    `allowReserved`. `filename`, `media_type` and `is_base64` describe a part of a multipart body. `source`, `inject`,
    `sensitive` and `unit` are as in `Arg`.
    """

    name: str
    place: Place | str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    description: str = ""
    required: bool = True
    wire_name: str = ""
    style: Style | str | None = None
    explode: bool | None = None
    reserved: bool = False
    is_key: bool = False
    is_whole: bool = False
    filename: str = ""
    media_type: str = ""
    is_base64: bool = False
    source: ParameterSource = ParameterSource.MODEL
    inject: str = ""
    sensitive: bool = False
    unit: str = ""

    @property
    def slot(self) -> Slot:
        """Its place in a template."""
        place = Place(self.place)
        style = Style(self.style or STYLES[place][0])
        return Slot(
            "" if self.is_key else self.name,
            place,
            "" if self.is_whole else self.wire_name or self.name,
            style,
            style in _EXPLODED if self.explode is None else self.explode,
            self.reserved,
            self.filename,
            self.media_type,
            self.is_base64,
        )

    @property
    def parameter(self) -> Parameter:
        """What its tool's spec says of it."""
        return Parameter(self.name, unit=self.unit, sensitive=self.sensitive, source=self.source, inject=self.inject)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it is declared. `url` is absolute; `{name}` in its path is a parameter of the place `path`."""

    method: str
    url: str
    parameters: tuple[HttpParameter, ...] = ()
    body: BodyKind | str = BodyKind.NONE
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Credential, ...] = ()


def template_of(request: HttpRequest) -> Template:
    """The template. Raises `SpecInvalid` naming all that is wrong."""
    url = read_url(request.url)
    template = Template(
        request.method.upper(),
        url.origin,
        url.path,
        url.query,
        tuple(each.slot for each in request.parameters),
        BodyKind(request.body),
        tuple(request.headers.items()),
        request.credentials,
    )
    wrong = [*_on_place(template), *_on_slots(template), *_on_headers(template), *_on_credentials(template)]
    wrong += _on_body(template)
    if wrong:
        raise SpecInvalid("; ".join(wrong))
    return template


def is_header(name: str) -> bool:
    """Whether a tool may send a header of this name."""
    return _TOKEN.fullmatch(name) is not None and name.lower() not in OURS and name.lower() != "authorization"


def _on_place(template: Template) -> Iterator[str]:
    if template.method not in METHODS:
        yield f"the method must be {', '.join(METHODS)}"
    if "{" in template.query or "}" in template.query:
        yield "parameters of the query are declared, not written into the URL"
    if any(climbs(part) for part in template.path.split("/")):
        yield "the path of the URL must not hold dot segments"
    named = Counter(PLACES.findall(template.path))
    slots = Counter(slot.name for slot in template.slots if slot.place is Place.PATH)
    for name in sorted(named.keys() | slots.keys()):
        if named[name] != 1 or slots[name] != 1:
            yield f"{{{name}}} must stand once in the path of the URL, and once among the parameters of the path"


def _on_slots(template: Template) -> Iterator[str]:
    for slot in template.slots:
        if slot.style not in STYLES[slot.place]:
            yield f"{slot.name}: the style {slot.style} is none of a {slot.place}"
        if slot.style in (Style.SPACE, Style.PIPE) and slot.explode:
            yield f"{slot.name}: {slot.style} is not exploded; use form"
        if slot.media_type and not is_media_type(slot.media_type):
            yield f"{slot.name}: {slot.media_type!r} is no media type"
    for (place, name), count in Counter((slot.place, _folded(slot)) for slot in template.slots).items():
        if count > 1 and name:
            yield f"{name} is there twice in the {place}"


def _on_headers(template: Template) -> Iterator[str]:
    named = [slot.name for slot in template.slots if slot.place is Place.HEADER]
    for name in [*named, *[name for name, _ in template.headers]]:
        if not is_header(name):
            yield f"{name!r} is no header that a tool may set"
    for name, value in template.headers:
        if not _VALUE.fullmatch(value):
            yield f"the value of the header {name} holds characters that cannot be sent"


def _on_credentials(template: Template) -> Iterator[str]:
    taken = {_folded(slot) for slot in template.slots if slot.place is Place.HEADER}
    taken |= {name.lower() for name, _ in template.headers}
    for each in template.credentials:
        is_named = each.place in (CredentialPlace.HEADER, CredentialPlace.QUERY, CredentialPlace.COOKIE)
        if is_named != bool(each.name):
            yield f"the credential {each.secret} needs a name in a header, query or cookie, and else none"
        if each.user and each.place is not CredentialPlace.BASIC:
            yield f"the credential {each.secret} has a user, which only basic sends"
        if each.place is CredentialPlace.HEADER and (
            not _TOKEN.fullmatch(each.name) or each.name.lower() in OURS | taken
        ):
            yield f"{each.name!r} is no header that a credential may stand in"


def _on_body(template: Template) -> Iterator[str]:
    slots = [slot for slot in template.slots if slot.place is Place.BODY]
    if slots and template.body is BodyKind.NONE:
        yield "parameters of the body need body: json, form or multipart"
    if template.body is not BodyKind.NONE and template.method in ("GET", "HEAD"):
        yield f"{template.method} has no body"
    if any(not slot.name for slot in slots) and (len(slots) > 1 or template.body is not BodyKind.JSON):
        yield "an argument that is the whole body is the only one, of a JSON body"


def _folded(slot: Slot) -> str:
    return slot.name.lower() if slot.place is Place.HEADER else slot.name


def schema_of(parameters: Iterable[HttpParameter]) -> dict[str, Any]:
    """The input schema of a tool that takes these arguments. Raises `SpecInvalid` where one is there twice."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    for each in parameters:
        if each.is_key:
            continue
        if each.name in properties:
            raise SpecInvalid(f"the argument {each.name} is declared twice")
        described = {"description": each.description} if each.description else {}
        properties[each.name] = {**described, **each.schema}
        if each.required or each.place is Place.PATH:
            required.append(each.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
