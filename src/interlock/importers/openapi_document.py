"""An OpenAPI document as it is asked for its parts: by local references alone, each place with its JSON pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from interlock.core.canonical import Json, sha256_hex
from interlock.core.errors import SpecInvalid
from interlock.core.schema_references import escaped
from interlock.core.text import clean
from interlock.importers.openapi_swagger import as_openapi
from interlock.importers.openapi_text import read_document

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
OPERATIONS_MAX = 20_000
_CHAIN_MAX = 32

Object = dict[str, Json]


class Unfit(Exception):
    """This part of the document makes no tool; the text says why, `pointer` where."""

    def __init__(self, reason: str, pointer: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.pointer = pointer


@dataclass(frozen=True, slots=True)
class Place:
    """An operation where it stands: `shared` is its path item."""

    method: str
    path: str
    pointer: str
    value: Json
    shared: Object

    @property
    def key(self) -> str:
        """How a snapshot calls it: `GET /pets/{id}`."""
        return f"{self.method.upper()} {self.path}"


@dataclass(frozen=True, slots=True)
class OpenApi:
    """One document. `version` is as written, `digest` the SHA-256 (hex) of its bytes.

    `is_old`: it is of 3.0 or 2.0, whose schemas are no JSON Schema yet.
    """

    root: Object
    version: str
    digest: str
    is_old: bool
    definitions: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """Where each definition stands that a schema was found to refer to, by its name in `$defs`."""

    @property
    def title(self) -> str:
        """Its title, to be shown."""
        return words(mapping(self.root.get("info")).get("title"), 120)

    def follow(self, value: Json, pointer: str) -> tuple[Object, str]:
        """The object that stands here or that it refers to, and where that is. Raises `Unfit`."""
        for _ in range(_CHAIN_MAX):
            if not isinstance(value, dict):
                raise Unfit("it must be an object", pointer)
            reference = value.get("$ref")
            if reference is None:
                return value, pointer
            pointer = local(reference, pointer)
            value = self.at(pointer)
        raise Unfit("its references lead on and on", pointer)

    def at(self, pointer: str) -> Json:
        """What stands at a pointer such as `/components/schemas/Pet`. Raises `Unfit`."""
        found: Json = self.root
        for step in pointer.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isascii() and name.isdecimal() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise Unfit(f"#{pointer[:200]} leads nowhere", pointer)
        return found

    def places(self) -> Iterator[Place | tuple[str, str]]:
        """Every operation of its paths; for a path that cannot be read its pointer and the reason."""
        for path, item in mapping(self.root.get("paths")).items():
            pointer = f"/paths/{escaped(path)}"
            if path.startswith("x-"):
                continue
            try:
                shared, _ = self.follow(item, pointer)
            except Unfit as fault:
                yield pointer, fault.reason
                continue
            for method in METHODS:
                if method in shared:
                    yield Place(method, path, f"{pointer}/{method}", shared[method], shared)

    def place(self, key: str) -> Place | None:
        """The operation that a snapshot calls so."""
        method, _, path = key.partition(" ")
        item = mapping(self.root.get("paths")).get(path)
        if item is None or method.lower() not in METHODS or path.startswith("x-"):
            return None
        pointer = f"/paths/{escaped(path)}"
        try:
            shared, _ = self.follow(item, pointer)
        except Unfit:
            return None
        found = shared.get(method.lower())
        return None if found is None else Place(method.lower(), path, f"{pointer}/{method.lower()}", found, shared)


def read_openapi(data: bytes) -> OpenApi:
    """The document that these bytes hold, JSON or YAML. Raises `SpecInvalid` where it is none that can be read."""
    root = read_document(data)
    if not isinstance(root, dict):
        raise SpecInvalid("an OpenAPI document is an object")
    version = root.get("openapi", root.get("swagger"))
    if not isinstance(version, str) or version[:3] not in ("2.0", "3.0", "3.1"):
        raise SpecInvalid(f"it is no OpenAPI document of version 2.0, 3.0 or 3.1 (openapi: {str(version)[:20]!r})")
    if version.startswith("2"):
        root = as_openapi(root)
    count = sum(len({*METHODS} & mapping(each).keys()) for each in mapping(root.get("paths")).values())
    if count > OPERATIONS_MAX:
        raise SpecInvalid(f"it has {count} operations; at most {OPERATIONS_MAX} are read")
    dialect = root.get("jsonSchemaDialect")
    if dialect is not None and dialect not in _DIALECTS:
        raise SpecInvalid(f"its schemas are written in {str(dialect)[:120]}, and not in JSON Schema 2020-12")
    return OpenApi(root, version, sha256_hex(data), is_old=not version.startswith("3.1"))


_DIALECTS = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://spec.openapis.org/oas/3.1/dialect/base",
    "https://spec.openapis.org/oas/3.1/dialect/2024-11-10",
)


def local(reference: Json, pointer: str) -> str:
    """The pointer of a reference that stays within the document; all others are refused unread. Raises `Unfit`."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        raise Unfit(
            f"it refers to {str(reference)[:120]!r}; only references within the document (#/...) are read", pointer
        )
    return unquote(reference[1:])


def mapping(value: Json | Mapping[str, Json]) -> Object:
    """The object, or none."""
    return value if isinstance(value, dict) else {}


def listed(value: Json, pointer: str) -> list[Json]:
    """The list that may stand here; an absent one is empty. Raises `Unfit`."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise Unfit("it must be a list", pointer)
    return value


def words(value: Json, limit: int) -> str:
    """Somebody's words as they are shown: without what cannot be seen, on one line each, and bounded."""
    text = clean(value).text.strip() if isinstance(value, str) else ""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
