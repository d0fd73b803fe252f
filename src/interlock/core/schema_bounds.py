"""Bounds on a schema from anywhere: how big it is, and how much work one value can cost with it.

The validator answers in linear time for a tree of subschemas and remembers recursive references, but a definition that
is referred to twice is worked twice: forty definitions that each name the one before twice mean 2^40 evaluations.
Nested `unevaluated` keywords evaluate what is below them again. Both are counted here before anything is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.canonical import Json
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.schema_references import Node, References, subschemas


@frozen
class SchemaLimits:
    """`keywords_max` counts subschemas as they are evaluated, a definition once for every reference to it."""

    bytes_max: int = 262_144
    depth_max: int = 64
    keywords_max: int = 10_000
    pattern_bytes_max: int = 131_072
    """Of one compiled pattern. Matching is linear in the text, with this as the factor: about 1 s per MB at worst."""


_CONTAINERS_DEEP_MAX = 240  # the library stops at 255
_CHAIN_MAX = 256
_NOT_EVALUATED = frozenset({"$defs", "definitions", "contentSchema"})
_EVALUATE_AGAIN = ("unevaluatedProperties", "unevaluatedItems")
_AGAIN = 3  # measured: each nesting of an unevaluated keyword costs 2.6 times


def check_size(schema: object, *, limits: SchemaLimits) -> None:
    """Refuse a value that is too big or too deep to write, without following shared or circular parts for ever."""
    left = limits.bytes_max
    waiting: list[tuple[object, int]] = [(schema, 0)]
    while waiting:
        value, depth = waiting.pop()
        left -= 1
        if left < 0:
            raise SchemaInvalid(f"The schema is larger than {limits.bytes_max} bytes.")
        if depth > _CONTAINERS_DEEP_MAX:
            raise SchemaInvalid(f"The schema nests deeper than {_CONTAINERS_DEEP_MAX} objects and lists.")
        if isinstance(value, Mapping):
            waiting.extend((item, depth + 1) for item in value.values())
        elif isinstance(value, list):
            waiting.extend((item, depth + 1) for item in value)


def check_work(references: References, limits: SchemaLimits) -> int:
    """How many subschemas one value can meet, references followed; refused over `keywords_max`."""
    return _Work(references, limits.keywords_max).of(references.root, _CHAIN_MAX)


class _Work:
    def __init__(self, references: References, keywords_max: int) -> None:
        self._references = references
        self._keywords_max = keywords_max
        self._known: dict[int, int] = {}

    def of(self, node: Json, levels: int) -> int:
        if not isinstance(node, dict):
            return 1
        if id(node) in self._known:
            return self._known[id(node)]
        if levels == 0:
            raise SchemaInvalid(f"The schema's references lead through more than {_CHAIN_MAX} subschemas in a row.")
        self._known[id(node)] = 1  # while it is being counted: a recursive reference, which the validator remembers
        total = 1
        for child in self._evaluated(node):
            total += self.of(child, levels - 1)
            if total > self._keywords_max:
                raise SchemaInvalid(
                    f"The schema takes more than {self._keywords_max} evaluations of subschemas for one value, "
                    "counting a definition once for every reference to it."
                )
        if any(keyword in node for keyword in _EVALUATE_AGAIN):
            total *= _AGAIN
        self._known[id(node)] = total
        return total

    def _evaluated(self, node: Node) -> list[Json]:
        children = [child for keyword, _, child in subschemas(node) if keyword not in _NOT_EVALUATED]
        return children + self._references.targets(node)
