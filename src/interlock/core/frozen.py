"""Frozen, slotted dataclasses that cost a third of the standard ones: to make (thirty times in a call), and to define.

The standard library sets each field of a frozen instance through `object.__setattr__`. Here an instance is born of an
open class that has the slots, filled by plain assignment, and then given its frozen class, which adds nothing to the
open one but its methods: so the two are seen at once to be alike. Those methods come from one source per class instead
of six, which is half of what importing the package cost. All else is as `dataclass` made it: equality, hash, `replace`,
`match`, and an error on every later assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from functools import partial
from typing import Never, ParamSpec, TypeVar, dataclass_transform

P = ParamSpec("P")
T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """The class as a frozen, slotted dataclass. No inheritance, no `__post_init__`, no keyword-only fields."""
    if hasattr(kind, "__post_init__"):
        raise TypeError(f"{kind.__name__} has a __post_init__, which would not run")
    parts = fields(dataclass(init=False, repr=False, eq=False)(kind))  # type: ignore[arg-type]
    names = tuple(each.name for each in parts)
    opened = type(f"Open{kind.__name__}", (), {"__slots__": names})
    made = _on_slots_of(opened, kind, names)
    scope: dict[str, object] = {"_open": opened, "_kind": made}
    exec(_source(made, parts, scope), scope)  # noqa: S102 - as dataclass does: names only, from the class's own source
    for name in ("__new__", "__repr__", "__eq__", "__hash__"):
        if name not in kind.__dict__ or kind.__dict__[name] is None:
            setattr(made, name, scope[name])
    setattr(made, "_maker", staticmethod(scope["make"]))  # type: ignore[arg-type]  # noqa: B010
    made.__setattr__ = _refuse_to_set  # type: ignore[method-assign]
    made.__delattr__ = _refuse_to_delete  # type: ignore[method-assign]
    made.__reduce__ = _reduce  # type: ignore[method-assign]
    return made


@dataclass_transform(field_specifiers=(field,))
def slotted(kind: type[T]) -> type[T]:
    """The class as a slotted dataclass whose fields may be set, with a `maker` too."""
    made = dataclass(slots=True)(kind)
    scope: dict[str, object] = {"_open": partial(object.__new__, made)}
    parameters, lines = _filling(fields(made), scope)  # type: ignore[arg-type]
    exec("\n".join([f"def make({parameters}):", *lines, " return self"]), scope)  # noqa: S102 - as above
    setattr(made, "_maker", staticmethod(scope["make"]))  # type: ignore[arg-type]  # noqa: B010
    return made


def maker(kind: Callable[P, T]) -> Callable[P, T]:
    """The constructor of such a class as a plain function, for what every call makes: calling the class is slow."""
    make: Callable[P, T] = getattr(kind, "_maker")  # noqa: B009 - it is nobody's attribute but ours
    return make


def fields_of(kind: type[T]) -> Callable[[T], dict[str, object]]:
    """A function that gives the fields of a frozen class by name, as fast as if it were written out."""
    scope: dict[str, object] = {}
    shown = ", ".join(f"{each.name!r}: self.{each.name}" for each in fields(kind))  # type: ignore[arg-type]
    exec(f"def told(self): return {{{shown}}}", scope)  # noqa: S102 - as above
    told: Callable[[T], dict[str, object]] = scope["told"]  # type: ignore[assignment]
    return told


def _on_slots_of(opened: type, kind: type[T], names: tuple[str, ...]) -> type[T]:
    """The class anew, with the slots of the open one in the place of its fields' defaults."""
    bases = tuple(each for each in kind.__bases__ if each is not object)
    kept = {name: value for name, value in kind.__dict__.items() if name not in (*names, "__dict__", "__weakref__")}
    made: type[T] = type(kind.__name__, (opened, *bases), {**kept, "__slots__": ()})
    made.__qualname__ = kind.__qualname__
    return made


def _source(made: type, parts: tuple[Field[object], ...], scope: dict[str, object]) -> str:
    compared = [each.name for each in parts if each.compare]
    mine, other = (f"({''.join(f'{of}.{name}, ' for name in compared)})" for of in ("self", "other"))
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in parts if each.repr)
    return "\n".join([
        *_constructors(parts, scope),
        f"def __repr__(self): return f'{made.__qualname__}({shown})'",
        f"def __eq__(self, other): return {mine} == {other} if other.__class__ is self.__class__ else NotImplemented",
        f"def __hash__(self): return hash({mine})",
    ])  # fmt: skip


def _constructors(parts: tuple[Field[object], ...], scope: dict[str, object]) -> list[str]:
    parameters, lines = _filling(parts, scope)
    made = [*lines, " self.__class__ = _kind", " return self"]
    return [f"def make({parameters}):", *made, f"def __new__(_kind, {parameters}):", *made]


def _filling(parts: tuple[Field[object], ...], scope: dict[str, object]) -> tuple[str, list[str]]:
    """The parameters of a constructor, and the statements that fill an open instance."""
    lines = [" self = _open()"]
    for each in parts:
        value = f"_make_{each.name}() if {each.name} is _open else {each.name}" if _is_made(each) else each.name
        lines.append(f" self.{each.name} = {value}")
    return ", ".join(_parameter(each, scope) for each in parts), lines


def _parameter(each: Field[object], scope: dict[str, object]) -> str:
    if _is_made(each):
        scope[f"_make_{each.name}"] = each.default_factory
        return f"{each.name}=_open"
    if each.default is MISSING:
        return each.name
    scope[f"_default_{each.name}"] = each.default
    return f"{each.name}=_default_{each.name}"


def _is_made(each: Field[object]) -> bool:
    return each.default_factory is not MISSING


def _refuse_to_set(self: object, name: str, value: object) -> Never:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> Never:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), tuple(getattr(self, each.name) for each in fields(self))  # type: ignore[arg-type]
