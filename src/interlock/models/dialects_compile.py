"""Compiles one JSON Schema into what a dialect can say of it, and reports what it cannot.

The walk goes down the original. Everything is said or reported: a keyword that the dialect lacks is left to the gate,
which always judges under the original, and is told in words where that is short. A schema is either widened (the model
may then send what the gate refuses) or narrowed (there is something valid that the model cannot send).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from interlock.core.canonical import Json
from interlock.models.dialects_loose import loose
from interlock.models.dialects_merge import merged, types_of
from interlock.models.dialects_parts import (
    Inexpressible,
    NotStrict,
    annotations_of,
    array_part,
    bounds_part,
    hinted,
    object_part,
    values_part,
)
from interlock.models.dialects_rules import ANNOTATIONS, Rules
from interlock.models.dialects_source import Source, implied_type, modern, reference_of, type_of_value

NODES_MAX: Final = 5_000
LEVELS_MAX: Final = 48
INLINED_MAX: Final = 3
LOSSES_MAX: Final = 5_000
_ROOT_ONLY: Final = frozenset({"type", "properties", "required"})
_NOT_AT_ROOT: Final = frozenset("not if then else enum const".split())
_ONLY_ONE: Final = "that only one alternative may hold is not said"
_NULL: Final[dict[str, Json]] = {"type": "null"}


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a dialect does not say, at a JSON pointer into the original, or does not let the model say."""

    pointer: str
    words: str
    narrows: bool = False


