"""The tools that an installed Python package offers by entry points, as far as a reviewed snapshot allows them.

A package says in its metadata what it offers, so it can be listed without running anything of it. To make a tool of it
is to import it, and that runs its code, with all that this process may do: a snapshot is read before, and pins the
bytes of every file of the package. What it depends on is pinned by nobody here.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from interlock.core.errors import SpecInvalid
from interlock.core.functions import Declaration
from interlock.core.text import visible
from interlock.declare.given import is_declared
from interlock.declare.typed_values import check_keys, instance
from interlock.importers.openapi_changes import Field, fields
from interlock.importers.openapi_names import refuse_own
from interlock.importers.python_packages import Package, installed, module_of
from interlock.importers.python_source import import_from
from interlock.importers.snapshots import Form, read_at, read_fields
from interlock.importers.yaml_text import write_yaml

_log = logging.getLogger(__name__)
_HEAD = """\
# A reviewed import of a Python package, written by `interlock import python` and kept by people: read its code, then
# set `allow: true` on what may be a tool. Importing a package runs its code. Its files are pinned by one digest: where
# one of them is another later on, nothing of it is imported until this file is renewed and reviewed.
"""
_FORM = Form(
    format="python-1",
    of="a Python package",
    fields={
        "package": str,
        "version": str,
        "digest": str,
        "files": int,
        "entries": dict[str, Any],
    },
    needed=("package", "version", "digest", "entries"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonEntry:
    """One entry point: where it leads, and whether it may be imported. `tools` names those meant of several."""

    allow: bool = False
    place: str
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonSnapshot:
    """A package as it was reviewed; `digest` is over all of its `files`."""

    package: str
    version: str
    digest: str
    files: int = 0
    entries: Mapping[str, PythonEntry] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PythonRefused:
    """An entry that is allowed and gives no tool now."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class PythonLoaded:
    """What came of a snapshot."""

    tools: tuple[Declaration, ...] = ()
    refused: tuple[PythonRefused, ...] = ()


def take_python_snapshot(package: str) -> PythonSnapshot:
    """What an installed package offers. Nothing of it is imported, and nothing allowed. Raises `SpecInvalid`."""
    found = installed(package)
    return PythonSnapshot(
        package=found.name,
        version=found.version,
        digest=found.digest,
        files=len(found.files),
        entries={name: PythonEntry(place=place) for name, place in found.entries.items()},
    )


def python_renewed(fresh: PythonSnapshot, before: PythonSnapshot, *, accept: Iterable[str] = ()) -> PythonSnapshot:
    """The fresh snapshot with what was decided before. Where the code is another all of it is closed but for those."""
    accepted = frozenset(accept)
    check_keys(dict.fromkeys(accepted), fresh.entries, path="--accept")
    same = fresh.digest == before.digest
    entries = dict(fresh.entries)
    for name in fresh.entries.keys() & before.entries.keys():
        held = before.entries[name]
        entries[name] = replace(fresh.entries[name], allow=held.allow and (same or name in accepted), tools=held.tools)
    return replace(fresh, entries=entries)


def python_changes(before: PythonSnapshot, now: PythonSnapshot) -> tuple[Field, ...]:
    """What is to be reviewed before the snapshot is renewed."""
    was, is_now = ({name: each.place for name, each in of.entries.items()} for of in (before, now))
    shown = fields({f"entry {name}": was[name] for name in was}, {f"entry {name}": is_now[name] for name in is_now})
    about = (
        Field("version", before.version, now.version),
        Field("digest", before.digest, now.digest),
        Field("package", before.package, now.package),
    )
    return (*(each for each in about if each.before != each.now), *shown)


