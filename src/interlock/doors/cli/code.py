"""Loads what a project's settings name: the tools that its modules, files and manifests declare, and its models."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from interlock.core.errors import InterlockError, SettingsInvalid
from interlock.doors.cli.answer import note
from interlock.doors.cli.faults import ToolsInvalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interlock.core.functions import Declaration
    from interlock.doors.cli.project import Project
    from interlock.importers.imported import Imported
    from interlock.loop.model import Model


def load_tools(project: Project) -> tuple[Declaration, ...]:
    """Every tool, once, in the order of the settings. Raises `ToolsInvalid` or `SpecInvalid` naming the place."""
    root = str(project.root)
    if root not in sys.path:
        sys.path.insert(0, root)
    found: dict[int, Declaration] = {}
    for place in project.tools:
        for each in _declared_in(place, project.root):
            found.setdefault(id(each), each)
    for place, load in _snapshots(project):
        found.update((id(each), each) for each in _imported(load, project.root / place))
    return tuple(found.values())


def load_file(path: Path, project: Project) -> tuple[Declaration, ...]:
    """The tools that one file declares, as if the project named it. Raises as `load_tools` does."""
    root = str(project.root)
    if root not in sys.path:
        sys.path.insert(0, root)
    return _declared_in(str(path.absolute()), project.root)


def load_models(project: Project) -> tuple[Model, ...]:
    """Every model that can be had; of the others it is told why not, since a run may not need them."""
    from dataclasses import replace

    from interlock.providers import model_of
    from interlock.providers.hosted import Hosted

    found: list[Model] = []
    for each in project.models:
        try:
            model = model_of(each.text, os.environ)
        except SettingsInvalid as fault:
            note(f"The model {each.name} cannot be asked: {fault}")
            continue
        if isinstance(model, Hosted):
            tokens_max = model.tokens_max if each.tokens_max is None else each.tokens_max
            model = replace(model, name=each.name, price=each.price, tokens_max=tokens_max)
        found.append(model)
    return tuple(found)


def _declared_in(place: str, root: Path) -> tuple[Declaration, ...]:
    from interlock.declare.given import is_declared

    if place.endswith((".yaml", ".yml")):
        return _of_manifest(root / place)
    module = _module(place, root)
    found = tuple(value for value in vars(module).values() if is_declared(value))
    if not found:
        raise ToolsInvalid(f"{place} declares no tool; put @tool(effect=...) above a function of it")
    return found


def _module(place: str, root: Path) -> ModuleType:
    try:
        return _of_file(root / place) if place.endswith(".py") else import_module(place)
    except InterlockError as fault:
        # What a tool declares is judged where it stands, so the place is known as that of any other fault of its code.
        fault.args = (f"{fault}{_where(fault, root)}", *fault.args[1:])
        raise
    except (Exception, SystemExit) as fault:  # a project's own code may raise anything while it is loaded
        raise ToolsInvalid(f"{place} cannot be loaded: {type(fault).__name__}: {fault}{_where(fault, root)}") from fault


def _where(fault: BaseException, root: Path) -> str:
    """The last line of the project's own code that the fault went through; a SyntaxError says its place itself."""
    own = [each for each in extract_tb(fault.__traceback__) if Path(each.filename).is_relative_to(root)]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


class _FromSource(SourceFileLoader):
    """Compiles the file each time: of one that was edited within a second, its size as before, Python keeps the old."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = compile(self.get_data(self.path), self.path, "exec", dont_inherit=True)
        return code


def _of_file(path: Path) -> ModuleType:
    """The module of a file, under its plain name: the name is part of the fingerprint of every tool in it."""
    if not path.is_file():
        raise ToolsInvalid(f"there is no file {path}")
    held = sys.modules.get(path.stem)
    if held is not None and getattr(held, "__file__", None) == str(path):
        return held
    if held is not None or path.stem in sys.stdlib_module_names:
        raise ToolsInvalid(f"{path.name} has the name of another module; give the file a name of its own")
    loader = _FromSource(path.stem, str(path))
    spec = spec_from_file_location(path.stem, path, loader=loader)
    if spec is None:
        raise ToolsInvalid(f"{path} is no Python file")
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    return module


def refused_imports(project: Project) -> tuple[str, ...]:
    """What is to be said of imported tools that were allowed and have drifted since. Raises `ToolsInvalid`."""
    return tuple(each for place, load in _snapshots(project) for each in _read(load, project.root / place)[1])


def _of_manifest(path: Path) -> tuple[Declaration, ...]:
    from interlock.importers.manifest import declared

    try:
        return declared(path)
    except OSError as fault:
        raise ToolsInvalid(f"{path.name} cannot be read: {fault.strerror}") from fault


def _snapshots(project: Project) -> Iterator[tuple[str, Callable[[Path], Imported]]]:
    """The snapshots that the settings name, each with what imports it. What is not named is not loaded either."""
    if not (project.openapi or project.mcp or project.python):
        return
    from interlock.importers.imported import import_mcp, import_openapi, import_python

    kinds = ((project.openapi, import_openapi), (project.mcp, import_mcp), (project.python, import_python))
    yield from ((place, load) for places, load in kinds for place in places)


def _imported(load: Callable[[Path], Imported], path: Path) -> tuple[Declaration, ...]:
    """The tools of a snapshot; what makes none any longer is told, and left out."""
    tools, refused = _read(load, path)
    for each in refused:
        note(f"{each}.")
    return tools


def _read(load: Callable[[Path], Imported], path: Path) -> tuple[tuple[Declaration, ...], tuple[str, ...]]:
    """The tools of a snapshot, and what is to be said of those that it allows and that are none any longer."""
    try:
        found = load(path)
    except OSError as fault:
        raise ToolsInvalid(f"{fault.filename} cannot be read: {fault.strerror}") from fault
    named = [(f"{each.name} ({each.key})" if each.name else each.key, each.reason) for each in found.refused]
    return found.tools, tuple(f"{name} of {path.name} is no tool: {reason}" for name, reason in named)
