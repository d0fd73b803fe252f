"""Takes arguments from the form that a dialect asked for to the original's, and there.

Only one thing changes its form: where every member has to be sent, null stands for one that was not. Which members
those are was noted when the schema was compiled. Among alternatives the first counts that the value fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from interlock.core.canonical import Json
from interlock.core.schema_references import escaped
from interlock.models.dialects_merge import types_of
from interlock.models.dialects_parts import OPTIONAL_MARK
from interlock.models.dialects_source import of_type

STEPS_MAX: Final = 100_000


def without_marks(schema: dict[str, Json]) -> tuple[dict[str, Json], dict[str, frozenset[str]]]:
    """The schema as it is sent, and by JSON pointer into it the members for which null stands for nothing."""
    marks: dict[str, frozenset[str]] = {}
    return _unmarked(schema, at="", marks=marks), marks


def _unmarked(schema: dict[str, Json], *, at: str, marks: dict[str, frozenset[str]]) -> dict[str, Json]:
    optional = schema.get(OPTIONAL_MARK)
    if isinstance(optional, list) and optional:
        marks[at] = frozenset(types_of(optional))
    result: dict[str, Json] = {}
    for keyword, value in schema.items():
        if keyword != OPTIONAL_MARK:
            result[keyword] = _unmarked_below(keyword, value, at=f"{at}/{keyword}", marks=marks)
    return result


def _unmarked_below(keyword: str, value: Json, *, at: str, marks: dict[str, frozenset[str]]) -> Json:
    if keyword == "items" and isinstance(value, dict):
        return _unmarked(value, at=at, marks=marks)
    if keyword == "anyOf" and isinstance(value, list):
        return [
            _unmarked(one, at=f"{at}/{index}", marks=marks) if isinstance(one, dict) else one
            for index, one in enumerate(value)
        ]
    if keyword in {"properties", "$defs"} and isinstance(value, dict):
        return {
            name: _unmarked(one, at=f"{at}/{escaped(name)}", marks=marks) if isinstance(one, dict) else one
            for name, one in value.items()
        }
    return value


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a dialect asks for. Values that do not fit it are left as they are, for the gate to judge."""

    schema: Mapping[str, Json]
    marks: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def back(self, value: Json) -> Json:
        """The arguments as the original has them: what null stands for is not there."""
        return self._moved(value, there=False)

    def there(self, value: Json) -> Json:
        """Arguments of the original as the dialect has them: examples, or calls of a history."""
        return self._moved(value, there=True)

    def _moved(self, value: Json, *, there: bool) -> Json:
        if not self.marks:
            return value
        try:
            return _Move(self, there=there).of(value, node=dict(self.schema), at="")
        except (_TooMuchWork, RecursionError):
            return value


class _TooMuchWork(Exception):
    """Alternatives within alternatives, more than any schema of use has."""


class _Move:
    """The walk through one value and the schema that it is to fit."""

    def __init__(self, form: Form, *, there: bool) -> None:
        self._form = form
        self._there = there
        self._left = STEPS_MAX

    def of(self, value: Json, *, node: Json, at: str) -> Json:
        self._step()
        node, at = self._followed(node, at=at)
        if not isinstance(node, dict):
            return value
        alternatives, members = node.get("anyOf"), node.get("properties")
        if isinstance(alternatives, list):
            return self._alternative(value, alternatives=alternatives, at=f"{at}/anyOf")
        if isinstance(value, list) and "items" in node:
            return [self.of(one, node=node["items"], at=f"{at}/items") for one in value]
        if isinstance(value, dict) and isinstance(members, dict):
            return self._object(value, members=members, at=at)
        return value

    def _object(self, value: dict[str, Json], *, members: dict[str, Json], at: str) -> Json:
        optional = self._form.marks.get(at, frozenset())
        missing: dict[str, Json] = {name: None for name in members if name not in value} if self._there else {}
        return missing | {
            name: self.of(one, node=members.get(name), at=f"{at}/properties/{escaped(name)}")
            for name, one in value.items()
            if self._there or one is not None or name not in optional
        }

    def _alternative(self, value: Json, *, alternatives: list[Json], at: str) -> Json:
        for index, node in enumerate(alternatives):
            if self._there:
                moved = self.of(value, node=node, at=f"{at}/{index}")
                if self._fits(moved, node=node):
                    return moved
            elif self._fits(value, node=node):
                return self.of(value, node=node, at=f"{at}/{index}")
        return value

    def _fits(self, value: Json, *, node: Json) -> bool:
        """Whether a value has the shape of a part of the schema: types, members, listed values."""
        self._step()
        node, _ = self._followed(node, at="")
        if not isinstance(node, dict):
            return node is True
        alternatives, kinds, listed = node.get("anyOf"), types_of(node.get("type")), node.get("enum")
        if isinstance(alternatives, list):
            return any(self._fits(value, node=one) for one in alternatives)
        if kinds and not any(of_type(value, kind) for kind in kinds):
            return False
        if (isinstance(listed, list) and value not in listed) or ("const" in node and value != node["const"]):
            return False
        if isinstance(value, list):
            return all(self._fits(one, node=node.get("items", True)) for one in value)
        return not isinstance(value, dict) or self._members_fit(value, node=node)

    def _members_fit(self, value: dict[str, Json], *, node: dict[str, Json]) -> bool:
        members = node.get("properties")
        if not isinstance(members, dict):
            return True
        known = all(name in members and self._fits(one, node=members[name]) for name, one in value.items())
        return known and all(name in value for name in types_of(node.get("required")))

    def _followed(self, node: Json, *, at: str) -> tuple[Json, str]:
        definitions = self._form.schema.get("$defs")
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str) and isinstance(definitions, dict):
            return definitions.get(reference.removeprefix("#/$defs/")), reference[1:]
        return node, at

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooMuchWork
