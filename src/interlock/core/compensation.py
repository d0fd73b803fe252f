"""What undoes an effect: another tool's call, its arguments made of those of the effect and of what came of it.

A tool that names the one that undoes it says with a template what that one is called with:

    compensate="cancel_order", compensate_arguments={"order_id": "$result.id", "reason": "undone"}

A text that begins with `$` is a place: `$arguments.NAME`, `$result` or `$result.a.0.b`, `$operation` (the id of what is
undone), or `$done.NAME`, the elements of a list argument that were really done where the effect was done in part. `$$`
stands for a `$`. Without a template the other tool gets the arguments of the same names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interlock.core.canonical import Json
from interlock.core.catalogue import nearest
from interlock.core.effect import Effect
from interlock.core.frozen import frozen
from interlock.core.schema import compile_schema
from interlock.core.tool import ParameterSource, ToolSpec
from interlock.core.tool_parts import without

ROOTS = ("arguments", "done", "operation", "result")


@frozen
class Original:
    """An effect that is to be undone. `open_items` were never done, or are undone by now; None: nothing is said."""

    operation_id: str
    arguments: Mapping[str, Json]
    result: Json
    open_items: frozenset[str] | None = None


@frozen
class Unmade:
    """The arguments cannot be made; `why` is a sentence."""

    why: str


class _Empty(Exception):
    """Nothing stands at this place."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.place = place


def compensating(spec: ToolSpec, original: Original, *, other: ToolSpec) -> dict[str, Json] | Unmade:
    """The arguments that `other` is called with to undo a call of `spec`."""
    template = None if spec.compensate_arguments is None else spec.compensate_arguments.value
    if original.open_items is not None and not {"done", "result"} & {root for root, _ in _places(template)}:
        return Unmade("It was done in part, and its compensation does not say which items to undo.")
    if template is None:
        names = _names(_schema(other))
        return {name: value for name, value in original.arguments.items() if name in names}
    try:
        made = _made(template, original)
    except _Empty as empty:
        return Unmade(f"Its compensation needs {empty.place}, which is not on record.")
    return made if isinstance(made, dict) else Unmade("Its compensation has no arguments.")


def wrong_with(spec: ToolSpec, other: ToolSpec | None) -> Iterator[str]:
    """Sentences about a declared compensation that could never be called."""
    named = f"compensate names {spec.compensate!r}"
    if other is None:
        yield f"{named}, and there is no tool of that name"
        return
    if other.effect is Effect.READ:
        yield f"{named}, which only reads"
    if other.name == spec.name:
        yield f"{named}, which is itself"
    schema = _schema(other)
    given = _given(spec, schema)
    if not isinstance(given, dict):
        yield "compensate_arguments must be an object"
        return
    yield from _unfit(given, schema, other)
    yield from _lost(given, spec)
    yield from _mistyped(given, spec, schema)


def _given(spec: ToolSpec, schema: Mapping[str, Json]) -> Json:
    """The template, or what stands for none: the arguments of the same names."""
    if spec.compensate_arguments is not None:
        return spec.compensate_arguments.value
    return {name: f"$arguments.{name}" for name in _names(_schema(spec)) & _names(schema)}


def _unfit(given: Mapping[str, Json], schema: dict[str, Json], other: ToolSpec) -> Iterator[str]:
    """What the other tool does not take, and what it takes and is not given."""
    names, required = _names(schema), schema.get("required")
    for name in given.keys() - names:
        yield f"compensate_arguments names {name!r}, which {other.name} does not take{_hint(name, names)}"
    for needed in required if isinstance(required, list) else ():
        if needed not in given:
            yield f"compensate_arguments lacks {needed!r}, which {other.name} needs"
    constants = {name: value for name, value in given.items() if name in names and not list(_places(value))}
    found = compile_schema({**schema, "required": []}).violations(_made_constant(constants))
    if found:
        yield f"compensate_arguments does not fit {other.name}: {found[0].hint}"


