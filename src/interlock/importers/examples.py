"""Reads and writes examples of tools as YAML: the same that is kept in a store, so that nothing is lost on the way.

examples:
  - name: what a note says
    tool: read_note
    kind: typical
    caller: {id: alice, groups: [notes]}
    arguments: {title: hello}
    world:
      answers: [{gives: Good morning.}]
    expected: {status: ok, data: Good morning.}
    expires: 2027-06-30
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, Final

import yaml

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid
from interlock.core.example import ToolExample, plain
from interlock.core.example_check import contradictions
from interlock.core.selection import SelectionCase
from interlock.declare.typed_values import check_keys, typed
from interlock.importers.yaml_text import read_yaml

FORMAT: Final = ("examples", "selection")
_TIMES: Final = ("expires", "now", "at")
_HEAD: Final = "# Examples of tools: each runs against a gate of its own. `interlock tools test` runs them.\n"
_EVERY: Final = re.compile(r"[1-9][0-9]{0,5}[smhd]")


class Library:
    """What files of examples hold: examples of calls, and words of users that must lead to a tool or past it."""

    __slots__ = ("examples", "selection")

    def __init__(self, examples: Iterable[ToolExample] = (), selection: Iterable[SelectionCase] = ()) -> None:
        self.examples = tuple(examples)
        self.selection = tuple(selection)


def read_examples(text: str) -> Library:
    """The library of one file. Raises `SpecInvalid` with the place, and the nearest key for one that nothing reads."""
    given = read_yaml(text)
    if not isinstance(given, dict):
        raise SpecInvalid("a file of examples is a mapping with the list examples:, the list selection:, or both")
    check_keys(given, FORMAT, path="the file")
    examples = [_example(each, path=f"examples[{at}]") for at, each in enumerate(_listed(given, "examples"))]
    cases = [_case(each, path=f"selection[{at}]") for at, each in enumerate(_listed(given, "selection"))]
    return _once(Library(examples, cases))


def load_examples(files: Iterable[Path]) -> Library:
    """The library of several files. Raises `SpecInvalid` naming the file and the place."""
    examples: list[ToolExample] = []
    cases: list[SelectionCase] = []
    for file in files:
        try:
            found = read_examples(file.read_text(encoding="utf-8"))
        except (SpecInvalid, UnicodeDecodeError) as fault:
            raise SpecInvalid(f"{file.name}: {fault}") from fault
        examples += found.examples
        cases += found.selection
    return _once(Library(examples, cases))


def write_examples(library: Library) -> str:
    """The file that says the same: `read_examples` gives back an equal library."""
    lists = {"examples": library.examples, "selection": library.selection}
    said: dict[str, Json] = {name: [plain(each) for each in found] for name, found in lists.items() if found}
    # Written and read once more: equal parts that are one object would be written as aliases, which are not read.
    value = json.loads(json.dumps(said))
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return _HEAD + yaml.dump(value, Dumper=dumper, sort_keys=False, allow_unicode=True, width=120)


def _listed(given: Mapping[str, Any], name: str) -> list[object]:
    found = given.get(name) or []
    if not isinstance(found, list):
        raise SpecInvalid(f"{name}: it must be a list")
    return found


def _example(given: object, *, path: str) -> ToolExample:
    value = _dated(given, path)
    expected = value.get("expected") if isinstance(value, dict) else None
    if isinstance(expected, dict) and "data" in expected and expected["data"] is None:
        raise SpecInvalid(f"{path}.expected.data: say data_schema: {{type: 'null'}} where the result has to be null")
    found: ToolExample = typed(value, ToolExample, path=path)
    wrong = [*contradictions(found), *_on_texts(found)]
    if wrong:
        raise SpecInvalid(f"{path} ({found.name}): {'; '.join(wrong)}")
    return found


def _on_texts(example: ToolExample) -> Iterable[str]:
    for what, text, kind in (("expires", example.expires, date), ("world.now", example.world.now, datetime)):
        try:
            _ = text and kind.fromisoformat(text)
        except ValueError:
            yield f"{what} must be a {'date such as 2027-06-30' if kind is date else 'time such as 2027-06-30T08:00Z'}"
    if example.every and not _EVERY.fullmatch(example.every):
        yield "every must be a time such as 30m, 6h or 1d"
    if example.every and not example.probe:
        yield "it has a schedule and is no probe: say probe: true"


def _case(given: object, *, path: str) -> SelectionCase:
    found: SelectionCase = typed(given, SelectionCase, path=path)
    if not found.words.strip():
        raise SpecInvalid(f"{path}: words is what a user says; it is empty")
    return found


def _dated(value: object, path: str, key: str = "") -> Any:
    """YAML reads what looks like a date as one: kept as text where it is meant, refused where a tool would get it."""
    if isinstance(value, date | datetime):
        if key in _TIMES:
            return value.isoformat()
        raise SpecInvalid(f"{path}: YAML reads {value.isoformat()} as a date; quote it")
    if isinstance(value, dict):
        return {name: _dated(each, f"{path}.{name}", str(name)) for name, each in value.items()}
    if isinstance(value, list):
        return [_dated(each, f"{path}[{at}]") for at, each in enumerate(value)]
    if not isinstance(value, str | int | float | bool | None):
        raise SpecInvalid(f"{path}: a {type(value).__name__} is no JSON value")
    return value


def _once(library: Library) -> Library:
    """Names lead to one example each: results are kept under them."""
    names: set[tuple[str, str]] = set()
    for each in library.examples:
        if (each.tool, each.name) in names:
            raise SpecInvalid(f"two examples of {each.tool} have the name {each.name!r}")
        names.add((each.tool, each.name))
    return library
