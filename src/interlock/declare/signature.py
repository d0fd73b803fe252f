"""From a function's signature to the input schema, the parameters and the conversions of its tool."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.frozen import frozen
from interlock.core.functions import Binary, Context, Result
from interlock.core.tool import Parameter, ParameterSource
from interlock.declare.arg import Arg
from interlock.declare.conversion import Conversion, conversion
from interlock.declare.hints import Hints, Schema, resolved


@frozen
class Signature:
    """What a function's signature says of its tool."""

    input_schema: Schema
    output_schema: Schema | None
    parameters: tuple[Parameter, ...]
    conversions: Mapping[str, Conversion]


def read_signature(function: Callable[..., object], *, descriptions: Mapping[str, str]) -> Signature:
    """The tool's side of a function. Raises `SpecInvalid` for a parameter that no JSON object can fill."""
    name = name_of(function)
    hints, reading = resolved(inspect.unwrap(function)), Hints()
    properties: dict[str, Json] = {}
    required: list[Json] = []
    known: list[Parameter] = []
    for each in _parameters(function):
        hint = _hint(name, each, hints)
        if hint is Context:
            continue
        schema = reading.schema(hint)
        if descriptions.get(each.name):
            schema.setdefault("description", descriptions[each.name])
        properties[each.name] = schema
        if each.default is inspect.Parameter.empty:
            required.append(each.name)
        else:
            _default(schema, each, name)
        known += _meaning(each.name, hint)
    inputs: Schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    if reading.definitions:
        inputs["$defs"] = dict(reading.definitions)
    result = Any if inspect.isasyncgenfunction(function) else hints.get("return", Any)
    return Signature(inputs, _output(result), tuple(known), conversions_of(function))


def conversions_of(function: Callable[..., object]) -> dict[str, Conversion]:
    """How to turn JSON values into what the parameters are annotated with; parameters of JSON types need nothing."""
    hints = resolved(inspect.unwrap(function))
    hints.pop("return", None)
    found = {name: conversion(hint) for name, hint in hints.items() if hint is not Context}
    return {name: convert for name, convert in found.items() if convert is not None}


def check_fit(function: Callable[..., object], *, schema: Mapping[str, Json]) -> None:
    """Refuse a handler that cannot be called with what the schema lets through. Raises `SpecInvalid`."""
    name = name_of(function)
    listed, needed = schema.get("properties"), schema.get("required")
    properties = listed if isinstance(listed, dict) else {}
    required = needed if isinstance(needed, list) else []
    parameters = {each.name: each for each in _parameters(function)}
    for wanted in parameters.values():
        if wanted.name in context_parameters(function):
            continue
        if wanted.name not in properties:
            raise SpecInvalid(f"{name}: the parameter {wanted.name} is not in the input schema")
        if wanted.default is inspect.Parameter.empty and not (
            wanted.name in required or _has_default(properties[wanted.name])
        ):
            raise SpecInvalid(f"{name}: the parameter {wanted.name} has no default, but the schema does not require it")
    for offered in properties:
        if offered not in parameters:
            raise SpecInvalid(f"{name}: the schema has {offered}, but the function has no such parameter")


def context_parameters(function: Callable[..., object]) -> frozenset[str]:
    """The parameters that are filled with the `Context`."""
    hints = resolved(inspect.unwrap(function))
    return frozenset(name for name, hint in hints.items() if hint is Context)


def name_of(function: Callable[..., object]) -> str:
    """A function's name, as it is told to people."""
    return str(getattr(function, "__name__", type(function).__name__))


def _parameters(function: Callable[..., object]) -> list[inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())
    for each in found:
        if each.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise SpecInvalid(f"{name_of(function)}: *{each.name} has no schema; name each parameter")
        if each.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise SpecInvalid(f"{name_of(function)}: {each.name} is positional only; tools are called by keyword")
    return found


def _hint(name: str, parameter: inspect.Parameter, hints: Mapping[str, object]) -> object:
    if parameter.name not in hints:
        raise SpecInvalid(f"{name}: the parameter {parameter.name} has no type; annotate it")
    return hints[parameter.name]


def _default(schema: Schema, parameter: inspect.Parameter, name: str) -> None:
    """A default that JSON can say becomes part of the schema; None where the type has no null means absent."""
    value = parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
    if value is None and not _nullable(schema):
        return
    if not _is_json(value):
        raise SpecInvalid(f"{name}: the default of {parameter.name} is no JSON value; use None and fill it in the body")
    schema["default"] = value


def _nullable(schema: Schema) -> bool:
    kinds, branches = schema.get("type"), schema.get("anyOf")
    if isinstance(kinds, list):
        return "null" in kinds
    return kinds == "null" or (isinstance(branches, list) and {"type": "null"} in branches)


def _is_json(value: object) -> bool:
    if isinstance(value, list):
        return all(map(_is_json, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(each) for key, each in value.items())
    return value is None or type(value) in (bool, int, float, str)


def _has_default(schema: Json) -> bool:
    return isinstance(schema, dict) and "default" in schema


def _meaning(name: str, hint: object) -> list[Parameter]:
    if get_origin(hint) is not Annotated:
        return []
    for note in get_args(hint)[1:]:
        if isinstance(note, Arg) and (
            note.unit or note.currency or note.sensitive or note.inject or note.source.value != "model"
        ):
            source = ParameterSource.CONTEXT if note.inject else note.source
            return [Parameter(name, note.unit, note.currency, note.sensitive, source, note.inject)]
    return []


def _output(hint: object) -> Schema | None:
    """What a result looks like, as far as the return annotation says it: nothing for Any, object, None and `Result`."""
    if hint in (Any, object, None, type(None), Result, Binary):
        return None
    reading = Hints(closed=False)
    schema = reading.schema(hint)
    if reading.definitions:
        schema["$defs"] = dict(reading.definitions)
    return schema or None
