"""Reads the SQL that a store runs from files: named queries and numbered migrations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

SQLITE: Final = files("interlock.store") / "sql"
POSTGRES: Final = SQLITE / "postgres"

_NAMED: Final = re.compile(r"^-- name: (\w+)\n((?:-- .*\n)+)", re.MULTILINE)


def named_queries(folder: Traversable = SQLITE) -> dict[str, str]:
    """Every query by name. A query starts at `-- name: x` and a line of comment that describes it."""
    found: dict[str, str] = {}
    for file in _sorted(folder / "queries"):
        for name, text in _parts(file.read_text(encoding="utf-8")):
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = text
    return found


def migrations(folder: Traversable = SQLITE) -> tuple[str, ...]:
    """The scripts that lead from an empty store to the present schema; the first is version 1."""
    return tuple(file.read_text(encoding="utf-8") for file in _sorted(folder / "migrations"))


def _parts(text: str) -> Iterator[tuple[str, str]]:
    pieces = _NAMED.split(text)
    for index in range(1, len(pieces), 3):
        yield pieces[index], pieces[index + 2].strip()


def _sorted(folder: Traversable) -> list[Traversable]:
    return sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
