"""Holds what a handler takes and gives against the schemas that its tool declares, where the two were said apart.

A declared input schema may let through less than the handler takes, never more; a declared output schema may allow more
than the handler gives, never less. The comparison is that of versions, with a value that shows each disagreement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from interlock.core.canonical import Json
from interlock.core.compatibility import Direction, Finding, Verdict, compare_schemas
from interlock.core.functions import Declaration
from interlock.core.tool import Document

Schema = Mapping[str, Json]


@runtime_checkable
class OfItself(Protocol):
    """A declared tool whose handler says what it takes and gives; None where that is where its schemas are from."""

    @property
    def takes(self) -> Schema | None: ...

    @property
    def gives(self) -> Schema | None: ...


def disagreements(tool: Declaration) -> tuple[Finding, ...]:
    """What the declared schemas promise that the handler does not keep, surely or perhaps (`uncertain`)."""
    if not isinstance(tool, OfItself):
        return ()
    spec = tool.spec()
    found = [
        *_compared(spec.input_schema, tool.takes, Direction.INPUT),
        *_compared(spec.output_schema, tool.gives, Direction.OUTPUT),
    ]
    return tuple(each for each in found if each.verdict is not Verdict.COMPATIBLE)


def _compared(declared: Document | None, own: Schema | None, direction: Direction) -> tuple[Finding, ...]:
    value = None if declared is None else declared.value
    if own is None or not isinstance(value, dict):
        return ()
    return compare_schemas(value, own, direction)
