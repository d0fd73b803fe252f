"""A published version as it stands in its stored spec, read no further than everybody has to know of every version.

Most versions of a large catalogue are never asked for by the process that knows of them. Reading one whole takes
twenty times as long as taking out what policies and other tools may have to do with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from interlock.core.canonical import Json, decode
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.tool import CacheRule, Document, ResourceRule, ToolSpec
from interlock.core.typed import from_json

Identity = tuple[str, str, str, str]
"""Tenant, source, name and version."""

T = TypeVar("T")

NO_ARGUMENTS: Final = Document(b'{"type":"object"}')


class Contract(Protocol):
    """What policies have to know of a version: a `ToolSpec` says it, and so does what is listed of one."""

    @property
    def tenant(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def identity(self) -> Identity: ...
    @property
    def effect(self) -> Effect: ...
    @property
    def resource(self) -> ResourceRule | None: ...
    @property
    def facts(self) -> tuple[str, ...]: ...
    @property
    def input_schema(self) -> Document: ...


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """A version whose code is elsewhere. `text` is its stored spec.

    One that cannot be read is listed as what may do most; policies on it alone are not held against it (`is_read`).
    """

    identity: Identity
    digest: str
    text: bytes
    effect: Effect = Effect.DESTRUCTIVE
    resource: ResourceRule | None = None
    facts: tuple[str, ...] = ()
    cache: CacheRule | None = None
    uses: tuple[str, ...] = ()
    is_read: bool = True

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self.identity[0]

    @property
    def name(self) -> str:
        """The name of its tool."""
        return self.identity[2]

    @property
    def version(self) -> str:
        """Its number."""
        return self.identity[3]

    @property
    def input_schema(self) -> Document:
        """Read anew each time: few policies look at the arguments of all tools."""
        members = decode(self.text) if self.is_read else None
        schema = members.get("input_schema") if isinstance(members, dict) else None
        return Document.of(schema) if isinstance(schema, dict) else NO_ARGUMENTS


def listed(identity: Identity, *, digest: str, text: bytes) -> Listed:
    """What stands in a stored spec; where it cannot be read, that it cannot."""
    try:
        return _listed(identity, digest, text)
    except (ValueError, TypeError, KeyError):
        return Listed(identity, digest, text, is_read=False)


def spec_in(text: bytes, *, name: str, version: str) -> ToolSpec:
    """The whole of a stored spec. Raises `SpecInvalid`, naming the version, where it cannot be read."""
    try:
        return from_json(ToolSpec, decode(text))
    except (ValueError, TypeError) as fault:
        raise SpecInvalid(f"the stored spec of {name} {version} cannot be read: {fault}") from None


def whole(found: Contract) -> ToolSpec | None:
    """All that a version says; None: its stored spec cannot be read."""
    if isinstance(found, ToolSpec):
        return found
    try:
        return spec_in(found.text, name=found.name, version=found.version) if isinstance(found, Listed) else None
    except SpecInvalid:
        return None


def uses_of(spec: ToolSpec) -> tuple[str, ...]:
    """The names of other tools that a spec names."""
    return _named(spec.compensate, spec.fallback, *spec.depends_on)


def _listed(identity: Identity, digest: str, text: bytes) -> Listed:
    members = decode(text)
    if not isinstance(members, dict) or identity != tuple(map(members.get, ("tenant", "source", "name", "version"))):
        raise ValueError("it is the spec of something else")
    return Listed(
        identity,
        digest,
        text,
        Effect(str(members["effect"])),
        _part(ResourceRule, members, "resource"),
        _texts(members.get("facts")),
        _part(CacheRule, members, "cache"),
        _named(members.get("compensate"), members.get("fallback"), *_texts(members.get("depends_on"))),
    )


def _part(kind: type[T], members: Mapping[str, Json], name: str) -> T | None:
    found = members.get(name)
    return None if found is None else from_json(kind, found)


def _texts(found: Json) -> tuple[str, ...]:
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise ValueError("expected texts")
    return tuple(map(str, found))


def _named(*names: Json) -> tuple[str, ...]:
    return tuple(str(each) for each in names if each)