def load_python(snapshot: PythonSnapshot) -> PythonLoaded:
    """The tools of every entry that is allowed, or the reason why it gives none. One harms no other.

    This imports the package, where anything of it is allowed and its code is what was reviewed.
    """
    allowed = {name: each for name, each in snapshot.entries.items() if each.allow}
    if not allowed:
        return PythonLoaded()
    try:
        package = _as_reviewed(snapshot)
    except SpecInvalid as fault:
        return PythonLoaded((), tuple(PythonRefused(name, str(fault)) for name in allowed))
    import_from(package.places)
    tools: list[Declaration] = []
    refused: list[PythonRefused] = []
    for name, entry in allowed.items():
        try:
            tools += _tools_of(name, entry, package)
        except SpecInvalid as fault:
            refused.append(PythonRefused(name, str(fault)))
    return PythonLoaded(tuple(tools), tuple(refused))


def python_tools(snapshot: PythonSnapshot) -> tuple[Declaration, ...]:
    """The tools, to be given to a gate. What is refused is logged; `load_python` gives it."""
    loaded = load_python(snapshot)
    for each in loaded.refused:
        _log.warning("%s gives no tool: %s", visible(each.key), visible(each.reason))
    return loaded.tools


def python_snapshot_at(path: Path) -> PythonSnapshot:
    """The snapshot of a file. Raises `SpecInvalid` or `OSError`."""
    return read_at(path, read_python_snapshot)


def read_python_snapshot(data: bytes) -> PythonSnapshot:
    """The snapshot that a file holds. Raises `SpecInvalid` with the place."""
    found = read_fields(data, _FORM)
    entries = {
        name: instance(each, PythonEntry, path=f"entries[{name}]") for name, each in found.pop("entries").items()
    }
    return PythonSnapshot(**found, entries=entries)


def write_python_snapshot(snapshot: PythonSnapshot) -> str:
    """The file: YAML for people."""
    return write_yaml(
        _HEAD,
        {
            "snapshot": _FORM.format,
            "package": snapshot.package,
            "version": snapshot.version,
            "digest": snapshot.digest,
            "files": snapshot.files,
            "entries": {
                name: {
                    "allow": each.allow,
                    "place": each.place,
                    **({"tools": [*each.tools]} if each.tools else {}),
                }
                for name, each in snapshot.entries.items()
            },
        },
    )


def _as_reviewed(snapshot: PythonSnapshot) -> Package:
    found = installed(snapshot.package)
    if found.digest != snapshot.digest:
        raise SpecInvalid(
            f"{found.name} {found.version} is not the code that was reviewed (version {snapshot.version}); nothing of"
            " it was imported"
        )
    return found


def _tools_of(name: str, entry: PythonEntry, package: Package) -> tuple[Declaration, ...]:
    if package.entries.get(name) != entry.place:
        raise SpecInvalid(f"the package does not offer {entry.place} as {name}")
    found = _declared(_object(entry.place, package))
    names = {each.spec().name: each for each in found}
    if not found:
        raise SpecInvalid(f"{entry.place} is no tool")
    if not entry.tools and len(found) > 1:
        raise SpecInvalid(f"{entry.place} gives several tools ({', '.join(sorted(names))}): name those that are meant")
    check_keys(dict.fromkeys(entry.tools), names, path="tools")
    for each in entry.tools or names:
        refuse_own(each)
    return tuple(names[each] for each in entry.tools or names)


def _declared(given: object) -> tuple[Declaration, ...]:
    """A tool, a collection of tools, or a module that declares some."""
    if is_declared(given):
        return (given,)
    if isinstance(given, ModuleType):
        return tuple({id(each): each for each in vars(given).values() if is_declared(each)}.values())
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return tuple(each for each in given if is_declared(each))
    return ()


def _object(place: str, package: Package) -> object:
    module, _, attribute = place.partition(":")
    module_of(module, package)
    try:
        found: object = import_module(module)
        for part in filter(None, attribute.split(".")):
            found = getattr(found, part)
    except (Exception, SystemExit) as fault:  # a package may raise anything while it is imported
        raise SpecInvalid(f"{place} cannot be imported: {type(fault).__name__}: {fault}") from fault
    return found
