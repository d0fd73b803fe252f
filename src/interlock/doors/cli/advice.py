"""Looks over a tool's contract for what is allowed but unwise: vague words, empty names, writes without bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from interlock.core.canonical import Json
from interlock.core.tool import ToolSpec

DESCRIPTION_CHARS_MAX: Final = 1_024
_DESCRIPTION_WEIGHT_MIN: Final = 24

_EMPTY_WORDS: Final = frozenset(
    "action add api call change check create data delete do exec execute fetch function get handle helper info invoke "
    "list main manage my new process put query read request run search send set submit test tool update use "
    "util write".split()
)
_BOUNDS: Final = {
    "string": ("maxLength", "enum", "const", "format"),
    "array": ("maxItems",),
    "integer": ("maximum", "exclusiveMaximum", "enum", "const"),
    "number": ("maximum", "exclusiveMaximum", "enum", "const"),
}


def advice(spec: ToolSpec) -> tuple[str, ...]:
    """Sentences on what to do better, each about one thing; empty where there is nothing to say."""
    return (*_on_words(spec), *_on_owner(spec), *_on_parameters(spec))


def _on_words(spec: ToolSpec) -> Iterator[str]:
    if set(spec.name.lower().replace("-", "_").split("_")) <= _EMPTY_WORDS:
        yield f"the name {spec.name} says nothing: name what it does to what, such as save_draft"
    if len(spec.description) > DESCRIPTION_CHARS_MAX:
        yield f"its description has {len(spec.description)} characters; models read {DESCRIPTION_CHARS_MAX} with care"
    if _weight(spec.description) < _DESCRIPTION_WEIGHT_MIN:
        yield "its description is vague: say what it does, to what, and when to use it"


def _on_owner(spec: ToolSpec) -> Iterator[str]:
    if not spec.owner:
        yield 'it has no owner: say owner="GROUP", which the starter policies look at'


def _on_parameters(spec: ToolSpec) -> Iterator[str]:
    schema = spec.input_schema.value
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, each in (properties if isinstance(properties, dict) else {}).items():
        if not isinstance(each, dict):
            continue
        if not each.get("description"):
            yield f"the parameter {name} has no description"
        if spec.effect.is_effect and not _bounded(each):
            yield f"the parameter {name} of a write has no bound: give it a maximum, or a largest length"


def _bounded(schema: dict[str, Json]) -> bool:
    """Whether a schema bounds how much a value can be, as far as it says so itself."""
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, list):
        return all(_bounded(each) for each in branches if isinstance(each, dict))
    words = _BOUNDS.get(str(schema.get("type")))
    return words is None or any(word in schema for word in words)


def _weight(text: str) -> int:
    """Length, where a character of a script without spaces says as much as three letters."""
    return sum(3 if character >= "\u2e80" else 1 for character in text.strip())
