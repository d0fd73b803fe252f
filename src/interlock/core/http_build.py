"""Fills a template with the arguments of an operation: the request to the byte, or the reason why there is none.

After it is built, the request is read again as a server would read it, and held against its template: same origin, same
literal parts, as many parts. What was encoded rightly always passes; the second look is for what nobody thought of.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from urllib.parse import unquote

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.http_body import NO_BODY, Body, write_body
from interlock.core.http_path import check_path_value, check_segment
from interlock.core.http_style import Misfit, Pair, encoded, in_header, in_path, is_absent, pairs
from interlock.core.http_template import (
    BodyKind,
    Credential,
    CredentialPlace,
    Origin,
    Place,
    Slot,
    Style,
    Template,
    read_url,
)

TARGET_CHARS_MAX = 16_384

PLACES = re.compile(r"\{([^{}]*)\}")
_HEADER_VALUE = re.compile(r"[!-~]([ -~]*[!-~])?")


@frozen
class Request:
    """What goes out. `target` is path and query, encoded; `private` are the headers that stay with the origin."""

    method: str
    origin: Origin
    target: str = field(repr=False)
    headers: tuple[tuple[str, str], ...]
    private: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = b""


@frozen
class Unbuildable:
    """Why no request can be made, and which argument is at fault, where one alone is, or that a credential is."""

    reason: str
    argument: str = ""
    of_credential: bool = False


@frozen
class Filling:
    """What goes into a template: the arguments, the operation's key, the credentials by name, and headers of ours."""

    values: Mapping[str, Json]
    key: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: tuple[tuple[str, str], ...] = ()


class _Refused(Exception):
    """Carries the reason out of the depth of a request."""

    def __init__(self, reason: str, argument: str = "", *, of_credential: bool = False) -> None:
        super().__init__(reason)
        self.why = Unbuildable(reason, argument, of_credential)


def build(template: Template, filling: Filling) -> Request | Unbuildable:
    """The request. Total: whatever arguments and credentials hold, it is a request within the template or a reason."""
    try:
        request = _built(template, filling)
        check_shape(request, template)
    except _Refused as refused:
        return refused.why
    except Misfit as misfit:
        return Unbuildable(str(misfit))
    return request


def _built(template: Template, filling: Filling) -> Request:
    filled = [(slot, _value(slot, filling)) for slot in template.slots]
    ours = [*_literal(template.query), *_named_credentials(template, filling, CredentialPlace.QUERY)]
    query = [*ours, *_pairs(filled, Place.QUERY, also=[name for name, _ in ours])]
    text = "&".join(f"{name}={value}" if value is not None else name for name, value in query)
    body = _body(template, [each for each in filled if each[0].place is Place.BODY], filling)
    return Request(
        template.method,
        template.origin,
        _path(template, filled) + (f"?{text}" if text else ""),
        (*_public_headers(body), *template.headers, *_headers(filled), *filling.headers),
        tuple(_private_headers(template, filled, filling)),
        body.data,
    )


def _value(slot: Slot, filling: Filling) -> Json:
    return filling.values.get(slot.argument) if slot.argument else filling.key


def _path(template: Template, filled: Iterable[tuple[Slot, Json]]) -> str:
    texts = {slot.name: _in_path(slot, value) for slot, value in filled if slot.place is Place.PATH}
    return PLACES.sub(lambda found: texts[found[1]], template.path)


def _in_path(slot: Slot, value: Json) -> str:
    if is_absent(value):
        raise _Refused("it must have a value in the path", slot.argument)
    with _blaming(slot):
        check_path_value(value)
        return in_path(slot, value)


def _pairs(filled: Sequence[tuple[Slot, Json]], place: Place, *, also: Iterable[str] = ()) -> list[Pair]:
    """Names and values, none under the name of another parameter: an object's keys are names of the model's choice.

    `also` are names that the template itself uses. A parameter that is absent keeps its name all the same.
    """
    found: list[Pair] = []
    here = [(slot, value) for slot, value in filled if slot.place is place]
    for slot, value in here:
        if is_absent(value):
            continue
        with _blaming(slot):
            new = pairs(slot, value)
        others = {encoded(each.name) for each, _ in here if each is not slot}
        taken, names = others.union(also, (name for name, _ in found)), [name for name, _ in new]
        if isinstance(value, dict) and slot.explode and slot.style is Style.FORM:
            taken, names = set(map(_loosely, taken)), list(map(_loosely, names))
        if not taken.isdisjoint(names):
            raise _Refused("it would take the place of another parameter", slot.argument)
        found += new
    return found


