"""How a tool of an MCP server has drifted from what was reviewed: the grades of `drift`, for what a server lists.

Hints are the server's word and no verdict, yet a person has read them. One that says less harm than it did, or takes
back that there is little, is graded `weakened`, whatever the tool's effect is by the operator's own word: what it may
do was judged by another hint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from interlock.core.canonical import Json, canonical
from interlock.core.compatibility import Finding, Verdict, compare
from interlock.core.drift import Drift, Grade, graded
from interlock.core.effect import Effect
from interlock.core.errors import SchemaInvalid
from interlock.core.mcp_listed import Listed, Unlisted
from interlock.core.tool import Document, Entrypoint, ToolSpec

HINTS: Final[Mapping[str, tuple[bool, bool]]] = {
    "readOnlyHint": (False, True),
    "destructiveHint": (True, False),
    "idempotentHint": (False, True),
    "openWorldHint": (True, False),
}
"""Of each hint: what is meant where it is not given (by the protocol), and which value says less harm."""

PASSABLE: Final = (Grade.TEXT, Grade.WIDENED, Grade.NARROWED, Grade.WEAKENED, Grade.COLLAPSED)
"""Grades that an operator may let pass. What is new was never reviewed, and what is gone cannot be called."""

_WORDS: Final = frozenset({"title", "description", "$comment", "examples", "deprecated"})
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_HANDLER: Final = Entrypoint("mcp", "", "0" * 64)


def drifted(reviewed: Listed | None, today: Listed | Unlisted | None) -> Drift:
    """How a tool has drifted; None stands for one that is not listed. One that is no tool any more is gone."""
    name = next((each.name for each in (reviewed, today) if each is not None), "")
    if isinstance(today, Unlisted):
        return Drift(name, Grade.GONE, (_finding("listing", "unreadable", f"It is no tool any more: {today.reason}."),))
    if reviewed is None or today is None:
        return Drift(name, Grade.NEW if today is not None else Grade.GONE if reviewed is not None else Grade.SAME)
    if reviewed.digest == today.digest:
        return Drift(name, Grade.SAME)
    try:
        found = (*compare(_spec(reviewed), _spec(today)).findings, *_others(reviewed.members, today.members))
    except SchemaInvalid as fault:
        return Drift(name, Grade.GONE, (_finding("input", "unreadable", f"Its schema is none: {fault}"),))
    return graded(name, found or (_finding("listing", "text", "It is written otherwise.", verdict=Verdict.COMPATIBLE),))


def passes(drift: Drift, allowed: frozenset[str] | tuple[str, ...]) -> bool:
    """Whether a tool that drifted so may be called without another review: every grade that it has earned passes."""
    if drift.grade is Grade.SAME:
        return True
    return all(each in PASSABLE and each.name.lower() in allowed for each in drift.grades - {Grade.SAME})


def _spec(listed: Listed) -> ToolSpec:
    """What is compared: words and schemas. All else of both is the same."""
    members = listed.members
    output = members.get("outputSchema")
    return ToolSpec(
        name=listed.name,
        title=_text(members, "title"),
        description=_text(members, "description"),
        effect=Effect.WRITE,
        input_schema=Document.of(members["inputSchema"]),
        output_schema=None if output is None else Document.of(output),
        handler=_HANDLER,
    )


def _text(members: Mapping[str, Json], name: str) -> str:
    found = members.get(name)
    return found if isinstance(found, str) else ""


def _others(before: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[Finding]:
    """What no contract has: names of arguments that may hold anything, hints, and how it is executed."""
    was, is_now = _object(before, "inputSchema"), _object(now, "inputSchema")
    yield from _arguments(was, is_now)
    if _says_something(was) and not _says_something(is_now):
        yield _finding("input", "collapsed", "It says nothing any more of any argument that it names.")
    for member in ("inputSchema", "outputSchema"):
        if _says_otherwise(before.get(member), now.get(member)):
            yield _finding(member, "text", "Words in it are others.", verdict=Verdict.COMPATIBLE)
    yield from _hints(_object(before, "annotations"), _object(now, "annotations"))
    if before.get("execution") != now.get("execution"):
        yield _finding("execution", "changed", "It says otherwise how it is to be called.")


def _arguments(before: dict[str, Json], now: dict[str, Json]) -> Iterator[Finding]:
    """Arguments that are named, or named no longer, whether or not that changes what the schema takes.

    A schema that is open takes them all the same; but a model sends what is named.
    """
    was, is_now = (frozenset(_named(schema, "")) for schema in (before, now))
    for path in sorted(is_now - was):
        yield Finding("input", path, "named", Verdict.COMPATIBLE, "It names an argument that it did not name.")
    for path in sorted(was - is_now):
        yield Finding("input", path, "unnamed", Verdict.COMPATIBLE, "It no longer names an argument that it named.")


def _says_something(schema: Mapping[str, Json]) -> bool:
    """Whether anything is asked of any argument that it names; of what it names none, nothing is known here."""
    named = _object(schema, "properties")
    return not named or any(isinstance(each, dict) and each.keys() - _WORDS for each in named.values())


def _says_otherwise(before: Json, now: Json) -> bool:
    """Whether words stand otherwise in a place that both have: what is new brings words of its own."""
    was, is_now = dict(_places(before, "", is_schema=True)), dict(_places(now, "", is_schema=True))
    return any(was[place] != is_now[place] for place in was.keys() & is_now.keys())


def _places(value: Json, path: str, *, is_schema: bool) -> Iterator[tuple[str, bytes]]:
    """Every place of a schema, with the words that stand there."""
    for at, each in enumerate(value) if isinstance(value, list) else ():
        yield from _places(each, f"{path}/{at}", is_schema=is_schema)
    if not isinstance(value, dict):
        return
    words = value.keys() & _WORDS if is_schema else frozenset()
    yield path, canonical({name: value[name] for name in words})
    for name in value.keys() - words:
        yield from _places(value[name], f"{path}/{name}", is_schema=not (is_schema and name in _NAMED))


def _named(schema: Json, path: str) -> Iterator[str]:
    """Where the schema names members, at any depth."""
    for each in schema if isinstance(schema, list) else ():
        yield from _named(each, path)
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if keyword != "properties" or not isinstance(value, dict):
            yield from _named(value, path)
            continue
        for name, each in value.items():
            yield f"{path}/{name}"
            yield from _named(each, f"{path}/{name}")


def _hints(before: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[Finding]:
    for name, (meant, harmless) in HINTS.items():
        was, is_now = (_said(given.get(name), meant) for given in (before, now))
        if was != is_now:
            less = is_now == harmless
            words = f"It was said to be {name} {_word(was)}, and is said to be {_word(is_now)}."
            yield _finding(f"annotations/{name}", "hint-weakened" if less else "promise-weakened", words)
        elif before.get(name) != now.get(name):
            yield _finding(f"annotations/{name}", "text", f"{name} is written otherwise.", verdict=Verdict.COMPATIBLE)
    for name in sorted((before.keys() | now.keys()) - HINTS.keys()):
        if before.get(name) != now.get(name):
            yield _finding(f"annotations/{name}", "text", "Another annotation has changed.", verdict=Verdict.COMPATIBLE)


def _said(given: Json, meant: bool) -> bool:
    return given if isinstance(given, bool) else meant


def _word(value: bool) -> str:
    return "true" if value else "false"


def _object(members: Mapping[str, Json], name: str) -> dict[str, Json]:
    found = members.get(name)
    return found if isinstance(found, dict) else {}


def _finding(part: str, kind: str, reason: str, *, verdict: Verdict = Verdict.BREAKING) -> Finding:
    return Finding(part, "", kind, verdict, reason)
