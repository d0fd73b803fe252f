"""The rule of who may import whom, read from a table of rooms."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.tidy.source import Fault, Source

ROOT = "interlock"


@dataclass(frozen=True)
class Rooms:
    """`may_import` maps a room to the rooms (or single modules) that it may import, itself always included.

    `doors/*` stands for each folder below `doors`, so that one door never imports another. `*` allows every room that
    `never` does not name.
    """

    may_import: Mapping[str, frozenset[str]]
    never: Mapping[str, frozenset[str]]


def layering(source: Source, rooms: Rooms) -> Iterator[Fault]:
    """Faults of one file of the package: a room that the table lacks, or an import that it does not allow."""
    if not source.in_package:
        return
    room = _room(source.parts, rooms)
    row = _row(room, rooms)
    if row is None:
        yield Fault("layering", source.path, 1, f"room {room!r} is not in the table of rooms: add its row")
        return
    for line, target in _own_imports(source):
        if not _allowed(target, room=room, row=row, rooms=rooms):
            yield Fault("layering", source.path, line, f"{room} may not import {'/'.join(target)}", ".".join(target))


def table(rooms: Rooms) -> str:
    """The table as a reader wants it when a test fails."""
    width = max(map(len, rooms.may_import))
    rows = (f"  {room:<{width}}  {', '.join(sorted(may)) or '-'}" for room, may in rooms.may_import.items())
    return "\n".join(["room may import:", *rows])


def _room(parts: tuple[str, ...], rooms: Rooms) -> str:
    nested = f"{parts[0]}/*" in rooms.may_import and len(parts) > 1 and parts[1] != "__init__"
    return "/".join(parts[:2]) if nested else parts[0]


def _imported_room(target: tuple[str, ...], rooms: Rooms) -> str:
    """Like the room of a file, but `from interlock import Gate` names what the package's `__init__` holds."""
    if not target or (len(target) == 1 and target[0] not in rooms.may_import):
        return "__init__"
    return _room(target, rooms)


def _row(room: str, rooms: Rooms) -> frozenset[str] | None:
    if room in rooms.may_import:
        return rooms.may_import[room]
    parent, _, child = room.partition("/")
    return rooms.may_import.get(f"{parent}/*") if child else None


def written(page: str) -> dict[str, frozenset[str]]:
    """The table of rooms as a page has it: a row may stand for several, and says in words what is all or nothing."""
    rooms = page.partition("## Rooms\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in rooms.splitlines() if line.startswith("| `")]
    words = {"all but doors": frozenset({"*"}), "pure libraries": frozenset[str]()}
    return {
        room: words.get(may, frozenset(may.replace("`", "").split(", ")))
        for names, _, may in rows
        for room in names.replace("`", "").split(", ")
    }


def _allowed(target: tuple[str, ...], *, room: str, row: frozenset[str], rooms: Rooms) -> bool:
    wanted = _imported_room(target, rooms)
    if wanted == room or wanted in row or ".".join(target[:2]) in row:
        return True
    return "*" in row and wanted.partition("/")[0] not in rooms.never.get(room, frozenset())


def _own_imports(source: Source) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every import of our own, as its path below the package, wherever in the file it stands."""
    for node in source.nodes(ast.Import):
        yield from ((node.lineno, _below(alias.name)) for alias in node.names if _is_own(alias.name))
    for part in source.nodes(ast.ImportFrom):
        module = part.module or ""
        if _is_own(module):
            yield from ((part.lineno, _below(f"{module}.{alias.name}")) for alias in part.names)


def _is_own(module: str) -> bool:
    return module == ROOT or module.startswith(f"{ROOT}.")


def _below(dotted: str) -> tuple[str, ...]:
    return tuple(dotted.split(".")[1:])
