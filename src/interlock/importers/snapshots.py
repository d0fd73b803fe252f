"""What snapshots of every kind have in common: how they are read, renewed and written as files that people keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.tool import spec_to_json
from interlock.declare.typed_values import check_keys, typed
from interlock.importers.openapi_text import read_document

T = TypeVar("T")


class Named(Protocol):
    """A decision, as far as it gives a tool its name."""

    @property
    def allow(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind of snapshot holds: its format, what it is a snapshot of, its fields, and those that it must have."""

    format: str
    of: str
    fields: Mapping[str, Any]
    needed: tuple[str, ...]


def read_fields(data: bytes, form: Form) -> dict[str, Any]:
    """The fields of a file, of their types, but for its format. Raises `SpecInvalid` with the place."""
    given = read_document(data)
    if not isinstance(given, dict) or given.get("snapshot") != form.format:
        raise SpecInvalid(f"it is no snapshot of {form.of} (snapshot: {form.format})")
    check_keys(given, ["snapshot", *form.fields], path="the snapshot")
    found = {name: typed(given[name], hint, path=name) for name, hint in form.fields.items() if name in given}
    for needed in form.needed:
        if needed not in found:
            raise SpecInvalid(f"the snapshot: {needed} is missing")
    return found


def read_at(path: Path, read: Callable[[bytes], T]) -> T:
    """What a file holds. Raises `SpecInvalid` with the file's name, or `OSError`."""
    try:
        return read(path.read_bytes())
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path.name}: {fault}") from fault


def read_said(
    given: object, *, own: Mapping[str, Any], options: Iterable[str], needed: Iterable[str], path: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a decision says itself (`own` has the types), and the options of the declaration that it makes.

    Raises `SpecInvalid` naming what it does not know or what is missing.
    """
    if not isinstance(given, dict):
        raise SpecInvalid(f"{path}: it must be a mapping of names to values")
    check_keys(given, [*own, *options], path=path)
    for name in needed:
        if name not in given:
            raise SpecInvalid(f"{path}: {name} is missing")
    said = {name: typed(given[name], hint, path=f"{path}.{name}") for name, hint in own.items() if name in given}
    others = {name: value for name, value in given.items() if name not in own}
    if "resource" in others:
        others["resource"] = resource_of(others["resource"], path=f"{path}.resource")
    return said, others


def resource_of(given: object, *, path: str) -> tuple[str, str]:
    """A resource as a file says it: its type, and the argument or template that is its id. Raises `SpecInvalid`."""
    found: dict[str, str] = typed(given, dict[str, str], path=path)
    if found.keys() != {"type", "id"}:
        raise SpecInvalid(f"{path}: it needs type and id")
    return found["type"], found["id"]


def refuse_same_names(decisions: Iterable[Named], *, what: str) -> None:
    """Raise `SpecInvalid` where two that are allowed have one name; `what` says what they are, such as `tools`."""
    names = Counter(each.name.lower() for each in decisions if each.allow)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise SpecInvalid(f"two {what} that are allowed have the name {twice[0]}")


def names_apart(kept: Mapping[str, Named], *, before: Collection[str]) -> dict[str, str]:
    """New names, by key, of what came anew under a name that something has which was there `before`."""
    taken = {each.name.lower() for key, each in kept.items() if key in before}
    fresh = {key: each for key, each in kept.items() if key not in before and each.name.lower() in taken}
    return {key: f"{each.name}_{each.digest[:6]}" for key, each in fresh.items()}


def next_version(version: str) -> str:
    """The number after a plain one; any other stays, and is raised by hand."""
    return str(int(version) + 1) if version.isascii() and version.isdecimal() else version


def written_options(options: Mapping[str, object]) -> dict[str, Json]:
    """Options of a declaration as a file says them."""
    found = {name: spec_to_json(each) for name, each in options.items() if name != "resource"}
    resource = options.get("resource")
    if isinstance(resource, tuple):
        kind, place = resource
        found["resource"] = {"type": kind, "id": place}
    return found
