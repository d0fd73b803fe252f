"""What version numbers promise: which of them say that nothing breaks.

Semantic versions do (semver.org 2.0.0): within one major, and below 1.0 within one minor. Numbers alone (`2`, `v2`),
dates and names have no order of compatibility: between two of those anything may break.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from interlock.core.frozen import frozen

_SEMANTIC: Final = re.compile(
    r"v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?"
)
_YEAR_FIRST: Final = 1900


@frozen
class Semantic:
    """A semantic version. `preview` is what follows its hyphen, part by part."""

    numbers: tuple[int, int, int]
    preview: tuple[str, ...] = ()

    @property
    def line(self) -> tuple[int, ...]:
        """Versions of the same line are compatible, later with earlier."""
        major, minor, _ = self.numbers
        return (major,) if major else (0, minor)

    @property
    def rank(self) -> tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]:
        """The order of semver: a preview comes before its release, numbers before names."""
        parts = tuple((not each.isdigit(), int(each) if each.isdigit() else 0, each) for each in self.preview)
        return self.numbers, not self.preview, parts


def semantic(version: str) -> Semantic | None:
    """The version as a semantic one; None for a number alone, a date or a name."""
    found = _SEMANTIC.fullmatch(version)
    if found is None or int(found[1]) >= _YEAR_FIRST:
        return None
    numbers = (int(found[1]), int(found[2]), int(found[3] or 0))
    return Semantic(numbers, tuple(found[4].split(".")) if found[4] else ())


def promises_compatible(old: str, new: str) -> bool:
    """Whether the number of the new version says that it breaks nothing of the old one. A preview promises nothing."""
    before, after = semantic(old), semantic(new)
    if before is None or after is None or before.preview or after.preview:
        return False
    return before.line == after.line and before.rank <= after.rank


def predecessor(version: str, known: Iterable[str]) -> str | None:
    """The nearest of the known versions that this one promises to be compatible with; None where there is none."""
    earlier = [(found.rank, each) for each in known if each != version
               and promises_compatible(each, version) and (found := semantic(each)) is not None]  # fmt: skip
    return max(earlier)[1] if earlier else None
