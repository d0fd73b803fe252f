"""Looks over a tool's contract for what is allowed but unwise: empty names, vague words, writes without bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.frozen import frozen
from interlock.core.tool import ParameterSource, ToolSpec

DESCRIPTION_CHARS_MAX = 1_024
_DESCRIPTION_WEIGHT_MIN = 24
_DEPTH_MAX = 16

_EMPTY_WORDS = frozenset(
    "action add api call change check create data delete do exec execute fetch function get handle helper info invoke "
    "list main manage my new process put query read request run search send set submit test tool update use "
    "util write".split()
)
_BOUNDS: Mapping[str, tuple[frozenset[str], ...]] = {
    "string": (frozenset({"maxLength", "format"}),),
    "array": (frozenset({"maxItems"}),),
    "integer": (frozenset({"maximum", "exclusiveMaximum"}), frozenset({"minimum", "exclusiveMinimum"})),
    "number": (frozenset({"maximum", "exclusiveMaximum"}), frozenset({"minimum", "exclusiveMinimum"})),
}
"""Keywords that bound a value of each type: one of each group is wanted."""


@frozen
class Advice:
    """One thing to do better. `rule` is a stable name to switch it off by, `where` a JSON pointer into the spec."""

    rule: str
    where: str
    message: str


def advice(spec: ToolSpec) -> tuple[Advice, ...]:
    """What to do better; empty where there is nothing to say."""
    return (*_on_words(spec), *_on_governance(spec), *_on_parameters(spec))


def _on_words(spec: ToolSpec) -> Iterator[Advice]:
    if set(spec.name.lower().replace("-", "_").replace(".", "_").split("_")) <= _EMPTY_WORDS:
        yield Advice(
            "generic-name", "/name", f"{spec.name} says nothing: name what it does to what, as save_draft does"
        )
    if len(spec.description) > DESCRIPTION_CHARS_MAX:
        said = f"the description has {len(spec.description)} characters; models read {DESCRIPTION_CHARS_MAX} with care"
        yield Advice("overlong-description", "/description", said)
    if _weight(spec.description) < _DESCRIPTION_WEIGHT_MIN:
        said = "the description is vague: say what it does, to what, and when to use it"
        yield Advice("vague-description", "/description", said)


def _on_governance(spec: ToolSpec) -> Iterator[Advice]:
    if not spec.owner:
        yield Advice("no-owner", "/owner", "it has no owner: name the group that answers for it")
    if spec.effect in (Effect.WRITE, Effect.DESTRUCTIVE) and not spec.reconcile:
        said = "nothing looks up whether it happened: without reconcile a lost answer must be closed by a person"
        yield Advice("no-reconcile", "/reconcile", said)
    if spec.effect is Effect.DESTRUCTIVE and spec.approval_floor is None:
        said = "it destroys, and only policy stands before it: declare an approval floor"
        yield Advice("no-approval-floor", "/approval_floor", said)


def _on_parameters(spec: ToolSpec) -> Iterator[Advice]:
    schema = spec.input_schema.value
    injected = {each.name for each in spec.parameters if each.source is ParameterSource.CONTEXT}
    for name, each in _properties(schema):
        if name in injected:
            continue
        where = f"/input_schema/properties/{name}"
        if not (isinstance(each, dict) and each.get("description")):
            yield Advice("undescribed-parameter", where, f"the parameter {name} has no description")
        if spec.effect.is_effect:
            for place in _unbounded(each, name, depth=0):
                said = f"{place} of a write has no bounds: give it a largest length, or a least and a largest value"
                yield Advice("unbounded-write", where, said)


def _unbounded(schema: Json, path: str, *, depth: int) -> Iterator[str]:
    """The places below that take values of any size, as far as the schema itself says so."""
    if not isinstance(schema, dict) or depth > _DEPTH_MAX or "enum" in schema or "const" in schema:
        return
    kinds = schema.get("type")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        if any(group.isdisjoint(schema) for group in _BOUNDS.get(str(kind), ())):
            yield path
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        for branch in branches if isinstance(branches, list) else ():
            yield from _unbounded(branch, path, depth=depth + 1)
    for name, each in _properties(schema):
        yield from _unbounded(each, f"{path}.{name}", depth=depth + 1)
    yield from _unbounded(schema.get("items"), f"{path}[]", depth=depth + 1)


def _properties(schema: Json) -> Iterator[tuple[str, Json]]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    yield from (properties if isinstance(properties, dict) else {}).items()


def _weight(text: str) -> int:
    """Length, where a character of a script without spaces says as much as three letters."""
    return sum(3 if character >= "\u2e80" else 1 for character in text.strip())
