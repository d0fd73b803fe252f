"""Refuses values of a path that could climb out of their place at whoever reads the path next.

Proxies and servers decode a path once, twice or not at all, take a backslash for a slash, drop `;parameters` and fold
characters that look like dots. So a value is looked at in every such reading, and one that names a dot segment in any
of them goes nowhere. Legitimate values lose nothing by it but `.` and `..` as whole parts.
"""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

from interlock.core.canonical import Json
from interlock.core.http_style import Misfit

READINGS_MAX = 8
"""A value that is still encoded after so many decodings is not meant honestly."""

_DOTS = frozenset({".", ".."})


def check_path_value(value: Json) -> None:
    """Raises `Misfit` for a value, or a part of one, that must not stand in a path."""
    if isinstance(value, dict):
        for key, each in value.items():
            check_path_value(key)
            check_path_value(each)
    elif isinstance(value, list):
        for each in value:
            check_path_value(each)
    elif isinstance(value, str):
        _check_text(value)


def check_segment(segment: str) -> None:
    """Raises `Misfit` for a finished segment of a path that is empty or climbs."""
    if not segment:
        raise Misfit("it would leave a part of the path empty")
    _check_text(unquote(segment))


def _check_text(text: str) -> None:
    for _ in range(READINGS_MAX):
        if climbs(text):
            raise Misfit("it would climb out of its place in the path")
        decoded = unquote(text)
        if decoded == text:
            return
        text = decoded
    raise Misfit("it is percent-encoded too many times over")


def climbs(text: str) -> bool:
    """Whether one reading of it holds a dot segment, a control character or a backslash."""
    folded = unicodedata.normalize("NFKC", text)
    if "\\" in folded or any(character < " " or character == "\x7f" for character in folded):
        return True
    return any(part.partition(";")[0].strip() in _DOTS for part in folded.split("/"))
