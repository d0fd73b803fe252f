"""Frozen, slotted dataclasses that cost a third of the standard ones to make; a call makes some thirty of them.

The standard library sets each field of a frozen instance through `object.__setattr__`. Here an instance is born as an
open twin with the same slots, filled by plain assignment, and then given its frozen class. All else is as `dataclass`
made it: equality, `replace`, `match`, and an error on every later assignment.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def frozen(kind: type[T]) -> type[T]:
    """The class as a frozen, slotted dataclass. No inheritance, no `__post_init__`, no keyword-only fields."""
    made = dataclass(frozen=True, slots=True)(kind)
    names = tuple(each.name for each in fields(made))  # type: ignore[arg-type]
    twin = type(f"Open{kind.__name__}", (), {"__slots__": names})
    scope: dict[str, object] = {"_twin": twin, "_new": object.__new__}
    exec(_source(made, scope), scope)  # noqa: S102 - as dataclass does: names only, from the class's own source
    made.__new__ = scope["__new__"]  # type: ignore[method-assign,assignment]
    made.__reduce__ = _reduce  # type: ignore[method-assign]
    del made.__init__
    return made


def _source(made: type, scope: dict[str, object]) -> str:
    parameters = ", ".join(_parameter(each, scope) for each in fields(made))
    lines = [f"def __new__(cls, {parameters}):", " self = _new(_twin)"]
    for each in fields(made):
        value = f"_make_{each.name}() if {each.name} is _twin else {each.name}" if _is_made(each) else each.name
        lines.append(f" self.{each.name} = {value}")
    return "\n".join([*lines, " self.__class__ = cls", " return self"])


def _parameter(each: Field[object], scope: dict[str, object]) -> str:
    if _is_made(each):
        scope[f"_make_{each.name}"] = each.default_factory
        return f"{each.name}=_twin"
    if each.default is MISSING:
        return each.name
    scope[f"_default_{each.name}"] = each.default
    return f"{each.name}=_default_{each.name}"


def _is_made(each: Field[object]) -> bool:
    return each.default_factory is not MISSING


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]
