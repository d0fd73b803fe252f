"""Defaults of a schema, put into arguments before they are checked, authorized and hashed.

JSON Schema leaves `default` a remark. The rule here, the same for every tool: the default of a property that is absent
is put in, at the root and at every depth that the arguments reach, through `allOf`, through references inside the
schema and into the items of lists. A default inside `anyOf`, `oneOf`, `not` or `if` is not applied, since whether it
holds is not known before validation. An object that is absent is not invented to hold defaults; one that comes from a
default has its own defaults filled in. A required property with a default is satisfied by it. A default that its own
property refuses makes the schema invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TypeAlias

from interlock.core.canonical import Json, canonical, decode, integral
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.schema_references import Node, References, shown

FILLED_BYTES_MAX = 4_194_304
"""How much defaults may add to one value: a long list of empty objects would multiply a long default."""


@frozen
class Declared:
    """A default as the schema states it, and the property's subschema, which it must fit."""

    name: str
    schema: Node
    value: Json


@frozen
class _Plan:
    """What to fill in at one place: absent properties, and plans for what is there, as recursive as the schema.

    `elements` are (first index, index after the last or None, plan). `complete` are canonical bytes by property.
    """

    declared: dict[str, Declared] = field(default_factory=dict)
    complete: dict[str, bytes] = field(default_factory=dict)
    properties: dict[str, list[_Plan]] = field(default_factory=dict)
    elements: list[tuple[int, int | None, _Plan]] = field(default_factory=list)

    def below(self) -> Iterator[_Plan]:
        for plans in self.properties.values():
            yield from plans
        for _, _, plan in self.elements:
            yield plan


_DefaultOf: TypeAlias = Callable[[_Plan, str], bytes]


class Defaults:
    """The defaults that one schema applies."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._plans: dict[int, _Plan] = {}
        self._root = self._planned(references.root)
        self._filling: set[tuple[int, str]] = set()
        reachable = _reachable(self._root)
        for plan in reachable:
            for name in plan.declared:
                self._completed(plan, name)
        _prune(reachable)
        self.empty = not any(plan.declared for plan in reachable)
        self._is_flat = not any(plan.declared for plan in reachable if plan is not self._root)

    def complete(self) -> Iterator[tuple[Declared, Json]]:
        """Every default as it is put in, with what belongs inside it filled in."""
        for plan in _reachable(self._root):
            for name, declared in plan.declared.items():
                yield declared, decode(plan.complete[name])

    def apply(self, value: dict[str, Json]) -> dict[str, Json]:
        """The value with its defaults; the same object where nothing is missing.

        Raises SchemaInvalid where the defaults of a hostile schema would add more than FILLED_BYTES_MAX bytes.
        """
        if self._is_flat and self._root.declared.keys() <= value.keys():
            return value
        return _filled_object(self._root, value, _Portions().take)

    def _planned(self, node: Json) -> _Plan:
        if not isinstance(node, dict):
            return _Plan()
        if id(node) not in self._plans:
            plan = self._plans[id(node)] = _Plan()
            for source in self._sources(node):
                self._plan_properties(plan, source.get("properties"))
                self._plan_elements(plan, source)
        return self._plans[id(node)]

    def _plan_properties(self, plan: _Plan, properties: Json) -> None:
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if isinstance(schema, dict):
                plan.properties.setdefault(name, []).append(self._planned(schema))
                stated = next((source for source in self._sources(schema) if "default" in source), None)
                if stated is not None:
                    plan.declared.setdefault(name, Declared(name, schema, integral(stated["default"])))

    def _plan_elements(self, plan: _Plan, source: Node) -> None:
        items, prefix = source.get("items"), source.get("prefixItems")
        if isinstance(items, list):  # how drafts before 2020-12 spell prefixItems
            items, prefix = source.get("additionalItems"), items
        prefix = prefix if isinstance(prefix, list) else []
        plan.elements.extend((index, index + 1, self._planned(schema)) for index, schema in enumerate(prefix))
        if isinstance(items, dict):
            plan.elements.append((len(prefix), None, self._planned(items)))

    def _sources(self, node: Node) -> Iterator[Node]:
        """The node, then what always holds with it: the target of its reference and the parts of its allOf."""
        waiting: list[Json] = [node]
        seen: set[int] = set()
        while waiting:
            source = waiting.pop()
            if isinstance(source, dict) and id(source) not in seen:
                seen.add(id(source))
                yield source
                parts = source.get("allOf")
                waiting.extend(reversed(parts) if isinstance(parts, list) else ())
                waiting.append(self._references.target(source))

    def _completed(self, plan: _Plan, name: str) -> bytes:
        if name not in plan.complete:
            if (id(plan), name) in self._filling:
                raise SchemaInvalid(f"The default of {shown(name)} contains itself without end.")
            self._filling.add((id(plan), name))
            value = plan.declared[name].value
            for inner in plan.properties[name]:
                value = _filled(inner, value, self._completed)
            plan.complete[name] = canonical(value)
            if len(plan.complete[name]) > FILLED_BYTES_MAX:
                raise SchemaInvalid(f"The default of {shown(name)} grows past {FILLED_BYTES_MAX} bytes.")
        return plan.complete[name]


class _Portions:
    """Hands out defaults for one value, up to the bound."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = FILLED_BYTES_MAX

    def take(self, plan: _Plan, name: str) -> bytes:
        data = plan.complete[name]
        self._left -= len(data)
        if self._left < 0:
            raise SchemaInvalid(f"The schema's defaults add more than {FILLED_BYTES_MAX} bytes to the value.")
        return data


