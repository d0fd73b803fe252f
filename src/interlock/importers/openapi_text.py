"""Reads a document as plain data, JSON or YAML: no tags, no aliases, no key twice, nothing without a bound.

Documents come from anyone. YAML is read as events, one after the other, so nesting costs no stack and an alias, which
could make a small file a huge value, is refused where it stands. Its plain scalars are those of JSON: dates and `on`
stay texts, and a key such as `200` is the text that was written.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

import yaml

from interlock.core.canonical import Json, canonical
from interlock.core.errors import SpecInvalid

BYTES_MAX = 64 * 1024 * 1024
VALUES_MAX = 5_000_000
DEPTH_MAX = 256
_DIGITS_MAX = 400

_INTEGER = re.compile(r"[-+]?[0-9]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_STANDARD = "tag:yaml.org,2002:"


def read_document(data: bytes) -> Json:
    """The one value that the bytes hold. Raises `SpecInvalid` with the line, where there is one."""
    if len(data) > BYTES_MAX:
        raise SpecInvalid(f"it is larger than {BYTES_MAX} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SpecInvalid("it is not UTF-8") from None
    return _read_json(text) if text.lstrip()[:1] in ("{", "[") else _read_yaml(text)


def _read_json(text: str) -> Json:
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as fault:
        try:
            return _read_yaml(text)  # flow style looks like JSON and is not
        except SpecInvalid:
            raise SpecInvalid(f"line {fault.lineno}: this is no JSON: {fault.msg}") from None
    except RecursionError:
        raise SpecInvalid(_TOO_DEEP) from None
    check_bounds(value)
    if "\\ud" in text.lower():
        try:
            canonical(value)
        except ValueError as fault:
            raise SpecInvalid(f"it is no JSON: {fault}") from None
    return value


def check_bounds(value: Json) -> None:
    """Raises `SpecInvalid` for a value of too many parts, or too deep ones."""
    waiting: list[tuple[Json, int]] = [(value, 0)]
    count = 0
    while waiting:
        each, depth = waiting.pop()
        if not isinstance(each, dict | list):
            continue
        count += len(each)
        if count > VALUES_MAX:
            raise SpecInvalid(_TOO_MANY)
        if depth >= DEPTH_MAX:
            raise SpecInvalid(_TOO_DEEP)
        waiting.extend((item, depth + 1) for item in (each.values() if isinstance(each, dict) else each))


_TOO_DEEP = f"it nests deeper than {DEPTH_MAX} levels"
_TOO_MANY = f"it holds more than {VALUES_MAX} values"


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise SpecInvalid(f"{twice!r} stands twice in one object")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise SpecInvalid("it holds an integer without end")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise SpecInvalid(f"it holds {digits[:40]}, which is too large a number")
    return value


def _constant(name: str) -> NoReturn:
    raise SpecInvalid(f"it holds {name}, which is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant)


def _read_yaml(text: str) -> Json:
    try:
        return _built(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as fault:
        line = 0 if fault.problem_mark is None else fault.problem_mark.line + 1
        raise SpecInvalid(f"line {line}: {fault.problem or 'this is not YAML'}") from fault
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        raise SpecInvalid(f"this is not YAML: {type(fault).__name__}") from fault


class _Open:
    """A mapping or list that is being filled; `key` is the one whose value comes next."""

    __slots__ = ("key", "value")

    def __init__(self, value: dict[str, Json] | list[Json]) -> None:
        self.value = value
        self.key: str | None = None

    def add(self, value: Json, event: yaml.Event) -> None:
        if isinstance(self.value, list):
            self.value.append(value)
        elif self.key is None:
            self.key = _key(value, event)
            if self.key in self.value:
                raise _at(event, f"{self.key!r} stands here twice")
        else:
            self.value[self.key], self.key = value, None


def _built(events: Iterator[yaml.Event]) -> Json:
    top = _Open([])
    stack = [top]
    for count, event in enumerate(events):
        if count > VALUES_MAX * 2 or len(stack) > DEPTH_MAX:
            raise _at(event, _TOO_MANY if len(stack) <= DEPTH_MAX else _TOO_DEEP)
        if isinstance(event, yaml.ScalarEvent):
            stack[-1].add(_scalar(event, is_key=_awaits_key(stack[-1])), event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            started: dict[str, Json] | list[Json] = {} if isinstance(event, yaml.MappingStartEvent) else []
            if _awaits_key(stack[-1]):
                raise _at(event, "a key must be text")
            stack[-1].add(started, event)
            stack.append(_Open(started))
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
        elif isinstance(event, yaml.AliasEvent):
            raise _at(event, "aliases are not read; write the value out")
    found = top.value
    if not isinstance(found, list) or len(found) != 1:
        raise SpecInvalid("it must hold one document")
    return found[0]


def _awaits_key(holder: _Open) -> bool:
    return isinstance(holder.value, dict) and holder.key is None


def _scalar(event: yaml.ScalarEvent, *, is_key: bool) -> Json:
    text: str = event.value
    if is_key or (event.style and not event.tag) or event.tag == f"{_STANDARD}str":
        return text
    if event.tag and event.tag != "!":
        raise _at(event, f"the tag {event.tag} is not read")
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _float(text) if _NUMBER.fullmatch(text) else text


def _key(value: Json, event: yaml.Event) -> str:
    if value == "<<":
        raise _at(event, "a merge key is not read; write the members out")
    return str(value)


def _at(event: yaml.Event, says: str) -> SpecInvalid:
    mark = event.start_mark
    return SpecInvalid(f"line {0 if mark is None else mark.line + 1}: {says}")
