"""The declared request of an HTTP tool: where it goes, and which argument stands where in it.

A template is fixed before any model speaks. Scheme, host and port are literal; arguments fill parts of the path, the
query, headers, cookies and the body, each encoded by its style, and nothing else of the request.
"""

from __future__ import annotations

import re
from enum import StrEnum
from urllib.parse import urlsplit

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.tool import spec_to_json

PORTS = {"http": 80, "https": 443}

_VISIBLE = re.compile(r"[!-~]+")
_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\]")


class Place(StrEnum):
    """Where an argument stands in a request."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    BODY = "body"


class Style(StrEnum):
    """How a value is written there: the styles of OpenAPI 3.1, and JSON for a parameter that has a media type."""

    MATRIX = "matrix"
    LABEL = "label"
    SIMPLE = "simple"
    FORM = "form"
    SPACE = "spaceDelimited"
    PIPE = "pipeDelimited"
    DEEP = "deepObject"
    JSON = "json"


STYLES = {
    Place.PATH: (Style.SIMPLE, Style.LABEL, Style.MATRIX, Style.JSON),
    Place.QUERY: (Style.FORM, Style.SPACE, Style.PIPE, Style.DEEP, Style.JSON),
    Place.HEADER: (Style.SIMPLE, Style.JSON),
    Place.COOKIE: (Style.FORM, Style.JSON),
    Place.BODY: (Style.FORM, Style.SPACE, Style.PIPE, Style.DEEP, Style.JSON),
}
"""The styles of each place; the first is its default."""


class BodyKind(StrEnum):
    """How the arguments of the body are written."""

    NONE = ""
    JSON = "json"
    FORM = "form"
    MULTIPART = "multipart"


class CredentialPlace(StrEnum):
    """Where a credential stands. BEARER and BASIC are the header `Authorization`."""

    BEARER = "bearer"
    BASIC = "basic"
    HEADER = "header"
    QUERY = "query"
    COOKIE = "cookie"


@frozen
class Credential:
    """A secret of the host's, by name, and where it stands. `user` names the secret that is the user of BASIC."""

    secret: str
    place: CredentialPlace = CredentialPlace.BEARER
    name: str = ""
    user: str = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of what it takes."""
        return (self.user, self.secret) if self.user else (self.secret,)


@frozen
class Slot:
    """One place of a request and the argument that fills it; no argument: the operation's idempotency key.

    `name` is the name on the wire; in a JSON body none makes the argument the whole of it. `reserved` leaves reserved
    characters of a query value as they are, but for those that would end it. `filename` and `media_type` describe a
    part of a multipart body, `is_base64` one whose argument is the base64 of what is sent.
    """

    argument: str
    place: Place
    name: str
    style: Style
    explode: bool = False
    reserved: bool = False
    filename: str = ""
    media_type: str = ""
    is_base64: bool = False


@frozen
class Origin:
    """What a credential is bound to and a request may not leave. `host` is lower case, an IPv6 address in brackets."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def authority(self) -> str:
        """Host, and port where it is not the scheme's own: the header `Host`."""
        return self.host if self.port == PORTS[self.scheme] else f"{self.host}:{self.port}"


@frozen
class Url:
    """A URL in its parts; `query` is without its question mark."""

    origin: Origin
    path: str
    query: str = ""


@frozen
class Template:
    """One declared request. `path` has `{name}` where a slot of the path stands."""

    method: str
    origin: Origin
    path: str
    query: str = ""
    slots: tuple[Slot, ...] = ()
    body: BodyKind = BodyKind.NONE
    headers: tuple[tuple[str, str], ...] = ()
    credentials: tuple[Credential, ...] = ()

    @property
    def target(self) -> str:
        """Method and place, for people."""
        return f"{self.method} {self.origin}{self.path}"

    @property
    def header_names(self) -> frozenset[str]:
        """The headers that it sets itself or by arguments, in lower case."""
        slots = [slot.name for slot in self.slots if slot.place is Place.HEADER]
        return frozenset(name.lower() for name in (*slots, *[name for name, _ in self.headers]))


@frozen
class HttpError:
    """What an answer of this status means: an error code of the tool's contract."""

    status: int
    code: str
    retryable: bool = False
    nothing_happened: bool = False
    description: str = ""


@frozen
class HttpCode:
    """What runs one HTTP tool: its request, what its answers mean, and the request that looks a lost one up.

    `not_happened` are the statuses of the look-up that prove that nothing happened, `found_at` the JSON pointer at
    which its answer says that it did, and `absence_proves` whether nothing there proves that it did not. An empty
    `key_header` or `fence_header` is not sent. Times bound one wait for the network; the whole attempt is bounded by
    the tool's.
    """

    request: Template
    statuses: tuple[HttpError, ...] = ()
    look_up: Template | None = None
    not_happened: tuple[int, ...] = ()
    found_at: str = ""
    absence_proves: bool = False
    key_header: str = "Idempotency-Key"
    fence_header: str = "Interlock-Fence"
    connect_timeout_ms: int = 10_000
    read_timeout_ms: int = 30_000

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) over all of it."""
        return sha256_hex(canonical(spec_to_json(self)))

    def status(self, status: int) -> HttpError | None:
        """What the contract says of a status."""
        return next((rule for rule in self.statuses if rule.status == status), None)


def read_url(url: str) -> Url:
    """The parts of an absolute URL, its path possibly with `{name}`. Raises `SpecInvalid`."""
    if not _VISIBLE.fullmatch(url) or "\\" in url:
        raise SpecInvalid(f"{url!r} has blanks, backslashes or characters that a URL must encode")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as fault:
        raise SpecInvalid(f"{url!r} is no URL: {fault}") from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise SpecInvalid(f"{url!r} must begin with http:// or https:// and a host")
    if "@" in parts.netloc or parts.fragment:
        raise SpecInvalid(f"{url!r} must hold neither user, password nor fragment; credentials are declared")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname.rstrip(".")
    if not _HOST.fullmatch(host):
        raise SpecInvalid(f"the host of {url!r} must be literal: no argument may choose where a request goes")
    origin = Origin(parts.scheme, host, PORTS[parts.scheme] if port is None else port)
    return Url(origin, parts.path or "/", parts.query)


def origin_of_target(target: str) -> str:
    """The origin within an entrypoint's target such as `GET https://api.example.com/v1/orders`."""
    _, _, url = target.partition(" ")
    return "/".join(url.split("/", 3)[:3])
