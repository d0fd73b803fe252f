"""The project's examples of tools, from its files, and the stage on which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from interlock.core.errors import SpecInvalid
from interlock.doors.cli.faults import ExamplesInvalid
from interlock.importers.examples import Library, load_examples

if TYPE_CHECKING:
    from interlock.doors.cli.project import Project
    from interlock.rehearsal import Stage


def library_of(project: Project) -> Library:
    """Every example of the project. Raises `ExamplesInvalid` naming file and place, or where there is none."""
    folder = project.examples
    files = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
    if not files:
        raise ExamplesInvalid(f"there is no example in {folder}; `interlock tools example-from ID` makes one of a call")
    try:
        return load_examples(files)
    except (SpecInvalid, OSError) as fault:
        raise ExamplesInvalid(str(fault)) from fault


def stage_of(project: Project, library: Library) -> Stage:
    """Tools, policies and fixtures of the project. Raises `ToolsInvalid`, `SpecInvalid` or `ExamplesInvalid`."""
    from interlock.declare.given import read_policies
    from interlock.doors.cli.code import load_tools
    from interlock.doors.cli.session import has_policies
    from interlock.rehearsal import Stage

    tools = load_tools(project)
    policies = read_policies(project.policies) if has_policies(project) else ()
    return Stage(tools, policies, replace(project.settings), _fixtures(library))


def _fixtures(library: Library) -> dict[str, Callable[..., object]]:
    """The functions that examples name, by their names; the project's folder is where modules are looked for."""
    from interlock.importers.manifest import load_function

    found: dict[str, Callable[..., object]] = {}
    for name in _named(library):
        try:
            found[name] = load_function(name)
        except SpecInvalid as fault:
            raise ExamplesInvalid(f"the fixture {fault}") from fault
    return found


def _named(library: Library) -> Iterable[str]:
    return sorted({each.world.fixture for each in library.examples if each.world.fixture})
