"""What a difference between two schemas is called, and how it is told to a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.canonical import Json, canonical
from interlock.core.compatibility_proof import Doubt
from interlock.core.schema_words import cut, named

_BOUNDS: Final = frozenset(
    "minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems minProperties "
    "maxProperties multipleOf minContains maxContains".split()
)
_ALTERNATIVES: Final = frozenset({"anyOf", "oneOf"})
_CONDITIONS: Final = frozenset({"if", "dependentRequired", "dependentSchemas", "not"})
_CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    "type": ("type-changed", "type-changed"),
    "enum": ("enum-narrowed", "enum-widened"),
    "const": ("enum-narrowed", "enum-widened"),
    "required": ("required-added", "required-dropped"),
    "false": ("member-refused", "member-added"),
    "pattern": ("pattern-changed", "pattern-changed"),
    "format": ("format-added", "format-dropped"),
    "default": ("default-changed", "default-changed"),
    "$ref": ("reference-unclear", "reference-unclear"),
    "": ("too-involved", "too-involved"),
}
_WORDS: Final[Mapping[str, str]] = {
    "anyOf": "a value that fits at least one of its alternatives",
    "oneOf": "a value that fits exactly one of its alternatives",
    "not": "a value outside of what it excludes",
    "if": "what its condition asks for",
    "contains": "a list that contains what it asks for",
    "uniqueItems": "a list whose items all differ",
    "false": "nothing at all",
}


def class_of(doubt: Doubt, direction: str) -> str:
    """The name of a difference: for an input what callers must now heed, for an output what they may now get."""
    index = 0 if direction == "input" else 1
    word = doubt.word
    if doubt.spot.is_undeclared:
        return ("undeclared-narrowed", "undeclared-widened")[index]
    if word in _CLASSES:
        return _CLASSES[word][index]
    if word in _BOUNDS:
        return ("bound-tightened", "bound-loosened")[index]
    if word in _ALTERNATIVES:
        return ("alternatives-narrowed", "alternatives-widened")[index]
    return "condition-changed" if word in _CONDITIONS else ("narrowed", "widened")[index]


def reason_of(doubt: Doubt, direction: str, witness: tuple[Json] | None) -> str:
    """One difference in words."""
    place = named(doubt.spot.path)
    if doubt.word in ("", "$ref", "default") and witness is None:
        return f"At {place}: {_UNCLEAR[doubt.word]}."
    if doubt.word == "required" and doubt.names:
        names = " and ".join(doubt.names)
        said = f"it now demands {names}" if direction == "input" else f"it no longer promises {names}"
    else:
        who = "it now takes only" if direction == "input" else "it used to give only"
        said = f"{who} {_asked(doubt)}"
    told = f"At {place}: {said}."
    if doubt.spot.is_undeclared:
        return f"{told} Nothing was said of this member before, so it depends on whether anybody used it."
    return told if witness is not None else f"{told} No value was found that shows a difference, and no proof of none."


_UNCLEAR: Final[Mapping[str, str]] = {
    "": "the comparison became too involved",
    "$ref": "a reference that leads back to itself, or to nothing known, could not be followed",
    "default": "other defaults are put in, beside conditions that may depend on them",
}


def _asked(doubt: Doubt) -> str:
    if doubt.word in _WORDS:
        return _WORDS[doubt.word]
    stated = doubt.goal.words.get(doubt.word)
    return cut(f"what has {doubt.word} {canonical(stated).decode()}") if stated is not None else "less"
