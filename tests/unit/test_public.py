"""Whatever a desk of the gate takes or gives can be named by a program: it stands in a documented module."""

import ast
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from types import FunctionType
from typing import Any, get_args, get_type_hints

import interlock
from interlock.assemble import Gate
from interlock.loop.desk import Run, RunDesk
from interlock.runtime.probes import ProbeDesk

DOCUMENTED = ("interlock", "interlock.copies", "interlock.lifecycle")
"""Where docs/library.md says that public names are."""

LATER = {"runs": RunDesk, "probes": ProbeDesk}
"""Desks that are made when they are first asked for."""

BETWEEN_ROOMS = {
    "Gate": {"refuse", "resume", "look_up", "look_again_with", "unreported", "propose", "see_through"},
    "Health": {"report"},
    "RecoveryDesk": {"look_again"},
    "Shadows": {"note"},
    "CatalogueDesk": {"find_runs_with"},
}
"""What rooms of ours say to each other: parameters and results of these need no public name."""


async def test_every_type_that_a_desk_takes_or_gives_can_be_imported_from_a_documented_module() -> None:
    async with Gate.open() as gate:
        desks = {Gate, Run, *LATER.values(), *map(type, _desks(gate))}
    told = {
        f"{each.__module__}.{each.__qualname__}": f"{desk.__name__}.{name}"
        for desk in desks
        for name, function in _methods(desk)
        for each in _own_types(function)
        if each not in desks and not _is_public(each)
    }
    assert told == {}


def _desks(gate: Gate) -> Iterator[object]:
    own = {name: each for name, each in vars(gate).items() if not name.startswith("_")}
    return (
        each for each in own.values() if type(each).__module__.startswith("interlock.") and not _is_public(type(each))
    )


def _methods(desk: type) -> Iterator[tuple[str, FunctionType]]:
    for name, found in inspect.getmembers(desk):
        function: Any = found.fget if isinstance(found, property) else found
        function = inspect.unwrap(getattr(function, "__func__", function))
        is_inner = name.startswith("_") or name in BETWEEN_ROOMS.get(desk.__name__, ())
        if not is_inner and isinstance(function, FunctionType):
            yield name, function


def _own_types(function: FunctionType) -> Iterator[type]:
    module = sys.modules[function.__module__]
    hints = get_type_hints(function, vars(module), _for_type_checkers(module.__name__))
    return (each for hint in hints.values() for each in _types(hint) if each.__module__.startswith("interlock."))


def _types(hint: object) -> Iterator[type]:
    parts = hint if isinstance(hint, list | tuple) else get_args(hint)
    if isinstance(hint, type) and not parts:
        yield hint
    for each in parts:
        yield from _types(each)


def _for_type_checkers(module: str) -> dict[str, object]:
    """What a module imports where only a type checker looks."""
    blocks = [each for each in ast.parse(inspect.getsource(sys.modules[module])).body if isinstance(each, ast.If)]
    told = [each for block in blocks for each in block.body if isinstance(each, ast.ImportFrom) and each.module]
    names = {"Json": object}  # it names itself, which cannot be worked out
    for each in told:
        names |= {name.asname or name.name: getattr(import_module(str(each.module)), name.name) for name in each.names}
    return names


def _is_public(found: type) -> bool:
    names = (getattr(import_module(place), "__all__", ()) for place in DOCUMENTED)
    modules = map(import_module, DOCUMENTED)
    return any(getattr(module, name) is found for module, has in zip(modules, names, strict=True) for name in has)


def test_the_documented_modules_are_named_to_readers() -> None:
    page = " ".join((inspect.getdoc(interlock) or "").split())
    assert all(f"`{each}`" in page for each in DOCUMENTED[1:])
