"""What tests of examples share: one tool's spec and an example of it, each with what a test wants otherwise."""

from typing import Any

from interlock.core.effect import Effect
from interlock.core.example import ExampleKind, Expected, ToolExample
from interlock.core.observation import Status
from interlock.core.tool import Document, Entrypoint, ToolSpec

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}, "required": [], "additionalProperties": False}


def spec(**changes: Any) -> ToolSpec:
    plain: dict[str, Any] = {
        "name": "look",
        "description": "Look something up.",
        "input_schema": Document.of(SCHEMA),
        "handler": Entrypoint("python", "m:look", "0" * 64),
        "effect": Effect.READ,
        "owner": "notes",
    }
    return ToolSpec(**{**plain, **changes})


def example(**changes: Any) -> ToolExample:
    expected = changes.pop("expected", Expected(status=Status.OK))
    return ToolExample(**{"name": "one", "tool": "look", "kind": ExampleKind.TYPICAL, "expected": expected, **changes})
