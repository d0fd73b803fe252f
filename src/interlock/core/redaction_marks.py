"""Which parts of a value its JSON Schema marks as sensitive, as JSON pointers in which `*` is any member or item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import lru_cache

import orjson

from interlock.core.canonical import Json
from interlock.core.frozen import frozen

MASK = "[redacted]"
DEPTH_MAX = 32
SUBSCHEMAS_MAX = 5_000

_BRANCHES = ("allOf", "anyOf", "oneOf")
_SAME_PLACE = ("if", "then", "else")
_ANY_CHILD = ("items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains")


def marked_pointers(schema: Json) -> frozenset[str]:
    """The places marked `sensitive: true`, `x-sensitivity: secret`, `writeOnly: true` or `format: password`.

    Local references are followed. Where that cannot go on (recursion, other references, more than 32 levels or 5,000
    subschemas), everything below is marked if the schema has any mark at all: it hides too much rather than too little.
    """
    if not _has_mark(schema):
        return frozenset()
    walk = _Walk(schema)
    walk.visit(schema, "", frozenset())
    return frozenset(walk.found)


class _Walk:
    """One pass over a schema that has a mark somewhere."""

    __slots__ = ("found", "root", "visited")

    def __init__(self, root: Json) -> None:
        self.root = root
        self.found: set[str] = set()
        self.visited = 0

    def visit(self, schema: Json, pointer: str, open_refs: frozenset[str]) -> None:
        if not isinstance(schema, dict):
            return
        self.visited += 1
        stuck = self.visited > SUBSCHEMAS_MAX or pointer.count("/") > DEPTH_MAX or len(open_refs) > DEPTH_MAX
        if stuck or _is_marked(schema):
            self.found.add(pointer)
            return
        for child, step in _children(schema):
            self.visit(child, pointer + step, open_refs)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                self._follow(schema[keyword], pointer, open_refs)

    def _follow(self, ref: Json, pointer: str, open_refs: frozenset[str]) -> None:
        target = _resolve(self.root, ref) if isinstance(ref, str) and ref not in open_refs else None
        if target is None:
            self.found.add(pointer)
        else:
            self.visit(target, pointer, open_refs | {str(ref)})


def _children(schema: Mapping[str, Json]) -> Iterator[tuple[Json, str]]:
    for name, child in _members(schema.get("properties")):
        yield child, f"/{escape(name)}"
    for _, child in _members(schema.get("patternProperties")):
        yield child, "/*"
    for _, child in _members(schema.get("dependentSchemas")):
        yield child, ""
    for keyword in _ANY_CHILD:
        for child in _items(schema.get(keyword)):
            yield child, "/*"
    for index, child in enumerate(_items(schema.get("prefixItems"))):
        yield child, f"/{index}"
    for keyword in (*_BRANCHES, *_SAME_PLACE):
        for child in _items(schema.get(keyword)):
            yield child, ""


def _members(value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict):
        yield from value.items()


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _is_marked(schema: Mapping[str, Json]) -> bool:
    return (
        schema.get("sensitive") is True
        or schema.get("x-sensitivity") == "secret"
        or schema.get("writeOnly") is True
        or schema.get("format") == "password"
    )


def _has_mark(schema: Json) -> bool:
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if _is_marked(part):
                return True
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    return False


def _resolve(root: Json, ref: str) -> Json:
    """What a reference into this document points at, or None."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return None
    found = root
    for step in ref[2:].split("/"):
        name = unescape(step)
        if isinstance(found, dict):
            found = found.get(name)
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


@frozen
class Marks:
    """Pointers as a tree: `here` marks the place itself."""

    here: bool = False
    below: Mapping[str, Marks] = field(default_factory=dict)


@lru_cache(maxsize=1024)
def marks_tree(pointers: frozenset[str]) -> Marks:
    """The tree of a tool's pointers; a tool has one set, so this is computed once."""
    below: dict[str, set[str]] = {}
    for pointer in pointers:
        first, slash, rest = pointer[1:].partition("/")
        if pointer:
            below.setdefault(unescape(first), set()).add(slash + rest)
    return Marks("" in pointers, {step: marks_tree(frozenset(rest)) for step, rest in below.items()})


@lru_cache(maxsize=1024)
def needles(pointers: frozenset[str]) -> tuple[bytes, ...]:
    """What canonical JSON contains wherever one of these places exists; an empty needle is in everything."""
    names = (next((step for step in reversed(pointer.split("/")[1:]) if step != "*"), None) for pointer in pointers)
    return tuple({b"" if name is None or name.isdecimal() else orjson.dumps(unescape(name)) for name in names})


def mask_marked(value: Json, marks: Marks) -> Json:
    """The value with every marked place masked, whatever is there; the same object where none exists."""
    if marks.here:
        return value if value == MASK else MASK
    if not marks.below:
        return value
    if isinstance(value, dict):
        masked = {name: _mask_child(child, name, marks) for name, child in value.items()}
        return masked if any(masked[name] is not child for name, child in value.items()) else value
    if isinstance(value, list):
        items = [_mask_child(child, str(index), marks) for index, child in enumerate(value)]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def _mask_child(child: Json, name: str, marks: Marks) -> Json:
    for step in (name, "*"):
        if step in marks.below:
            child = mask_marked(child, marks.below[step])
    return child


def escape(name: str) -> str:
    """A member's name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The member's name that a step of a JSON pointer stands for."""
    return step.replace("~1", "/").replace("~0", "~")