class Compiler:
    """The walk through one schema for one dialect."""

    def __init__(self, root: dict[str, Json], *, rules: Rules) -> None:
        self.rules = rules
        self.losses: dict[Loss, None] = {}
        self._source = Source(root)
        self._left = NODES_MAX
        self._lost = 0
        self._levels = 0
        self._inlined: list[str] = []
        self._definitions: dict[str, Json] = {}
        self._named: dict[str, str] = {}

    def whole(self, root: dict[str, Json]) -> dict[str, Json]:
        """The schema of a tool's arguments, always an object without alternatives at its root."""
        schema, _ = modern(self._without_reference(root, at=""))
        schema = self._one_root(self._flat(schema, at=""))
        if "type" in schema and "object" not in types_of(schema["type"]):
            raise Inexpressible("Arguments are always an object, and the schema takes none.")
        for keyword in sorted(schema.keys() & _NOT_AT_ROOT):
            self.lose(f"/{keyword}", words=f"{keyword} is not enforced")
            schema["description"] = hinted(schema.get("description"), told={keyword: schema.pop(keyword)})
        schema["type"] = "object"
        result = self._typed(schema, kind="object", at="") if self.rules.typed else loose(self, schema, at="")
        if result is None:
            raise Inexpressible("The schema takes no arguments at all.")
        if self.rules.bare_root:
            result = self._bare(result)
        return result | ({"$defs": self._definitions} if self._definitions else {})

    def node(self, schema: Json, *, at: str) -> dict[str, Json] | None:
        """A schema in the dialect; None for one that accepts nothing."""
        self._left -= 1
        if self._left < 0:
            raise Inexpressible(f"The schema has more than {NODES_MAX} parts.")
        if schema is False:
            return None
        if not isinstance(schema, dict):
            return self.anything(at)
        if self._levels >= LEVELS_MAX:
            self.lose(at, words="what is nested deeper is not described")
            return self.anything(at)
        self._levels += 1
        try:
            return self._node(schema, at=at)
        finally:
            self._levels -= 1

    def lose(self, at: str, *, words: str, narrows: bool = False) -> None:
        """Report a loss once. Of more than anybody reads, the last says that there are more."""
        self._lost += 1
        many = len(self.losses) >= LOSSES_MAX and not narrows
        self.losses[Loss("", "more is not enforced than is told") if many else Loss(at, words, narrows)] = None

    def anything(self, at: str) -> dict[str, Json]:
        """What comes nearest to any value."""
        if self.rules.closed:
            raise NotStrict(f"{at} takes any value.")
        if not self.rules.openapi:
            return {}
        self.lose(at, words="only texts, numbers and booleans can be sent", narrows=True)
        return {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}, {"type": "BOOLEAN"}]}

    def admits_null(self, schema: Json) -> bool:
        """Whether null may fit the original schema; a reference is followed a few steps."""
        for _ in range(8):
            if not isinstance(schema, dict):
                return schema is True
            reference = reference_of(schema)
            if reference is None:
                return self._null_fits(schema)
            schema = self._source.target(reference)
        return True

    def reference(self, schema: dict[str, Json], *, reference: str, at: str) -> dict[str, Json] | None:
        """A reference: kept where the dialect has them and nothing stands beside it, else what it leads to."""
        target = self._source.target(reference)
        if not isinstance(target, dict):
            self.lose(f"{at}/$ref", words="leads outside the schema, and what it demands is not described")
            return None if target is False else self.anything(at)
        cyclic = self._source.is_cyclic(reference)
        beside, _ = modern({name: value for name, value in schema.items() if name not in _REFERENCES})
        demands = beside.keys() - ANNOTATIONS
        if self.rules.inline or (demands and not cyclic):
            return self._inline(target, beside=beside, reference=reference, at=at)
        if cyclic and not self.rules.recursive:
            raise NotStrict(f"{at} refers to itself.")
        for keyword in sorted(demands):
            self.lose(f"{at}/{keyword}", words=f"{keyword} beside a reference is not enforced")
        kept: dict[str, Json] = {"$ref": f"#/$defs/{self._define(target, reference=reference)}"}
        words = {name: value for name, value in beside.items() if name in {"description", "title"}}
        return {"anyOf": [kept], **words} if words else kept

    def _node(self, schema: dict[str, Json], *, at: str) -> dict[str, Json] | None:
        if schema.get("type") == []:
            return None
        reference = reference_of(schema)
        if reference is not None:
            return self.reference(schema, reference=reference, at=at)
        node, broken = modern(schema)
        for keyword in broken:
            self.lose(f"{at}/{keyword}", words=f"{keyword} makes no sense and is left out")
        if not self.rules.typed:
            return loose(self, node, at=at)
        node = self._flat(node, at=at)
        if (reference := reference_of(node)) is not None:
            return self.reference(node, reference=reference, at=at)
        if node.get("type") == []:
            return None
        if "anyOf" in node or "oneOf" in node:
            return self._alternatives(node, at=at)
        return self._of_types(node, at=at)

    def _null_fits(self, schema: dict[str, Json]) -> bool:
        node, _ = modern(schema)
        if "type" in node and "null" not in types_of(node["type"]):
            return False
        listed = node.get("enum", [node["const"]] if "const" in node else None)
        if isinstance(listed, list) and None not in listed:
            return False
        groups = [node[name] for name in ("anyOf", "oneOf") if name in node]
        return all(isinstance(group, list) and any(map(self.admits_null, group)) for group in groups)

    def _inline(
        self, target: dict[str, Json], *, beside: dict[str, Json], reference: str, at: str
    ) -> dict[str, Json] | None:
        if self._inlined.count(reference) >= INLINED_MAX:
            self.lose(at, words=f"nested more than {INLINED_MAX} times, it is not described")
            kinds = types_of(target.get("type"))
            if len(kinds) != 1 or (self.rules.openapi and kinds != ["object"]):
                return self.anything(at)
            nested: dict[str, Json] = {"description": "The same again, nested."}
            return nested | {"type": "OBJECT" if self.rules.openapi else kinds[0]}
        self._inlined.append(reference)
        try:
            return self.node(merged(beside, target, noted=self._noted(at)), at=reference[1:])
        finally:
            self._inlined.pop()

    def _define(self, target: dict[str, Json], *, reference: str) -> str:
        if reference not in self._named:
            last = reference.rpartition("/")[2]
            readable = "".join(char if char.isascii() and char.isalnum() else "_" for char in last)
            name = readable[:40].strip("_") or "root"
            name = name if name not in self._named.values() else f"{name}_{len(self._named)}"
            self._named[reference] = name
            part = self.node(target, at=reference[1:])
            if part is None and self.rules.typed:
                raise Inexpressible(f"{reference} accepts nothing.")
            self._definitions[name] = {"not": {}} if part is None else part
        return self._named[reference]

    def _without_reference(self, schema: dict[str, Json], *, at: str) -> dict[str, Json]:
        """The schema with what it refers to written into it, as far as that is not a circle."""
        for _ in range(8):
            reference = reference_of(schema)
            target = None if reference is None else self._source.target(reference)
            beside = {name: value for name, value in schema.items() if name not in _REFERENCES}
            if reference is None:
                return schema
            if not isinstance(target, dict):
                self.lose(f"{at}/$ref", words="leads outside the schema, and what it demands is not described")
                return beside
            schema = merged(beside, target, noted=self._noted(at))
        return {name: value for name, value in schema.items() if name not in _REFERENCES}

    def _flat(self, node: dict[str, Json], *, at: str) -> dict[str, Json]:
        """The schema without `allOf`: its members are merged into it."""
        while isinstance(members := node.get("allOf"), list):
            node = {name: value for name, value in node.items() if name != "allOf"}
            for member in members:
                node = self._with_member(node, member=member, at=f"{at}/allOf")
        return node

    def _with_member(self, node: dict[str, Json], *, member: Json, at: str) -> dict[str, Json]:
        self._left -= 1
        if self._left < 0:
            raise Inexpressible(f"The schema has more than {NODES_MAX} parts.")
        if not isinstance(member, dict):
            return node | {"enum": []} if member is False else node
        reference = reference_of(member)
        if reference is not None and self._source.is_cyclic(reference):
            if not node.keys() - ANNOTATIONS:
                return node | {"$ref": reference}
            self.lose(at, words="a part that refers to itself is not enforced")
            return node
        other, _ = modern(self._without_reference(member, at=at))
        return merged(node, other, noted=self._noted(at))

    def _one_root(self, schema: dict[str, Json]) -> dict[str, Json]:
        """Providers take no alternatives at a root: each becomes what all of them have in common."""
        for group in ("anyOf", "oneOf"):
            branches = schema.pop(group, None)
            if not isinstance(branches, list):
                continue
            self.lose(f"/{group}", words="which members belong together is not enforced")
            schema["description"] = hinted(schema.get("description"), told={group: branches})
            flat = [self._branch(branch, at=f"/{group}") for branch in branches if isinstance(branch, dict)]
            flat = [branch for branch in flat if "object" in (types_of(branch.get("type")) or ["object"])]
            if any(_leaves_open(branch, others=flat) for branch in flat):
                self.lose(f"/{group}", words="what one alternative says of a member holds in all", narrows=True)
            if flat:
                schema = merged(schema, _in_common(flat), noted=self._noted(f"/{group}"))
                schema = self._flat(schema, at="")
        return schema

    def _branch(self, branch: dict[str, Json], *, at: str) -> dict[str, Json]:
        return self._flat(modern(self._without_reference(branch, at=at))[0], at=at)

    def _alternatives(self, node: dict[str, Json], *, at: str) -> dict[str, Json] | None:
        group = "anyOf" if "anyOf" in node else "oneOf"
        if group == "anyOf" and "oneOf" in node:
            self.lose(f"{at}/oneOf", words="oneOf beside anyOf is not enforced")
        if group == "oneOf" and "oneOf" not in self.rules.keywords:
            self.lose(f"{at}/oneOf", words=_ONLY_ONE)
        words = annotations_of(node, rules=self.rules)
        shared = {name: node[name] for name in node.keys() - ANNOTATIONS - {"anyOf", "oneOf"}}
        branches = node[group]
        listed = branches if isinstance(branches, list) else []
        spread = [self._spread(shared, branch, at=f"{at}/{group}/{index}") for index, branch in enumerate(listed)]
        return self._joined(spread, group=group, words=words, at=f"{at}/{group}")

    def _spread(self, shared: dict[str, Json], branch: Json, *, at: str) -> Json:
        """One alternative with what stands beside all of them. A null among them stays a bare one."""
        if not isinstance(branch, dict) or not shared:
            return (dict(shared) or True) if branch is True else branch
        return merged(branch, shared, noted=self._noted(at))

    def _joined(self, branches: list[Json], *, group: str, words: dict[str, Json], at: str) -> dict[str, Json] | None:
        nullable = self.rules.openapi and any(map(_only_null, branches))
        kept = branches if not self.rules.openapi else [branch for branch in branches if not _only_null(branch)]
        lost = self._lost
        parts = [self.node(branch, at=f"{at}/{index}") for index, branch in enumerate(kept)]
        said = [part for part in parts if part is not None]
        distinct = [part for index, part in enumerate(said) if part not in said[:index]]
        if group == "oneOf" and group in self.rules.keywords and (lost < self._lost or len(distinct) < len(said)):
            # One that says less than the original may fit together with another, and none of both would be taken.
            self.lose(at, words=_ONLY_ONE)
            group = "anyOf"
        if not distinct:
            return {"type": "STRING", "nullable": True} if nullable else None
        marked: dict[str, Json] = {"nullable": True} if nullable else {}
        if len(distinct) == 1 and not (words and "$ref" in distinct[0]):
            return distinct[0] | words | marked
        name = group if group in self.rules.keywords else "anyOf"
        return {name: list[Json](distinct)} | words | marked

    def _of_types(self, node: dict[str, Json], *, at: str) -> dict[str, Json] | None:
        kinds = types_of(node["type"]) if "type" in node else self._types_told(node, at=at)
        if "enum" in node or "const" in node:
            kinds = [kind for kind in kinds if values_part(self, _bare_values(node), kind=kind, at=at) is not None]
            if not kinds:
                return None
        if "number" in kinds:
            kinds = [kind for kind in kinds if kind != "integer"]
        if not kinds:
            words = annotations_of(node, rules=self.rules)
            if self.rules.openapi and not isinstance(words.get("default", ""), str | int | float):
                del words["default"]
            return self.anything(at) | words | bounds_part(self, node, kind="", at=at)
        if len(kinds) == 1:
            return self._typed(node, kind=kinds[0], at=at)
        words = annotations_of(node, rules=self.rules)
        bare = {name: value for name, value in node.items() if name not in ANNOTATIONS}
        return self._joined([bare | {"type": kind} for kind in kinds], group="anyOf", words=words, at=at)

    def _types_told(self, node: dict[str, Json], *, at: str) -> list[str]:
        listed = node.get("enum", [node["const"]] if "const" in node else None)
        if isinstance(listed, list):
            return list(dict.fromkeys(type_of_value(value) for value in listed))
        told = implied_type(node)
        if told:
            self.lose(at, words=f"only a value of the type {told} can be sent", narrows=True)
        return [told] if told else []

    def _typed(self, node: dict[str, Json], *, kind: str, at: str) -> dict[str, Json] | None:
        result: dict[str, Json] = {"type": kind}
        result |= annotations_of(node, rules=self.rules)
        part: dict[str, Json] | None = {}
        if kind == "object":
            part = object_part(self, node, at=at)
        elif kind == "array":
            part = array_part(self, node, at=at)
        values = values_part(self, node, kind=kind, at=at)
        if part is None or values is None:
            return None
        result |= part | values | bounds_part(self, node | values, kind=kind, at=at)
        if self.rules.openapi:
            return self._capitals(result, kind=kind, at=at)
        return result

    def _capitals(self, result: dict[str, Json], *, kind: str, at: str) -> dict[str, Json]:
        if kind != "null":
            result["type"] = kind.upper()
            return result
        self.lose(at, words="that only null fits is not said")
        result.update(type="STRING", nullable=True)
        return result

    def _bare(self, result: dict[str, Json]) -> dict[str, Json]:
        for keyword in sorted(result.keys() - _ROOT_ONLY - ANNOTATIONS):
            self.lose(f"/{keyword}", words=f"{keyword} is not enforced")
        return {name: value for name, value in result.items() if name in _ROOT_ONLY}

    def _noted(self, at: str) -> Callable[[str], None]:
        return partial(self._note, at)

    def _note(self, at: str, keyword: str) -> None:
        self.lose(at, words=f"{keyword} of several schemas that must all hold is enforced in part")


