"""The tools that a reviewed snapshot of an OpenAPI document allows, as far as the document is still what was reviewed.

document = read_openapi(Path("petstore.json").read_bytes())
snapshot = read_snapshot(Path("petstore.snapshot.yaml").read_bytes())
async with Gate.open("interlock.db", tools=openapi_tools(snapshot, document)) as gate: ...
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

from interlock.core.errors import SpecInvalid
from interlock.core.text import visible
from interlock.declare.http import HttpTool
from interlock.importers.openapi_changes import Field, fields
from interlock.importers.openapi_decisions import decided
from interlock.importers.openapi_document import OpenApi, read_openapi
from interlock.importers.openapi_operations import Reader, Unmade
from interlock.importers.openapi_snapshot import Snapshot, read_snapshot, take_snapshot, write_snapshot
from interlock.importers.snapshots import read_at

__all__ = [
    "Loaded",
    "OpenApi",
    "Refused",
    "Snapshot",
    "load_openapi",
    "load_snapshot",
    "openapi_tools",
    "read_openapi",
    "read_snapshot",
    "take_snapshot",
    "write_snapshot",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation that is allowed and makes no tool now; `fields` say what has changed since it was reviewed."""

    key: str
    name: str
    reason: str
    fields: tuple[Field, ...] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """What came of a snapshot."""

    tools: tuple[HttpTool, ...] = ()
    refused: tuple[Refused, ...] = ()


def openapi_tools(snapshot: Snapshot, document: OpenApi) -> tuple[HttpTool, ...]:
    """The tools, to be given to a gate. What is refused is logged; `load_openapi` gives it."""
    loaded = load_openapi(snapshot, document)
    for each in loaded.refused:
        _log.warning("%s is no tool: %s", visible(each.key), visible(each.reason))
    return loaded.tools


def load_openapi(snapshot: Snapshot, document: OpenApi) -> Loaded:
    """Every operation that is allowed, as a tool or with the reason why it is none. One harms no other."""
    reader = Reader(document, snapshot.server)
    allowed = {key: each for key, each in snapshot.operations.items() if each.allow}
    found = [_loaded(key, snapshot, document=document, reader=reader) for key in allowed]
    return Loaded(
        tuple(each for each in found if isinstance(each, HttpTool)),
        tuple(each for each in found if isinstance(each, Refused)),
    )


def load_snapshot(path: Path) -> Loaded:
    """The same for a snapshot's file and the document that it names. Raises `SpecInvalid` or `OSError` for the first.

    Where the document cannot be read nothing of it is a tool.
    """
    snapshot = read_at(path, read_snapshot)
    if not snapshot.file:
        raise SpecInvalid(f"{path.name}: file is missing: say where the document lies")
    place = path.parent / snapshot.file
    try:
        return load_openapi(snapshot, read_openapi(place.read_bytes()))
    except (SpecInvalid, OSError) as fault:
        reason = f"{snapshot.file} cannot be read: {fault.strerror if isinstance(fault, OSError) else fault}"
    allowed = {key: each for key, each in snapshot.operations.items() if each.allow}
    return Loaded((), tuple(Refused(key, each.name, reason) for key, each in allowed.items()))


def _loaded(key: str, snapshot: Snapshot, *, document: OpenApi, reader: Reader) -> HttpTool | Refused:
    decision, place = snapshot.operations[key], document.place(key)
    if place is None:
        return Refused(key, decision.name, "the document has it no longer")
    read = reader.read(place)
    if isinstance(read, Unmade):
        return Refused(key, decision.name, read.reason)
    if read.digest != decision.digest:
        changed = fields(decision.read, read.shown)
        named = ", ".join(each.name for each in changed) or "something of it"
        return Refused(key, decision.name, f"it has changed since it was reviewed: {named}", changed)
    try:
        return decided(read, decision, owner=snapshot.owner, secrets=snapshot.secrets)
    except SpecInvalid as fault:
        return Refused(key, decision.name, str(fault))
