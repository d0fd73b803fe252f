"""Which tool that an MCP server lists anew is likely one that it listed before under another name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interlock.core.canonical import Json, canonical
from interlock.core.mcp_listed import Listed

LIKENESS_MIN = 0.6
PAIRS_MAX = 40_000
_WORD = re.compile(r"[A-Za-z]+|[^\W\d_a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Renamed:
    """A tool that is gone and one that is new, and how much they are alike, from 0 to 1."""

    before: str
    now: str
    likeness: float


def renames(gone: Mapping[str, Listed], new: Mapping[str, Listed]) -> tuple[Renamed, ...]:
    """Pairs that are likely one tool, each tool in one of them at most, the most alike first.

    It is a suspicion for a reviewer, and opens nothing. Where very many have changed at once none is looked for.
    """
    if len(gone) * len(new) > PAIRS_MAX:
        return ()
    olds, news = ({name: _traits(each) for name, each in group.items()} for group in (gone, new))
    pairs = [Renamed(old, now, _likeness(olds[old], news[now])) for old in olds for now in news]
    found: list[Renamed] = []
    for each in sorted(pairs, key=lambda pair: (-pair.likeness, pair.before, pair.now)):
        is_taken = any(each.before == other.before or each.now == other.now for other in found)
        if each.likeness >= LIKENESS_MIN and not is_taken:
            found.append(each)
    return tuple(found)


def _likeness(old: tuple[frozenset[str], frozenset[str]], new: tuple[frozenset[str], frozenset[str]]) -> float:
    """Words and schema count the same; of both, how much the smaller one is within the other."""
    words, schema = (_shared(before, now) for before, now in zip(old, new, strict=True))
    return round((words + schema) / 2, 3)


def _shared(before: frozenset[str], now: frozenset[str]) -> float:
    """The share of both in common, leaning to the smaller: what is added to a tool does not make it another."""
    if not before or not now:
        return 1.0 if before == now else 0.0
    common = len(before & now)
    return (common / len(before | now) + common / min(len(before), len(now))) / 2


def _traits(listed: Listed) -> tuple[frozenset[str], frozenset[str]]:
    members = listed.members
    said = " ".join(str(members.get(each) or "") for each in ("name", "title", "description"))
    words = frozenset(each.lower() for each in _WORD.findall(said.replace("_", " ")))
    return words, frozenset(_arguments(members.get("inputSchema")))


def _arguments(schema: Json) -> Iterator[str]:
    """Each argument by name and, by itself, with its type: one that has changed its type is half the same."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, each in properties.items() if isinstance(properties, dict) else ():
        yield name
        kind = each.get("type") if isinstance(each, dict) else None
        yield f"{name}:{canonical(kind).decode()}"
