"""What becomes of a snapshot at the command line, in one way for every source: written, renewed, or compared."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

import typer

from interlock.doors.cli.answer import DONE, PROBLEM, USAGE, Answer
from interlock.doors.cli.faults import problem
from interlock.doors.cli.shown import visible

if TYPE_CHECKING:
    from interlock.core.canonical import Json
    from interlock.importers.openapi_changes import Field

S = TypeVar("S")

Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="SNAPSHOT", help="Write it there; renew it if it is there.")
]
Check = Annotated[
    Path | None, typer.Option("--check", metavar="SNAPSHOT", help="Only say what has changed since that one.")
]
Accept = Annotated[
    list[str] | None,
    typer.Option("--accept", metavar="ENTRY", help="Leave this one open, though it has changed; repeat it."),
]
AcceptAll = Annotated[bool, typer.Option("--accept-all", help="Leave open whatever was allowed and has changed.")]


@dataclass(frozen=True, slots=True)
class Wish:
    """Where a snapshot is to go, or which one is held against its source, and what stays open when it is renewed."""

    output: Path | None = None
    check: Path | None = None
    accept: tuple[str, ...] = ()
    accept_all: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What has changed since a snapshot was reviewed. `is_open`: a person has to look at some of it.

    `about` says who or what the source is; `lines` say all of it to people, and `more` is what this source alone tells.
    """

    is_open: bool
    lines: tuple[str, ...] = ()
    about: tuple[Field, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    changed: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    not_tools: Mapping[str, tuple[Field, ...]] = field(default_factory=dict)
    more: Mapping[str, Json] = field(default_factory=dict)

    @property
    def document(self) -> dict[str, Json]:
        """The same for programs."""
        return {
            "about": _fields(self.about),
            "new": [*self.new],
            "gone": [*self.gone],
            "changed": {key: _fields(each) for key, each in self.changed.items()},
            "not_tools": {key: _fields(each) for key, each in self.not_tools.items()},
            **self.more,
        }


@dataclass(frozen=True, slots=True)
class Told:
    """A snapshot as it is shown and kept: its file, what it holds, what is open of it, and what cannot be a tool."""

    text: str
    entries: tuple[str, ...]
    allowed: tuple[str, ...]
    lines: tuple[str, ...]
    not_tools: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Generic[S]):
    """What snapshots are taken of, by the name of its verb. `told` is given where the file goes, and `same` is what is
    said where nothing is to be reviewed. `renewed` raises `SpecInvalid` for an entry that there is not.
    """

    name: str
    read: Callable[[bytes], S]
    told: Callable[[S, Path | None], Told]
    seen: Callable[[S, S], Seen]
    renewed: Callable[[S, S, tuple[str, ...]], S]
    same: str


async def imported(source: Source[S], wish: Wish, take: Callable[[S | None], Awaitable[S]]) -> Answer:
    """Take a snapshot, given the one that is there, and do with it as is wished."""
    from interlock.core.errors import SpecInvalid

    help_ = f"`interlock import {source.name} --help` shows what it takes."
    if wish.check is not None and (wish.output is not None or wish.accept or wish.accept_all):
        says = "--check only compares: it goes with neither -o nor --accept."
        return problem("USAGE", says, next_step=help_, exit_code=USAGE)
    try:
        before = _reviewed(source, wish)
        fresh = await take(before)
        if before is None:
            return _written(source, fresh, wish)
        seen = source.seen(before, fresh)
        if wish.check is not None:
            return _compared(source, seen, wish.check)
        entries = source.told(fresh, wish.output).entries
        renewed = source.renewed(fresh, before, entries if wish.accept_all else wish.accept)
        return _written(source, renewed, wish, seen=seen)
    except SpecInvalid as fault:
        return problem("IMPORT_INVALID", str(fault), next_step=help_)


def _reviewed(source: Source[S], wish: Wish) -> S | None:
    """The snapshot to compare with or to renew; None: a new one is written. Raises `SpecInvalid` or `OSError`."""
    from interlock.core.errors import SpecInvalid

    path = wish.check or wish.output
    if path is None or not (wish.check or path.exists()):
        if wish.accept or wish.accept_all:
            raise SpecInvalid("--accept says what stays open of a snapshot that is there: name it with -o")
        return None
    try:
        return source.read(path.read_bytes())
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault


def _written(source: Source[S], snapshot: S, wish: Wish, *, seen: Seen | None = None) -> Answer:
    told = source.told(snapshot, wish.output)
    lines = [*told.lines, *(() if seen is None else seen.lines)]
    if wish.output is None:
        return Answer({}, "\n".join(lines), file=told.text.encode())
    put(wish.output, told.text)
    closed = [each for each in wish.accept if each not in told.allowed]
    lines += [
        f"{visible(each)} stays closed: --accept leaves open what was open, and opens nothing." for each in closed
    ]
    step = f"review {visible(wish.output)} and set allow: true on what may be a tool."
    document: dict[str, Json] = {
        "kind": source.name,
        "snapshot": str(wish.output),
        "entries": [*told.entries],
        "allowed": [*told.allowed],
        "not_tools": {**told.not_tools},
        "changes": None if seen is None else seen.document,
        "next": step,
        **told.more,
    }
    return Answer(document, "\n".join([*lines, f"Next: {step}"]))


def _compared(source: Source[S], seen: Seen, path: Path) -> Answer:
    again = f"`interlock import {source.name} ... -o {visible(path)}` renews it (--accept ENTRY leaves one open)"
    step = f"{again}; then review it." if seen.is_open else ""
    document: dict[str, Json] = {
        "kind": source.name,
        "snapshot": str(path),
        "open": seen.is_open,
        "changes": seen.document,
        "next": step,
    }
    text = "\n".join([*seen.lines, f"Next: {step}" if step else source.same])
    return Answer(document, text, PROBLEM if seen.is_open else DONE)


def put(path: Path, text: str) -> None:
    """Write the file as a whole or not at all."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def owner_of(given: str, before: str) -> str:
    """Who answers for the tools; a snapshot that is there says what the command line does not. Raises `SpecInvalid`."""
    from interlock.core.errors import SpecInvalid

    owner = given or before
    if not owner.strip():
        raise SpecInvalid("say who answers for these tools: --owner NAME")
    return owner


def pairs(given: Iterable[str], *, option: str) -> dict[str, str]:
    """What an option says as NAME=VALUE, any number of times. Raises `SpecInvalid`."""
    from interlock.core.errors import SpecInvalid

    found = [each.partition("=") for each in given]
    for name, equals, _ in found:
        if not equals:
            raise SpecInvalid(f"{option} is NAME=VALUE, not {name}")
    return {name: value for name, _, value in found}


def _fields(found: Iterable[Field]) -> list[Json]:
    return [{"field": each.name, "before": each.before, "now": each.now} for each in found]
