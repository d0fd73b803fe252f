"""Spells tool names in the letters that a provider allows, in a way that can be read back.

A name that fits is sent as it is. Any other name is sent with its foreign characters replaced, cut, and marked with a
digest of the exact name, so that two names never share a spelling. What a model sends back is looked up, never
guessed: no trimming, no folding of case, no nearest match.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_FOREIGN: Final = re.compile(r"[^a-zA-Z0-9_-]")
_DIGEST_CHARACTERS: Final = 10
CHAT_NAME_CHARACTERS_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class WireNames:
    """The two directions of one session's spelling."""

    to_wire: Mapping[str, str]
    from_wire: Mapping[str, str]

    def original(self, wire_name: str) -> str | None:
        """The exact tool name behind a spelling; None for a name that was not offered."""
        return self.from_wire.get(wire_name)


def spell(names: Iterable[str], *, characters_max: int = CHAT_NAME_CHARACTERS_MAX) -> WireNames:
    """Spellings of at most `characters_max` letters, digits, `_` and `-`. Raises ValueError on equal spellings."""
    to_wire = {name: _spelling(name, characters_max=characters_max) for name in names}
    from_wire = {wire_name: name for name, wire_name in to_wire.items()}
    if len(from_wire) != len(to_wire):
        raise ValueError("Two tool names have one spelling on the wire.")
    return WireNames(to_wire=MappingProxyType(to_wire), from_wire=MappingProxyType(from_wire))


def _spelling(name: str, *, characters_max: int) -> str:
    if name and len(name) <= characters_max and not _FOREIGN.search(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
    readable = _FOREIGN.sub("_", name)[: characters_max - _DIGEST_CHARACTERS - 1]
    return f"{readable}_{digest}"