def _lost(given: Json, spec: ToolSpec) -> Iterator[str]:
    """Places that lead nowhere."""
    arguments, results = _names(_schema(spec)), _result_names(spec)
    for root, path in _places(given):
        place = ".".join((f"${root}", *path))
        if root not in ROOTS:
            yield f"compensate_arguments has {place}, which is no place; there are {', '.join(ROOTS)}"
        elif root in ("arguments", "done") and (not path or path[0] not in arguments):
            yield f"compensate_arguments has {place}, which the input schema lacks{_hint(''.join(path[:1]), arguments)}"
        elif root == "result" and path and results and path[0] not in results:
            yield f"compensate_arguments has {place}, which the output schema lacks{_hint(path[0], results)}"


def _mistyped(given: Mapping[str, Json], spec: ToolSpec, schema: dict[str, Json]) -> Iterator[str]:
    """Places whose type is another than what the other tool takes."""
    sources = {"arguments": _schema(spec), "done": _schema(spec), "result": _result(spec)}
    for name, value in given.items():
        for root, path in _places(value) if isinstance(value, str) else ():
            has = _type(sources.get(root, {}), path[0]) if len(path) == 1 else None
            takes = _type(schema, name)
            if has and takes and has != takes and (has, takes) != ("integer", "number"):
                yield f"compensate_arguments gives {name} a {has}; it takes a {takes}"


# --- templates --------------------------------------------------------------------------------------------------------


def _places(template: Json) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every place in a template: its root and its path."""
    if isinstance(template, dict):
        template = [*template.values()]
    if isinstance(template, list):
        for each in template:
            yield from _places(each)
    elif isinstance(template, str) and template.startswith("$") and not template.startswith("$$"):
        root, *path = template[1:].split(".")
        yield root, tuple(path)


def _made(template: Json, original: Original) -> Json:
    """The template with what stands at its places. Raises `_Empty`."""
    if isinstance(template, dict):
        return {name: _made(each, original) for name, each in template.items()}
    if isinstance(template, list):
        return [_made(each, original) for each in template]
    for root, path in _places(template):
        return _at(root, path, original)
    return template[1:] if isinstance(template, str) and template.startswith("$$") else template


def _made_constant(template: Mapping[str, Json]) -> Json:
    return _made({**template}, Original("", {}, None))


def _at(root: str, path: tuple[str, ...], original: Original) -> Json:
    place = ".".join((f"${root}", *path))
    if root == "operation":
        return original.operation_id
    value: Json = original.result if root == "result" else {**original.arguments}
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            raise _Empty(place)
    if root == "done" and isinstance(value, list) and original.open_items:
        return [each for each in value if str(each) not in original.open_items]
    if value is None:
        raise _Empty(place)
    return value


# --- schemas ----------------------------------------------------------------------------------------------------------


def _schema(spec: ToolSpec) -> dict[str, Json]:
    """What a caller gives the tool: without what is injected."""
    schema = spec.input_schema.value
    injected = frozenset(each.name for each in spec.parameters if each.source is ParameterSource.CONTEXT)
    return without(schema, names=injected) if isinstance(schema, dict) else {}


def _result(spec: ToolSpec) -> dict[str, Json]:
    schema = None if spec.output_schema is None else spec.output_schema.value
    return schema if isinstance(schema, dict) else {}


def _result_names(spec: ToolSpec) -> frozenset[str]:
    return _names(_result(spec))


def _names(schema: Mapping[str, Json]) -> frozenset[str]:
    properties = schema.get("properties")
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def _type(schema: Mapping[str, Json], name: str) -> str | None:
    properties = schema.get("properties")
    found = properties.get(name) if isinstance(properties, dict) else None
    kind = found.get("type") if isinstance(found, dict) else None
    return kind if isinstance(kind, str) else None


def _hint(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f" (is it {close[0]}?)" if close else ""