def _filled(plan: _Plan, value: Json, default_of: _DefaultOf) -> Json:
    if isinstance(value, dict):
        return _filled_object(plan, value, default_of)
    if isinstance(value, list):
        return _filled_list(plan, value, default_of)
    return value


def _filled_object(plan: _Plan, value: dict[str, Json], default_of: _DefaultOf) -> dict[str, Json]:
    changed: dict[str, Json] = {}
    for name, plans in plan.properties.items():
        if name in value:
            item = value[name]
            for inner in plans:
                item = _filled(inner, item, default_of)
            if item is not value[name]:
                changed[name] = item
    for name in plan.declared:
        if name not in value:
            changed[name] = decode(default_of(plan, name))
    return {**value, **changed} if changed else value


def _filled_list(plan: _Plan, value: list[Json], default_of: _DefaultOf) -> list[Json]:
    filled = value
    for first, after, inner in plan.elements:
        for index in range(first, len(value) if after is None else min(after, len(value))):
            item = _filled(inner, filled[index], default_of)
            if item is not filled[index]:
                filled = value.copy() if filled is value else filled
                filled[index] = item
    return filled


def _reachable(root: _Plan) -> list[_Plan]:
    found = {id(root): root}
    waiting = [root]
    while waiting:
        for plan in waiting.pop().below():
            if id(plan) not in found:
                found[id(plan)] = plan
                waiting.append(plan)
    return list(found.values())


def _prune(plans: list[_Plan]) -> None:
    """Drop the plans that lead to no default, so that filling looks only where something can be missing."""
    above: dict[int, list[_Plan]] = {}
    for plan in plans:
        for below in plan.below():
            above.setdefault(id(below), []).append(plan)
    useful = {id(plan) for plan in plans if plan.declared}
    waiting = list(useful)
    while waiting:
        for plan in above.get(waiting.pop(), []):
            if id(plan) not in useful:
                useful.add(id(plan))
                waiting.append(id(plan))
    for plan in plans:
        kept = {name: [one for one in found if id(one) in useful] for name, found in plan.properties.items()}
        plan.properties.clear()
        plan.properties.update((name, found) for name, found in kept.items() if found)
        plan.elements[:] = [element for element in plan.elements if id(element[2]) in useful]
