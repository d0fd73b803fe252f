"""Makes up values that a schema takes, or nearly: what a model that is held to a schema might send."""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

TEXTS: Final = (
    "",
    "a",
    "ab",
    "abc",
    "x",
    "ünï",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "a@b.example",
    "https://a.example",
)
NUMBERS: Final = (-3, -1, 0, 1, 2, 3, 5, 7, 10, 100, 0.5, 1.5, 10**18)
ANYTHING: Final[tuple[Any, ...]] = (None, True, False, 0, 1, 2.5, "", "a", "abc", [], ["a"], {}, {"a": 1}, {"a": None})
DEPTH_MAX: Final = 6


class Samples:
    """Values for the parts of one schema. With some chance a part of a value is one that the schema does not take."""

    def __init__(self, root: Mapping[str, Any], dice: Random, *, astray: float = 0.05) -> None:
        self._root = root
        self._dice = dice
        self._astray = astray

    def one(self) -> Any:
        """A value for the whole schema."""
        return self._of(self._root, 0)

    def _of(self, node: Any, depth: int) -> Any:
        dice = self._dice
        if not isinstance(node, dict) or dice.random() < self._astray or depth > DEPTH_MAX:
            return dice.choice(ANYTHING)
        if "$ref" in node:
            return self._of(self._target(str(node["$ref"])), depth + 1)
        for group in ("anyOf", "oneOf", "allOf"):
            if isinstance(node.get(group), list) and node[group]:
                return self._with_beside(node, self._of(dice.choice(node[group]), depth + 1), depth)
        if "const" in node:
            return node["const"]
        if isinstance(node.get("enum"), list) and node["enum"]:
            return dice.choice(node["enum"])
        kinds = node.get("type", "object" if "properties" in node else None)
        return self._of_kind(node, dice.choice(kinds) if isinstance(kinds, list) and kinds else kinds, depth)

    def _with_beside(self, node: Mapping[str, Any], value: Any, depth: int) -> Any:
        if not isinstance(value, dict) or "properties" not in node:
            return value
        return {**self._object(node, depth), **value}

    def _of_kind(self, node: Mapping[str, Any], kind: Any, depth: int) -> Any:
        dice = self._dice
        match kind:
            case "object":
                return self._object(node, depth)
            case "array":
                return self._array(node, depth)
            case "string":
                fitting = [text for text in TEXTS if _fits(node, text)]
                return dice.choice(fitting or TEXTS)
            case "integer" | "number":
                bounds = [node[name] for name in ("minimum", "maximum") if _is_number(node.get(name))]
                return dice.choice([*(n for n in NUMBERS if kind == "number" or isinstance(n, int)), *bounds])
            case "boolean":
                return dice.random() < 0.5
            case "null":
                return None
            case _:
                return dice.choice(ANYTHING)

    def _object(self, node: Mapping[str, Any], depth: int) -> dict[str, Any]:
        dice = self._dice
        named = node.get("properties")
        members: Mapping[str, Any] = named if isinstance(named, dict) else {}
        required = [name for name in _texts(node.get("required")) if dice.random() > self._astray / 3]
        chosen = {*required, *(name for name in members if dice.random() < (0.5 if depth < 3 else 0.1))}
        value = {name: self._of(members.get(name, True), depth + 1) for name in sorted(chosen)}
        more = node.get("additionalProperties")
        if more is not False and dice.random() < 0.2:
            value["more"] = self._of(more if isinstance(more, dict) else True, depth + 1)
        return value

    def _array(self, node: Mapping[str, Any], depth: int) -> list[Any]:
        first = node.get("prefixItems")
        places: Sequence[Any] = first if isinstance(first, list) else ()
        fewest = node.get("minItems", 0)
        size = self._dice.randint(0, 2) + (fewest if isinstance(fewest, int) and fewest < 5 else 0)
        rest = node.get("items", True)
        return [self._of(places[at] if at < len(places) else rest, depth + 1) for at in range(max(size, len(places)))]

    def _target(self, reference: str) -> Any:
        node: Any = self._root
        for name in reference.removeprefix("#").split("/")[1:]:
            node = node.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
        return node


def _fits(node: Mapping[str, Any], text: str) -> bool:
    fewest, most, pattern = node.get("minLength", 0), node.get("maxLength", 99), node.get("pattern")
    try:
        return fewest <= len(text) <= most and (not isinstance(pattern, str) or re.search(pattern, text) is not None)
    except (re.error, TypeError):
        return True


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
