"""Spells tool names in the letters that a provider allows, in a way that can be read back.

A name that fits is sent as it is. Any other name is sent with its foreign characters replaced, cut, and marked with a
digest of the exact name. So is a name that fits but ends as a marked one does, so that no name can take another's
spelling. A spelling follows from the name and the rules alone: it is the same in every turn and every process. What a
model sends back is looked up, never guessed: no trimming, no folding of case, no nearest match.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

_DIGEST_CHARACTERS: Final = 10
_MARKED: Final = re.compile(r"_[0-9a-f]{10}\Z")


@dataclass(frozen=True, slots=True)
class NameRules:
    """What a provider takes as a name: its length, letters and digits besides `punctuation`, and its first one."""

    characters_max: int = 64
    punctuation: str = "_-"
    digit_first: bool = True

    def fits(self, name: str) -> bool:
        """Whether the provider takes this name as it is."""
        first = name[:1].isalpha() or name[:1] == "_" or self.digit_first
        return 0 < len(name) <= self.characters_max and first and not self.foreign.search(name)

    @property
    def foreign(self) -> re.Pattern[str]:
        """What matches one character that may not stand in a name."""
        return re.compile(f"[^a-zA-Z0-9{re.escape(self.punctuation)}]")


PLAIN_NAMES: Final = NameRules()
"""OpenAI, Amazon Bedrock, and whatever is compatible with them: every other provider takes these names too, but for
a first digit."""
LONG_NAMES: Final = NameRules(characters_max=128)
"""Anthropic. Older deployments take 64 characters."""
GEMINI_NAMES: Final = NameRules(characters_max=128, punctuation="_.:-", digit_first=False)


@dataclass(frozen=True, slots=True)
class WireNames:
    """The two directions of one session's spelling."""

    to_wire: Mapping[str, str]
    from_wire: Mapping[str, str]

    def original(self, wire_name: str) -> str | None:
        """The exact tool name behind a spelling; None for a name that was not offered."""
        return self.from_wire.get(wire_name)


def spell(
    names: Iterable[str],
    *,
    rules: NameRules = PLAIN_NAMES,
    reserved: Collection[str] = (),
) -> WireNames:
    """Spellings that a provider of these rules takes. Raises ValueError on equal spellings.

    `reserved` are names that the request holds otherwise, such as those of tools that the provider runs.
    """
    to_wire = {name: _spelling(name, rules=rules, reserved=reserved) for name in names}
    from_wire = {wire_name: name for name, wire_name in to_wire.items()}
    if len(from_wire) != len(to_wire):
        raise ValueError("Two tool names have one spelling on the wire.")
    return WireNames(to_wire=MappingProxyType(to_wire), from_wire=MappingProxyType(from_wire))


def _spelling(name: str, *, rules: NameRules, reserved: Collection[str]) -> str:
    if rules.fits(name) and not _MARKED.search(name) and name not in reserved:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_CHARACTERS]
    readable = rules.foreign.sub("_", name)[: rules.characters_max - _DIGEST_CHARACTERS - 1]
    first = readable[:1].isalpha() or readable[:1] == "_" or rules.digit_first
    return f"{readable if first else '_' + readable[1:]}_{digest}"
