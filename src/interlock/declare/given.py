"""What a host gives to open a gate, refused with a sentence where it is not what opening takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from types import UnionType
from typing import TypeGuard

from interlock.core.errors import SettingsInvalid, SpecInvalid
from interlock.core.functions import Declaration
from interlock.core.policy import PolicySource


def tools_of(given: object) -> tuple[Declaration, ...]:
    """The tools: any collection of what `@tool` or a manifest made. Raises `SpecInvalid` naming what is none."""
    if not isinstance(given, Iterable):
        raise SpecInvalid(f"tools is a collection, such as tools=[{_named(given)}]")
    return tuple(_declared(each) for each in given)


def is_declared(each: object) -> TypeGuard[Declaration]:
    """Whether this is a tool, of whatever kind: also of one whose extra is not installed here."""
    return not isinstance(each, type) and hasattr(each, "code") and callable(getattr(each, "spec", None))


def sources_of(given: object) -> tuple[PolicySource, ...]:
    """The policies: one source, or any collection of them. Raises `SettingsInvalid` naming what is none."""
    found = given if isinstance(given, Iterable) else (given,)
    return tuple(_source(each) for each in found)


def read_policies(given: str | Path | Iterable[PolicySource]) -> tuple[PolicySource, ...]:
    """The sources given, or the `.cedar` files of a folder, by name. Raises `SettingsInvalid` where there is none."""
    if not isinstance(given, str | Path):
        return sources_of(given)
    refuse_text_for_folder(given)
    folder = Path(given).absolute()
    files = sorted(folder.glob("*.cedar"))
    if not files:
        raise SettingsInvalid(f"there is no .cedar file in {folder}; `interlock init` writes a starter policy")
    return tuple(PolicySource(file.stem, file.read_text(encoding="utf-8")) for file in files)


def refuse_text_for_folder(folder: str | PurePath) -> None:
    """A text of policies where a folder is named would be looked for as a file. Raises `SettingsInvalid`."""
    if isinstance(folder, str) and ("permit" in folder or "forbid" in folder) and "(" in folder:
        raise SettingsInvalid(f"policies as one text names a folder; {_AS_SOURCE}")


def refuse_unknown(unknown: Mapping[str, object], *, homes: Mapping[str, Iterable[str]]) -> None:
    """An option that opening does not have: says where it belongs. Raises `SettingsInvalid`.

    `homes` are the places that have options of their own, each with their names.
    """
    for name in unknown:
        found = [f"{home.lower()}={home}({name}=...)" for home, names in homes.items() if name in names]
        belongs = f"give {' or '.join(found)}" if found else "it takes a path, tools, policies, settings and host"
        raise SettingsInvalid(f"Gate.open has no option {name!r}; {belongs}")


def refuse_unlike(given: Mapping[str, tuple[object, type | UnionType]]) -> None:
    """What is not of its kind, such as a mapping for settings. Raises `SettingsInvalid`."""
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            raise SettingsInvalid(f"{name} takes {name.capitalize()}(...), not a {type(value).__name__}")


_AS_SOURCE = 'give policies=[PolicySource("name", "permit (...);")], whose name their ids begin with'


def _declared(each: object) -> Declaration:
    if is_declared(each):
        return each
    raise SpecInvalid(f"tools holds {_named(each)}, which is no tool: put @tool(effect=...) on the function")


def _source(each: object) -> PolicySource:
    if isinstance(each, PolicySource):
        return each
    if isinstance(each, PurePath):
        raise SettingsInvalid(
            f"policies holds the path {each}: name the folder alone, as policies={str(each.parent)!r}"
        )
    raise SettingsInvalid(f"policies holds a {type(each).__name__}, and not a PolicySource: {_AS_SOURCE}")


def _named(value: object) -> str:
    return str(getattr(value, "__name__", type(value).__name__))
