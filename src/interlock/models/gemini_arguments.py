"""Puts arguments together that Gemini streams value by value, each under a JSON path.

Source: the Vertex AI reference, `streamFunctionCallArguments`. Values stay apart until the call ends, so that nothing
half-written can be taken for the whole. A text goes on under its path while the piece before said so. What contradicts
itself (a path twice, a gap in a list, a member of a text) is no arguments at all: it is handed out as the list of
pieces that came, which no schema of arguments accepts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias

_STEP: Final = re.compile(
    r"""\.(?P<plain>[^.\[\]]+)|\[(?P<index>[0-9]{1,6})\]"""
    r"""|\['(?P<single>(?:[^'\\]|\\.)*)'\]|\["(?P<double>(?:[^"\\]|\\.)*)"\]""",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_STEPS_MAX: Final = 64

Path: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class PartialArguments:
    """The pieces of one call's arguments, in the order of their coming: a text as its pieces, a value on its own."""

    _found: dict[Path, list[str] | tuple[object]] = field(default_factory=dict)
    _whole: dict[str, object] = field(default_factory=dict)
    _going_on: set[Path] = field(default_factory=set)
    _pieces: list[object] = field(default_factory=list)
    _contradicted: bool = False
    _last: tuple[str, Path] = ("", ())

    def add(self, pieces: object) -> None:
        """Take the `partialArgs` of one part."""
        for piece in pieces if isinstance(pieces, list) else ():
            self._pieces.append(piece)
            self._contradicted = not (isinstance(piece, dict) and self._take(piece)) or self._contradicted

    def add_whole(self, arguments: object) -> None:
        """Take arguments that came as one object, once and before any piece."""
        if isinstance(arguments, dict) and not self._pieces:
            self._whole = arguments
        elif arguments:
            self._contradicted = True
        if arguments:
            self._pieces.append(arguments)

    @property
    def whole(self) -> bool:
        """No text waits for its end."""
        return not self._going_on

    def raw(self) -> str:
        """The arguments as JSON text: an object, or the list of the pieces where they make none."""
        built = None if self._contradicted else self._built()
        return json.dumps(self._pieces if built is None else built)

    def _take(self, piece: Mapping[str, object]) -> bool:
        path = self._path(piece.get("jsonPath"))
        if not path:
            return False
        text = piece.get("stringValue")
        if isinstance(text, str) and path in self._going_on and piece.get("willContinue") is True:
            return self._take_text(path, text)
        taken = self._take_text(path, text) if isinstance(text, str) else self._take_value(path, piece)
        if piece.get("willContinue") is True:
            self._going_on.add(path)
        else:
            self._going_on.discard(path)
        return taken

    def _take_text(self, path: Path, text: str) -> bool:
        found = self._found.setdefault(path, [])
        if not isinstance(found, list) or (found and path not in self._going_on):
            return False
        found.append(text)
        return True

    def _take_value(self, path: Path, piece: Mapping[str, object]) -> bool:
        """A number, a boolean or null. A piece without a value ends a text that went on, or names what follows."""
        if "nullValue" in piece:
            value: object = None
        elif isinstance(piece.get("boolValue"), bool):
            value = piece["boolValue"]
        elif isinstance(piece.get("numberValue"), int | float) and not isinstance(piece["numberValue"], bool):
            value = piece["numberValue"]
        else:
            return path in self._going_on
        return self._found.setdefault(path, found := (value,)) is found

    def _path(self, text: object) -> Path:
        """The steps of a path, empty for one that cannot be read. Pieces of one text repeat their path."""
        if not isinstance(text, str):
            return ()
        if text != self._last[0]:
            self._last = (text, _steps(text))
        return self._last[1]

    def _built(self) -> dict[str, object] | None:
        root = deepcopy(self._whole)
        for path, found in self._found.items():
            value = "".join(found) if isinstance(found, list) else found[0]
            if not _place(root, path=path, value=value):
                return None
        return root


def _steps(text: str) -> Path:
    if not text.startswith("$"):
        return ()
    at, steps = 1, list[str | int]()
    while at < len(text) and len(steps) <= _STEPS_MAX:
        found = _STEP.match(text, at)
        if found is None:
            return ()
        steps.append(_step(found))
        at = found.end()
    return tuple(steps) if len(steps) <= _STEPS_MAX else ()


def _step(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["plain"] is not None:
        return found["plain"]
    return _ESCAPED.sub(r"\1", found["single"] if found["single"] is not None else found["double"])


def _place(root: dict[str, object], *, path: Path, value: object) -> bool:
    node: object = root
    for step, beyond in pairwise(path):
        node = _child(node, step, fresh=[] if isinstance(beyond, int) else {})
    return _put(node, path[-1], value=value)


def _child(node: object, step: str | int, *, fresh: object) -> object:
    """What is below `node` at `step`, made where nothing is; None where nothing can be."""
    if isinstance(node, dict) and isinstance(step, str):
        return node.setdefault(step, fresh)
    if not isinstance(node, list) or not isinstance(step, int) or step > len(node):
        return None
    if step == len(node):
        node.append(fresh)
    return node[step]


def _put(node: object, step: str | int, *, value: object) -> bool:
    if isinstance(node, dict) and isinstance(step, str) and step not in node:
        node[step] = value
        return True
    if isinstance(node, list) and step == len(node):
        node.append(value)
        return True
    return False