_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})


def _only_null(branch: Json) -> bool:
    return isinstance(branch, dict) and (
        branch.get("type") in ("null", ["null"]) or branch.get("enum") == [None] or branch.get("const", 0) is None
    )


def _bare_values(node: dict[str, Json]) -> dict[str, Json]:
    return {name: node[name] for name in ("enum", "const") if name in node}


def _leaves_open(branch: dict[str, Json], *, others: list[dict[str, Json]]) -> bool:
    """Whether an alternative takes members of any form that another one describes."""
    named = branch.get("properties")
    known = named.keys() if isinstance(named, dict) else set[str]()
    described = {name for other in others if isinstance(more := other.get("properties"), dict) for name in more}
    return branch.get("additionalProperties") is not False and not described <= known


def _in_common(branches: list[dict[str, Json]]) -> dict[str, Json]:
    """All members of all branches; what all of them require is required."""
    members: dict[str, list[Json]] = {}
    for branch in branches:
        named = branch.get("properties")
        for name, schema in named.items() if isinstance(named, dict) else ():
            members.setdefault(name, [])
            if schema not in members[name]:
                members[name].append(schema)
    lists = [set(types_of(branch.get("required"))) for branch in branches]
    required = [name for name in types_of(branches[0].get("required")) if all(name in names for names in lists)]
    properties: dict[str, Json] = {
        name: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for name, schemas in members.items()
    }
    return ({"properties": properties} if properties else {}) | ({"required": list[Json](required)} if required else {})
