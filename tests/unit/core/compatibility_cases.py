"""What tests of compatibility share: short schemas, parts of them, and a tool to make versions of."""

from dataclasses import replace
from typing import Any

from interlock.core.canonical import Json
from interlock.core.compatibility import Direction, Finding, Verdict, compare_schemas
from interlock.core.compatibility_facts import Facts
from interlock.core.compatibility_schemas import accepts, worst
from interlock.core.compatibility_side import Part, Side
from interlock.core.effect import Effect
from interlock.core.tool import Document, Entrypoint, ToolSpec

TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer"}
INPUT, OUTPUT = Direction.INPUT, Direction.OUTPUT


def closed(*required: str, **properties: Json) -> dict[str, Json]:
    """An object with these members and no others."""
    return {**opened(*required, **properties), "additionalProperties": False}


def opened(*required: str, **properties: Json) -> dict[str, Json]:
    """An object with these members, and nothing said of others."""
    found: dict[str, Json] = {"type": "object", "properties": dict(properties)}
    return {**found, "required": list(required)} if required else found


def of(**member: Json) -> dict[str, Json]:
    """An object whose member `a` is as said."""
    return closed(a=dict(member))


def facts(*schemas: dict[str, Json] | bool) -> Facts:
    return Facts([part(each) for each in schemas])


def part(schema: dict[str, Json] | bool) -> Part:
    side = Side(schema)
    return Part(side.root, side)


def judged(old: Any, new: Any, direction: Direction = INPUT) -> tuple[str, list[tuple[str, str, str]]]:
    """The verdict, and place, class and verdict of each finding that is not compatible. Witnesses are looked at."""
    found = compare_schemas(old, new, direction)
    check_witnesses(found, old, new, direction=direction)
    told = [(each.path, each.kind, each.verdict.value) for each in found if each.verdict is not Verdict.COMPATIBLE]
    return worst(found).value, told


def check_witnesses(found: tuple[Finding, ...], old: Any, new: Any, *, direction: Direction) -> int:
    """Every breaking finding has a value that one schema accepts and the other refuses; how many there are."""
    narrow, wide = (Side(old), Side(new)) if direction is INPUT else (Side(new), Side(old))
    shown = [each for each in found if each.verdict is Verdict.BREAKING]
    for each in shown:
        assert each.witness is not None
        assert accepts(narrow, direction, each.witness.value)
        assert not accepts(wide, direction, each.witness.value)
    return len(shown)


def spec(**changes: Any) -> ToolSpec:
    """A tool that saves a note, with changes."""
    schema = changes.pop("schema", closed("note", note=TEXT, text=TEXT))
    made = ToolSpec(
        name="save",
        description="Save a note.",
        input_schema=Document.of(schema),
        handler=Entrypoint("python", "notes:save", "0" * 64),
        effect=Effect.WRITE,
        version="1.0.0",
    )
    return replace(made, **changes)
