"""Holds what came of an example against what it expects, and names each difference by its place."""

from __future__ import annotations

import json
from collections.abc import Iterator

from interlock.core.canonical import Json, canonical
from interlock.core.example import EXPECTS, Expected, ToolExample
from interlock.core.frozen import frozen
from interlock.core.observation import Observation
from interlock.core.schema import compile_schema

SHOWN_MAX = 200


@frozen
class Came:
    """What came of an example. `effects` counts what may have been changed, `roles` are those whom an approval took."""

    seen: Observation
    effects: int = 0
    roles: tuple[str, ...] = ()


@frozen
class Difference:
    """One place in which it is otherwise. `path` is a JSON pointer below `data`, or the name of what is compared."""

    path: str
    wanted: str
    got: str

    def __str__(self) -> str:
        return f"{self.path}: expected {self.wanted}, got {self.got}"


def differences(example: ToolExample, came: Came) -> tuple[Difference, ...]:
    """Where what came is not what the example expects; empty where it passes."""
    return tuple(_differences(example, came))


def contradictions(example: ToolExample) -> tuple[str, ...]:
    """What an example says that cannot be meant, in sentences."""
    return tuple(_contradictions(example))


def _differences(example: ToolExample, came: Came) -> Iterator[Difference]:
    expected, seen = example.expected, came.seen
    error = seen.error
    code = "" if error is None else error.code.value
    tool_code = "" if error is None else str(error.details.get("tool_code", ""))
    yield from _plain("status", expected.status.value, seen.status.value)
    if expected.code or code:
        yield from _plain("code", expected.code, code)
    if expected.tool_code:
        yield from _plain("tool_code", expected.tool_code, tool_code)
    if expected.effects is not None:
        yield from _plain("effects", expected.effects, came.effects)
    if expected.roles is not None:
        yield from _plain("roles", [*sorted(expected.roles)], [*sorted(came.roles)])
    if expected.replayed is not None:
        yield from _plain("replayed", expected.replayed, seen.replayed)
    yield from _on_data(expected, seen)


def _on_data(expected: Expected, seen: Observation) -> Iterator[Difference]:
    if expected.data is not None:
        yield from _partly(expected.data.value, seen.data, path="data")
    if expected.data_schema is not None:
        schema = expected.data_schema.value
        if isinstance(schema, dict | bool) and not compile_schema(schema).is_valid(seen.data):
            yield Difference("data", f"what fits {_short(schema)}", _short(seen.data))


def _partly(wanted: Json, got: Json, *, path: str) -> Iterator[Difference]:
    """Of objects the members that are named, of lists all items, of all else the same value of the same type."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        for name, each in wanted.items():
            place = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in got:
                yield from _partly(each, got[name], path=place)
            else:
                yield Difference(place, _short(each), "nothing")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for at, (each, other) in enumerate(zip(wanted, got, strict=True)):
            yield from _partly(each, other, path=f"{path}/{at}")
    elif canonical(wanted) != canonical(got):
        yield Difference(path, _short(wanted), _short(got))


def _plain(path: str, wanted: Json, got: Json) -> Iterator[Difference]:
    if canonical(wanted) != canonical(got):
        yield Difference(path, _short(wanted) if wanted else "none", _short(got) if got else "none")


def _contradictions(example: ToolExample) -> Iterator[str]:
    expected = example.expected
    may = EXPECTS[example.kind]
    if expected.status not in may:
        yield f"one of the kind {example.kind} ends {' or '.join(sorted(may))}, not {expected.status}"
    for each in (*example.world.answers, *(one for many in example.world.others.values() for one in many)):
        if sum((bool(each.fails), each.hangs, each.lost)) > 1:
            yield "an answer either fails, hangs or is lost"
    if example.world.fixture and example.world.answers:
        yield "its world has answers and a fixture: one of the two stands in for the tool"
    if example.world.real and example.world.is_declared:
        yield "its world is real and says what the tool answers: leave one of the two out"
    if example.raw is not None and example.arguments.value:
        yield "it has arguments and raw text in their place: leave one of the two out"
    schema = None if expected.data_schema is None else expected.data_schema.value
    if schema is not None and not isinstance(schema, dict | bool):
        yield "its data_schema is no JSON Schema"


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}… ({len(text)} characters)"
