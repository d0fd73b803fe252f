"""What two versions of a tool say of the members of their arguments beside what validates: defaults, units, sources.

A member that is gone is named here too: where an object is open a validator still takes it, and nothing reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.canonical import Json
from interlock.core.compatibility_schemas import Finding, Verdict
from interlock.core.compatibility_side import Part, Side, default_of, listed, members, texts
from interlock.core.frozen import frozen
from interlock.core.schema_references import Node, escaped
from interlock.core.tool import Parameter, ParameterSource, ToolSpec
from interlock.core.tool_parts import without

BREAKING, UNCERTAIN, COMPATIBLE = Verdict.BREAKING, Verdict.UNCERTAIN, Verdict.COMPATIBLE

_STEPS_MAX: Final = 20_000
_ALWAYS_KNOWN: Final = frozenset({"tenant", "tenant_id", "principal"})


@frozen
class Member:
    """What is said of the member at one place: its default as canonical bytes, and whether it is demanded."""

    default: bytes = b""
    is_required: bool = False
    is_filled: bool = False


def shown_schema(spec: ToolSpec) -> dict[str, Json]:
    """The input schema as callers know it: without what the context fills in."""
    schema = spec.input_schema.value
    injected = frozenset(each.name for each in spec.parameters if each.source is ParameterSource.CONTEXT)
    return without(members(schema), names=injected)


def parameters(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    """Every difference in what is said of parameters."""
    before, after = declared(shown_schema(old)), declared(shown_schema(new))
    if before is None or after is None:
        yield Finding("parameters", "", "too-involved", UNCERTAIN, "The schemas name too many members to go through.")
    else:
        yield from _gone(before, after)
        shared = sorted(before.keys() & after.keys())
        yield from (found for place in shared if (found := _default(before[place], after[place], place)) is not None)
    yield from _meant(old, new)


def declared(schema: dict[str, Json]) -> dict[str, Member] | None:
    """The members that a schema names, by JSON pointer; `*` is any item or any other member. None for too many."""
    side = Side(schema)
    walk = _Walk()
    walk.enter(Part(side.root, side, is_filled=True), "", above=frozenset())
    return walk.found if walk.steps_left > 0 else None


class _Walk:
    """Goes through a schema, a definition once for every reference to it, and into none that is above."""

    def __init__(self) -> None:
        self.found: dict[str, Member] = {}
        self.steps_left = _STEPS_MAX

    def enter(self, part: Part, path: str, *, above: frozenset[int]) -> None:
        node, words = part.schema, part.words
        self.steps_left -= 1
        if not isinstance(node, dict) or id(node) in above or self.steps_left <= 0:
            return
        required = texts(words.get("required"))
        for name, schema in members(words.get("properties")).items():
            place, child = f"{path}/{escaped(name)}", part.below(schema, is_filled=True)
            if place not in self.found or not self.found[place].default:
                self.found[place] = Member(default_of(child), name in required, child.is_filled)
        for step, below in _inside(part, node):
            self.enter(below, f"{path}{step}", above=above | {id(node)})


def _inside(part: Part, node: Node) -> Iterator[tuple[str, Part]]:
    """The parts of a part, with the step that leads to each in a value."""
    words = part.words
    for name, schema in members(words.get("properties")).items():
        yield f"/{escaped(name)}", part.below(schema, is_filled=True)
    for index, schema in enumerate(listed(words.get("prefixItems"))):
        yield f"/{index}", part.below(schema, is_filled=True)
    yield "/*", part.below(words.get("items"), is_filled=True)
    yield "/*", part.below(words.get("additionalProperties"))
    for word in ("allOf", "anyOf", "oneOf"):
        for schema in listed(words.get(word)):
            yield "", part.below(schema, is_filled=word == "allOf")
    for word in ("if", "then", "else"):
        yield "", part.below(words.get(word))
    if "$ref" in words:
        yield "", part.below(part.side.target(node), is_filled=True)


def _gone(before: dict[str, Member], after: dict[str, Member]) -> Iterator[Finding]:
    gone = sorted(before.keys() - after.keys())
    if before and not after:
        words = (
            f"It named {len(before)} parameters and names none: whatever is sent means nothing that is written down."
        )
        yield Finding("parameters", "", "collapsed", BREAKING, words)
        return
    for place in gone:
        if not any(place.startswith(f"{other}/") for other in gone):
            words = f"It no longer knows {place[1:]}: where that is still taken, nothing says what it does."
            yield Finding("parameters", place, "parameter-gone", BREAKING, words)


def _default(was: Member, now: Member, place: str) -> Finding | None:
    if was.default == now.default or not (was.is_filled and now.is_filled):
        return None
    name = place[1:]
    if was.default and now.default:
        words = f"Where {name} is left out it is {now.default.decode()[:80]}, and was {was.default.decode()[:80]}."
        return Finding("parameters", place, "default-changed", BREAKING, words)
    if was.default:
        return Finding("parameters", place, "default-dropped", UNCERTAIN, f"{name} has no default any more.")
    if was.is_required:
        return Finding("parameters", place, "default-added", COMPATIBLE, f"{name} may be left out.")
    words = f"Where {name} is left out it is now {now.default.decode()[:80]}; what it was then is not written down."
    return Finding("parameters", place, "default-added", UNCERTAIN, words)


def _meant(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    """Units, currencies, sensitivity and sources of the top-level parameters."""
    before, after = ({each.name: each for each in spec.parameters} for spec in (old, new))
    known = members(members(old.input_schema.value).get("properties"))
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name, Parameter(name)), after.get(name, Parameter(name))
        if name in known:
            yield from _measured(was, now)
        yield from _sourced(was, now, is_new=name not in known)


def _measured(was: Parameter, now: Parameter) -> Iterator[Finding]:
    place = f"/{escaped(was.name)}"
    for word, mine, its in (("unit", was.unit, now.unit), ("currency", was.currency, now.currency)):
        if mine != its:
            verdict = BREAKING if mine and its else UNCERTAIN
            words = f"The {word} of {was.name} is {its or 'not said'}, and was {mine or 'not said'}."
            yield Finding("parameters", place, f"{word}-changed", verdict, words)
    if was.sensitive and not now.sensitive:
        yield Finding("parameters", place, "sensitivity-weakened", BREAKING, f"{was.name} is no longer kept from view.")
    elif now.sensitive and not was.sensitive:
        yield Finding("parameters", place, "sensitivity-raised", COMPATIBLE, f"{was.name} is kept from view.")


def _sourced(was: Parameter, now: Parameter, *, is_new: bool) -> Iterator[Finding]:
    place, context = f"/{escaped(was.name)}", ParameterSource.CONTEXT
    injected = now.inject or now.name
    if now.source is context and (is_new or was.source is not context or was.inject != now.inject):
        if not is_new and was.source is not context:
            yield Finding("parameters", place, "source-narrowed", BREAKING, f"Callers may no longer say {was.name}.")
        if injected not in _ALWAYS_KNOWN:
            words = f"It takes {injected} from the context, and is refused to calls without it."
            yield Finding("parameters", place, "context-demanded", BREAKING, words)
        elif was.source is context and not is_new:
            words = f"{was.name} is filled in with {injected}."
            yield Finding("parameters", place, "context-changed", UNCERTAIN, words)
    elif not is_new and was.source is not now.source:
        order = (ParameterSource.CONTEXT, ParameterSource.USER, ParameterSource.MODEL)
        if order.index(now.source) < order.index(was.source):
            yield Finding("parameters", place, "source-narrowed", BREAKING, f"Only a user may say {was.name}.")
        else:
            words = f"{was.name} may be said by a {now.source.value}, and came from the {was.source.value}."
            yield Finding("parameters", place, "source-weakened", UNCERTAIN, words)
