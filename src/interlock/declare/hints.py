"""From a type hint to the JSON Schema (2020-12) that accepts the same values."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict
from uuid import UUID

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.declare.arg import Arg

Schema = dict[str, Json]

SCALARS: Mapping[object, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
    date: {"type": "string", "format": "date"},
    time: {"type": "string", "format": "time"},
    UUID: {"type": "string", "format": "uuid"},
    Decimal: {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?$"},
    Any: {},
    object: {},
}
_ARRAYS = (list, Sequence, set, frozenset, Set)
_OBJECTS = (dict, Mapping)


class Hints:
    """Schemas of the hints of one function; types that refer to themselves end up in `definitions`.

    `closed` says whether objects refuse properties that their type does not name: arguments do, results need not.
    """

    def __init__(self, *, closed: bool = True) -> None:
        self.closed = closed
        self.definitions: dict[str, Json] = {}
        self._open: dict[type, bool] = {}

    def schema(self, hint: object) -> Schema:
        """The schema of one hint. Raises `SpecInvalid` where there is none."""
        try:
            scalar = SCALARS.get(hint)
        except TypeError:
            scalar = None
        if scalar is not None:
            return dict(scalar)
        origin = get_origin(hint)
        for fits, build in self._generic.items():
            if origin is not None and origin in fits:
                return build(self, hint)
        return self._named(hint)

    def _annotated(self, hint: object) -> Schema:
        inner, *notes = get_args(hint)
        schema = self.schema(inner)
        for note in notes:
            for keyword, value in _keywords(note, schema):
                schema[keyword] = value
        return schema

    def _union(self, hint: object) -> Schema:
        branches = [self.schema(each) for each in get_args(hint)]
        kinds: list[Json] = [each["type"] for each in branches if set(each) == {"type"}]
        if len(kinds) == len(branches):
            return {"type": kinds}
        return {"anyOf": [*branches]}

    def _literal(self, hint: object) -> Schema:
        return _choice([each.value if isinstance(each, Enum) else each for each in get_args(hint)])

    def _array(self, hint: object) -> Schema:
        schema: Schema = {"type": "array"}
        items = [each for each in get_args(hint) if each is not Any]
        if items:
            schema["items"] = self.schema(items[0])
        if get_origin(hint) in (set, frozenset, Set):
            schema["uniqueItems"] = True
        return schema

    def _tuple(self, hint: object) -> Schema:
        items = get_args(hint)
        if len(items) == 2 and items[1] is Ellipsis:
            return {"type": "array", "items": self.schema(items[0])}
        return {
            "type": "array",
            "prefixItems": [self.schema(each) for each in items],
            "minItems": len(items),
            "maxItems": len(items),
        }

    def _mapping(self, hint: object) -> Schema:
        key, value = get_args(hint)
        if key is not str:
            raise SpecInvalid(f"{hint}: the keys of a JSON object are strings; write dict[str, ...]")
        inner = self.schema(value)
        return {"type": "object", "additionalProperties": inner} if inner else {"type": "object"}

    _generic: Mapping[tuple[object, ...], Callable[[Hints, object], Schema]] = {
        (Annotated,): _annotated,
        (Union, types.UnionType): _union,
        (Literal,): _literal,
        tuple(get_origin(each[Any]) for each in _ARRAYS): _array,
        (tuple,): _tuple,
        tuple(get_origin(each[str, Any]) for each in _OBJECTS): _mapping,
    }

    def _named(self, hint: object) -> Schema:
        if hint in (list, tuple):
            return {"type": "array"}
        if hint in (set, frozenset):
            return {"type": "array", "uniqueItems": True}
        if hint is dict:
            return {"type": "object"}
        if isinstance(hint, type):
            return self._class(hint)
        supertype = getattr(hint, "__supertype__", None) or getattr(hint, "__value__", None)
        if supertype is not None:
            return self.schema(supertype)
        raise SpecInvalid(f"{hint!r} has no JSON Schema; use JSON types, dataclasses, TypedDicts, enums or Literal")

    def _class(self, hint: type) -> Schema:
        if issubclass(hint, Enum):
            return _choice([member.value for member in hint])
        if issubclass(hint, PurePath):
            return {"type": "string"}
        if hasattr(hint, "model_json_schema"):
            return self._model(hint)
        if is_dataclass(hint) or is_typeddict(hint):
            return self._recursive(hint)
        raise SpecInvalid(
            f"{hint.__qualname__} has no JSON Schema; use JSON types, dataclasses, TypedDicts, enums or Literal"
        )

    def _model(self, hint: type) -> Schema:
        """A pydantic model, or whatever answers like one, describes itself."""
        found = dict(hint.model_json_schema())  # type: ignore[attr-defined]
        self.definitions.update(found.pop("$defs", {}))
        if self.closed and "$ref" not in found:
            found.setdefault("additionalProperties", False)
        return found

    def _recursive(self, hint: type) -> Schema:
        """An object in place; only a type that is met again inside itself becomes a definition."""
        reference: Schema = {"$ref": f"#/$defs/{hint.__name__}"}
        if hint in self._open:
            self._open[hint] = True
            return reference
        self._open[hint] = False
        schema = self._object(hint)
        if not self._open.pop(hint):
            return schema
        self.definitions[hint.__name__] = schema
        return reference

    def _object(self, hint: type) -> Schema:
        hints = resolved(hint)
        if is_typeddict(hint):
            required = sorted(getattr(hint, "__required_keys__", ()), key=list(hints).index)
            properties: dict[str, Json] = {name: self.schema(_plain(each)) for name, each in hints.items()}
        else:
            members = [each for each in fields(hint) if each.init]
            required = [each.name for each in members if not _has_default(each)]
            properties = {each.name: self._member(each, hints[each.name]) for each in members}
        schema: Schema = {"type": "object", "properties": properties, "required": [*required]}
        if self.closed:
            schema["additionalProperties"] = False
        return schema

    def _member(self, member: Field[Any], hint: object) -> Schema:
        schema = self.schema(hint)
        if self.closed and member.default is not MISSING and _is_json(member.default):
            schema["default"] = member.default
        return schema


def resolved(owner: object) -> dict[str, Any]:
    """The hints of a function or class with forward references resolved."""
    try:
        return get_type_hints(owner, include_extras=True)
    except (NameError, TypeError, AttributeError) as fault:
        name = getattr(owner, "__qualname__", repr(owner))
        raise SpecInvalid(
            f"{name}: a type hint cannot be resolved ({fault}); define the type at module level"
        ) from fault


def _plain(hint: object) -> object:
    """The hint inside Required, NotRequired or ReadOnly."""
    while getattr(get_origin(hint), "__name__", getattr(get_origin(hint), "_name", "")) in _QUALIFIERS:
        hint = get_args(hint)[0]
    return hint


_QUALIFIERS = ("Required", "NotRequired", "ReadOnly")


def _keywords(note: object, schema: Schema) -> list[tuple[str, Json]]:
    if isinstance(note, Arg):
        return list(note.keywords(str(schema.get("type", ""))))
    if isinstance(note, str):
        return [("description", note)]
    return []


def _choice(values: list[Any]) -> Schema:
    kinds = {type(each) for each in values}
    if len(kinds) == 1 and kinds <= {str, int}:
        return {"type": "string" if kinds == {str} else "integer", "enum": values}
    return {"enum": values}


def _has_default(member: Field[Any]) -> bool:
    return member.default is not MISSING or member.default_factory is not MISSING


def _is_json(value: object) -> bool:
    return value is None or type(value) in (bool, int, float, str)
