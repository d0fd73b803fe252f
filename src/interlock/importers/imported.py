"""The tools that the file of a reviewed snapshot allows, in one way for every source that snapshots are taken of.

tools = [*import_openapi("pets.snapshot.yaml"), *import_mcp("post.snapshot.yaml")]
async with Gate.open("interlock.db", tools=tools) as gate: ...
await gate.catalogue.register(import_python("acme.snapshot.yaml"), by=operator)      # into one that is open

Snapshots are taken, compared and renewed by `interlock import`, or by `importers.openapi`, `.mcp` and `.python`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from interlock.core.functions import Declaration
from interlock.core.text import visible

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NotImported:
    """Something that a person has allowed and that makes no tool now.

    `key` is what its source calls it, `name` the tool that it would be: empty for an entry point, which names its own.
    """

    key: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a snapshot's file. Going through it gives the tools; what is `refused` was logged."""

    tools: tuple[Declaration, ...] = ()
    refused: tuple[NotImported, ...] = ()

    def __iter__(self) -> Iterator[Declaration]:
        return iter(self.tools)


def import_openapi(path: str | Path) -> Imported:
    """Operations of an OpenAPI document, which lies where the snapshot says, as far as each is what was reviewed.

    Raises `SpecInvalid` or `OSError` where the snapshot cannot be read. One that makes no tool harms no other.
    """
    return _imported(path, _from_openapi)


def import_mcp(path: str | Path) -> Imported:
    """Tools of an MCP server, which is not asked for this; a call is held against what the server lists by then.

    Raises as `import_openapi` does. One tool that cannot be one harms no other.
    """
    return _imported(path, _from_mcp)


def import_python(path: str | Path) -> Imported:
    """Tools of an installed package: its code runs here, where something of it is allowed and all of it is as reviewed.

    Raises as `import_openapi` does. One entry that gives no tool harms no other.
    """
    return _imported(path, _from_python)


def _from_openapi(path: Path) -> Imported:
    from interlock.importers.openapi import load_snapshot

    found = load_snapshot(path)
    return Imported(found.tools, tuple(NotImported(each.key, each.name, each.reason) for each in found.refused))


def _from_mcp(path: Path) -> Imported:
    from interlock.importers.mcp import load_mcp_snapshot

    found = load_mcp_snapshot(path)
    return Imported(found.tools, tuple(NotImported(each.key, each.name, each.reason) for each in found.refused))


def _from_python(path: Path) -> Imported:
    from interlock.importers.python import load_python, python_snapshot_at

    found = load_python(python_snapshot_at(path))
    return Imported(found.tools, tuple(NotImported(each.key, "", each.reason) for each in found.refused))


def _imported(path: str | Path, load: Callable[[Path], Imported]) -> Imported:
    place = Path(path)
    found = load(place)
    for each in found.refused:
        _log.warning("%s of %s is no tool: %s", visible(each.key), place.name, visible(each.reason))
    return found
