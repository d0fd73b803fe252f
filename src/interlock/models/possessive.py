"""Possessive quantifiers, where Python has them right: what was matched is not given back, and nothing kept for that.

CPython 3.11.0 to 3.11.4 match possessive groups wrongly (gh-106052). There the plain ones do: the patterns of this room
are such that giving back never finds another match, so they only cost more memory.
"""

from __future__ import annotations

import re
from typing import Final

_RIGHT: Final = re.fullmatch("(?:ab?c)++", "acaca") is None
_POSSESSIVE: Final = re.compile(r"([*}])\+")


def plain(pattern: str) -> str:
    """The same pattern with quantifiers that may give back."""
    return _POSSESSIVE.sub(r"\1", pattern)


def possessive(pattern: str) -> str:
    """The pattern as this Python matches it rightly."""
    return pattern if _RIGHT else plain(pattern)
