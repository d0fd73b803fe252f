"""What tests of search share: tools made of words, and how well an order of tools answers queries."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import log2
from pathlib import Path
from typing import Any, NamedTuple

from interlock.core.catalogue import Tool
from interlock.core.effect import Effect
from interlock.core.tool import Document, Entrypoint, ToolSpec
from interlock.core.tool_compile import compile_tool
from interlock.ports import Ranker

SCHEMA = Document.of({"type": "object", "properties": {}})


class Query(NamedTuple):
    """Words, and the names of the tools that answer them."""

    text: str
    gold: frozenset[str]


class Measured(NamedTuple):
    """The means over queries: nDCG at 10 with grades of 0 and 1, and how many of the right tools are in the first."""

    ndcg: float
    recall_5: float
    recall_10: float


def made(name: str, description: str, **more: Any) -> Tool:
    """A tool of these words."""
    handler = Entrypoint("python", name, "0")
    given = {"input_schema": SCHEMA, "effect": Effect.READ, "owner": "eng", **more}
    return compile_tool(ToolSpec(name=name, description=description, handler=handler, **given))


def corpus(folder: Path) -> tuple[tuple[Tool, ...], tuple[Query, ...]]:
    """The tools of the corpus, and its queries."""
    tools: Mapping[str, str] = json.loads((folder / "tools.json").read_text(encoding="utf-8"))
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    said = [json.loads(each) for each in lines]
    queries = tuple(Query(each["query"], frozenset(each["tools"])) for each in said)
    return tuple(made(name, words) for name, words in tools.items()), queries


def ndcg(names: Sequence[str], gold: frozenset[str]) -> float:
    """The gain of the first ten over that of the best order there is."""
    gain = sum(1 / log2(place + 2) for place, name in enumerate(names[:10]) if name in gold)
    return gain / sum(1 / log2(place + 2) for place in range(min(10, len(gold))))


def orders(ranker: Ranker, tools: tuple[Tool, ...]) -> Callable[[str], Awaitable[list[str]]]:
    """The names of the ten that fit a query best."""
    names = {tool.digest: tool.spec.name for tool in tools}

    async def order(query: str) -> list[str]:
        return [names[each.digest] for each in await ranker.rank(query, tools, most=10)]

    return order


async def measured(order: Callable[[str], Awaitable[list[str]]], queries: Sequence[Query]) -> Measured:
    """How well the queries are answered."""
    found = [(await order(each.text), each.gold) for each in queries]
    count = len(found)
    return Measured(
        sum(ndcg(names, gold) for names, gold in found) / count,
        sum(len(gold & {*names[:5]}) / len(gold) for names, gold in found) / count,
        sum(len(gold & {*names}) / len(gold) for names, gold in found) / count,
    )


def by_kind(queries: Sequence[Query]) -> tuple[list[Query], list[Query]]:
    """Those that one tool answers, and those that take several."""
    return [each for each in queries if len(each.gold) == 1], [each for each in queries if len(each.gold) > 1]
