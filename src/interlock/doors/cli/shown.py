"""Lays values out for people, each made visible first: nothing that a tool or a model wrote is shown as it is."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.core.canonical import Json

_PIPE_COLUMNS = 4_000


def visible(value: object) -> str:
    """One value on one or more lines, with everything that would not be seen spelled out; lists with commas."""
    from interlock.core.text import visible as spelled_out

    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(visible(each) for each in value)
    return "" if value is None else spelled_out(str(value))


def fields(pairs: Iterable[tuple[str, object]]) -> str:
    """One line for each pair whose value is not empty; further lines of a value stand indented under the first."""
    lines = []
    for name, value in pairs:
        text = visible(value)
        if text:
            lines.append(f"{visible(name) + ':':<14} " + text.replace("\n", "\n" + " " * 15))
    return "\n".join(lines)


def rows(header: Sequence[str], values: Iterable[Sequence[object]], *, empty: str) -> str:
    """A table, nothing cut: a narrow terminal folds long values. `empty` is said where there are no rows."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in header:
        table.add_column(Text(visible(name)), overflow="fold")
    for row in values:
        table.add_row(*[Text(visible(value)) for value in row])
    if not table.row_count:
        return empty
    out = io.StringIO()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else _PIPE_COLUMNS
    Console(file=out, width=width, color_system=None).print(table)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def pretty(value: Json) -> str:
    """A JSON value for people, in its own script, with what cannot be seen spelled out."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False))


def counted(count: int, noun: str) -> str:
    """`1 record`, `2 records`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def as_document(value: object) -> dict[str, Json]:
    """A record of ours as the JSON object that a program reads."""
    from interlock.core.tool import spec_to_json

    document = spec_to_json(value)
    if not isinstance(document, dict):
        raise TypeError(f"a {type(value).__name__} is no document")
    return document


def moment(at_us: int | None) -> str | None:
    """A time as people and programs read it: UTC, to the second."""
    return None if at_us is None else datetime.fromtimestamp(at_us // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
