"""Reads what an MCP server lists, entry by entry: what makes a tool, and what does not, with the reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from interlock.core.canonical import Json, canonical, sha256_hex
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.mcp_drift import HINTS
from interlock.core.mcp_listed import Listed, Unlisted, read_listed
from interlock.core.text import clean, visible
from interlock.importers.mcp_names import misnamed
from interlock.importers.mcp_schema import Object, bounded, closed, readable

WORDS_MAX = 4_096
_SHOWN_MAX = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class McpRead:
    """A tool as it was read. `shown` is that for a person, with everything hidden spelled out."""

    listed: Listed
    title: str = ""
    description: str
    input_schema: Object
    output_schema: Object | None = None
    shown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpReading:
    """What came of a list; `unmade` are entries that are no tools, by their names as they can be shown, and why."""

    tools: Mapping[str, McpRead]
    unmade: Mapping[str, str]


def read_entries(entries: Iterable[Json]) -> McpReading:
    """Every entry, as a tool or with the reason why it is none. One harms no other."""
    found, unmade = _told_apart(entries)
    unlike = misnamed(found)
    tools: dict[str, McpRead] = {}
    for name, listed in found.items():
        if name in unlike:
            unmade[_shown_name(name)] = unlike[name]
            continue
        try:
            tools[name] = read_tool(listed)
        except SpecInvalid as fault:
            unmade[_shown_name(name)] = visible(str(fault))[:_SHOWN_MAX]
    return McpReading(tools, unmade)


def read_tool(listed: Listed) -> McpRead:
    """One tool. Raises `SpecInvalid` where it makes none."""
    members = listed.members
    if _object(members, "execution").get("taskSupport") == "required":
        raise SpecInvalid("it is only called as a task of the protocol, which is not spoken here")
    output = members.get("outputSchema")
    schema = readable({"type": "object", **_object(members, "inputSchema")})  # arguments are an object, said or not
    title, description = bounded(members.get("title"), 200), bounded(members.get("description"), WORDS_MAX)
    return McpRead(
        listed=listed,
        title=title,
        description=description or title or f"{listed.name}: its server says nothing of it.",
        input_schema=closed(schema),
        output_schema=readable(output) if isinstance(output, dict) else None,
        shown=shown_of(listed),
    )


def shown_of(listed: Listed) -> dict[str, str]:
    """Its fields for a review, with everything hidden spelled out."""
    return dict(_shown(listed.members))


def suggested(annotations: Mapping[str, Json]) -> tuple[Effect, bool]:
    """The effect that the hints of a server suggest, and whether it leaves the organisation; no verdict, all of it."""
    said = {name: annotations.get(name) for name in HINTS}
    meant = {name: value if isinstance(value, bool) else HINTS[name][0] for name, value in said.items()}
    if meant["readOnlyHint"]:
        effect = Effect.READ
    elif meant["destructiveHint"]:
        effect = Effect.DESTRUCTIVE
    else:
        effect = Effect.IDEMPOTENT_WRITE if meant["idempotentHint"] else Effect.WRITE
    return effect, meant["openWorldHint"]


def _told_apart(entries: Iterable[Json]) -> tuple[dict[str, Listed], dict[str, str]]:
    """Entries by name. One that stands there twice is one tool, if both are the same, else none."""
    found: dict[str, list[Listed]] = defaultdict(list)
    unmade: dict[str, str] = {}
    for at, entry in enumerate(entries):
        read = read_listed(entry)
        if isinstance(read, Unlisted):
            unmade[_shown_name(read.name) or f"entry {at}"] = read.reason
        else:
            found[read.name].append(read)
    kept = {name: each[0] for name, each in found.items() if len({one.digest for one in each}) == 1}
    unmade |= {_shown_name(name): "two tools that are not the same have this name" for name in found.keys() - kept}
    kept = {name: each for name, each in kept.items() if _shown_name(name) not in unmade}
    return kept, unmade


def _shown_name(name: str) -> str:
    return visible(name)


def _shown(members: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name in ("title", "description"):
        text = members.get(name)
        if isinstance(text, str):
            yield name, _whole(text)
    annotations = _object(members, "annotations")
    if annotations:
        yield "hints", _whole(_text(annotations))
        effect, external = suggested(annotations)
        yield "suggested by its hints", f"{effect.value}, {'external' if external else 'not external'}"
    if "execution" in members:
        yield "execution", _whole(_text(members["execution"]))
    yield from _arguments(_object(members, "inputSchema"))
    if "outputSchema" in members:
        yield "result", f"sha256:{_mark(members['outputSchema'])}"


def _arguments(schema: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, each in _object(schema, "properties").items():
        words = [_kind(each), *(["required"] if name in names else []), f"sha256:{_mark(each)}"]
        said = each.get("description") if isinstance(each, dict) else None
        yield f"argument {visible(name)}", " ".join(words) + (f"; {_whole(said)}" if isinstance(said, str) else "")
    rest = {name: each for name, each in schema.items() if name not in ("properties", "required")}
    yield "arguments", f"{len(_object(schema, 'properties'))}, and all else of the schema sha256:{_mark(rest)}"


def _kind(schema: Json) -> str:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return kind if isinstance(kind, str) else "any" if kind is None else _text(kind)


def _whole(text: str) -> str:
    """All of a text where it is not endless, what nobody sees spelled out; of a longer one its mark too."""
    shown = visible(text)
    hidden = clean(text).removed
    notes = f" ⟨{hidden} hidden characters⟩" if hidden else ""
    return f"{shown}{notes}" if len(shown) <= WORDS_MAX else f"{shown[:WORDS_MAX]}… sha256:{_mark(text)}{notes}"


def _text(value: Json) -> str:
    return canonical(value).decode()


def _mark(value: Json) -> str:
    return sha256_hex(canonical(value))[:16]


def _object(members: Mapping[str, Json], name: str) -> dict[str, Json]:
    found = members.get(name)
    return found if isinstance(found, dict) else {}