def _loosely(name: str) -> str:
    """A name as the loosest of servers reads it: in any case, up to a bracket or NUL, with `_` for blanks and dots."""
    text = unquote(name.replace("+", " ")).casefold().lstrip()
    return re.sub("[ .]", "_", re.split("[\\[\0]", text, maxsplit=1)[0])


def _literal(query: str) -> Iterator[tuple[str, str | None]]:
    for part in filter(None, query.split("&")):
        name, equals, value = part.partition("=")
        yield name, value if equals else None


def _headers(filled: Iterable[tuple[Slot, Json]]) -> Iterator[tuple[str, str]]:
    for slot, value in filled:
        if slot.place is Place.HEADER and not is_absent(value):
            with _blaming(slot):
                text = in_header(slot, value)
            yield slot.name, _checked(text, slot)


def _public_headers(body: Body) -> Iterator[tuple[str, str]]:
    if body is not NO_BODY:
        yield "Content-Type", body.media_type


def _private_headers(
    template: Template, filled: Sequence[tuple[Slot, Json]], filling: Filling
) -> Iterator[tuple[str, str]]:
    for credential in template.credentials:
        if credential.place in _IN_HEADERS:
            yield credential.name or "Authorization", _sendable(_IN_HEADERS[credential.place](credential, filling))
    ours = _named_credentials(template, filling, CredentialPlace.COOKIE)
    cookies = [*ours, *_pairs(filled, Place.COOKIE, also=[name for name, _ in ours])]
    if cookies:
        yield "Cookie", "; ".join(f"{name}={value}" for name, value in cookies)


def _basic(credential: Credential, filling: Filling) -> str:
    user = filling.secrets[credential.user] if credential.user else ""
    if ":" in user:
        raise _Refused("a user with a colon cannot be sent", of_credential=True)
    return "Basic " + base64.b64encode(f"{user}:{filling.secrets[credential.secret]}".encode()).decode()


_IN_HEADERS: Mapping[CredentialPlace, Callable[[Credential, Filling], str]] = {
    CredentialPlace.BEARER: lambda credential, filling: f"Bearer {filling.secrets[credential.secret]}",
    CredentialPlace.HEADER: lambda credential, filling: filling.secrets[credential.secret],
    CredentialPlace.BASIC: _basic,
}


def _named_credentials(template: Template, filling: Filling, place: CredentialPlace) -> list[Pair]:
    found = [each for each in template.credentials if each.place is place]
    return [(encoded(each.name), encoded(filling.secrets[each.secret])) for each in found]


def _body(template: Template, filled: list[tuple[Slot, Json]], filling: Filling) -> Body:
    """The body. In JSON null is a value like others, and a body that is one argument is left out with it."""
    if template.body is BodyKind.NONE:
        return NO_BODY
    is_json = template.body is BodyKind.JSON
    given = [each for each in filled if each[1] is not None or (is_json and each[0].argument in filling.values)]
    if is_json and not given and any(not slot.name for slot, _ in filled):
        return NO_BODY
    if template.body is BodyKind.FORM:
        _pairs(filled, Place.BODY)  # no argument takes the place of another
    try:
        return write_body(template.body, given)
    except Misfit as misfit:
        raise _Refused(str(misfit), " or ".join(slot.argument for slot, _ in given)) from None


@contextmanager
def _blaming(slot: Slot) -> Iterator[None]:
    try:
        yield
    except Misfit as misfit:
        raise _Refused(str(misfit), slot.argument) from None


def _checked(text: str, slot: Slot) -> str:
    if _HEADER_VALUE.fullmatch(text) is None:
        raise _Refused("a header takes visible ASCII characters only, and no line breaks", slot.argument)
    return text


def _sendable(text: str) -> str:
    if _HEADER_VALUE.fullmatch(text) is None:
        raise _Refused("a credential holds characters that cannot be sent", of_credential=True)
    return text


def check_shape(request: Request, template: Template) -> None:
    """Raises `_Refused` unless the finished request is one that the template describes."""
    if len(request.target) > TARGET_CHARS_MAX:
        raise _Refused(f"the address is longer than {TARGET_CHARS_MAX} characters")
    try:
        read = read_url(f"{request.origin}{request.target}")
    except SpecInvalid:
        raise _Refused("the address is no URL") from None
    wanted, found = template.path.split("/"), read.path.split("/")
    if read.origin != template.origin or len(found) != len(wanted):
        raise _Refused("the address would leave its template")
    for literal, segment in zip(wanted, found, strict=True):
        if literal == segment and "{" not in literal:
            continue
        if "{" not in literal:
            raise _Refused("the address would leave its template")
        check_segment(segment)
