"""Cuts text of any script into the words that it is found by.

Words of scripts that put no spaces between them (Chinese, Japanese, Thai, ...) are taken as overlapping pairs of
characters: a query of two characters finds them anywhere, and nobody has to know where words end. Names fall apart at
case and at everything that is no letter or digit, and stay whole beside it (`GitHub` is `github`, `git` and `hub`).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final

TEXT_CHARS_MAX: Final = 4_000
"""As much of one text as is looked at: a query and a description are read to the same length."""

WORD_CHARS_MAX: Final = 64
"""Longer words are cut: what is that long is data, not a word."""

SAME_MAX: Final = 2
"""How often one word of a text counts. Repeating it any more says nothing about the tool."""

_DENSE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN: Final = re.compile(rf"(?P<dense>[{_DENSE}]+)|[^\W_{_DENSE}]+")
_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

STOP_WORDS: Final = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can could did
    do does doing don during each few for from further get give had has have having he her here him his how i if in into
    is it its just let ll me more most my need no nor not now of off on once only or other our out over own please re s
    same she should so some such t than that the their them then there these they this those through to too under until
    up us ve very want was we were what when where which while who whom whose why will with would you your
    """.split()
)
"""English words that stand in every text and tell no tool from another."""


def words(text: str) -> tuple[str, ...]:
    """The words of a text in their order, without those that say nothing; all of them where it has no others."""
    found = [*_kept(_cut(text))]
    telling = tuple(each for each in found if each not in STOP_WORDS)
    return telling or tuple(found)


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name: all of them count, since a tool may be called `who` or `now`."""
    return tuple(_kept(_cut(name)))


def _kept(found: Iterator[str]) -> Iterator[str]:
    counted = Counter[str]()
    for each in found:
        counted[each] += 1
        if counted[each] <= SAME_MAX:
            yield each


def _cut(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", text[:TEXT_CHARS_MAX].replace("\0", " "))[:TEXT_CHARS_MAX]
    for run in _RUN.finditer(plain):
        yield from _pairs(run[0]) if run["dense"] else _spelled(run[0])


def _pairs(run: str) -> Iterator[str]:
    """Each character, for queries of one; and each two that stand together."""
    for at in range(len(run)):
        yield run[at]
        if at:
            yield run[at - 1 : at + 1]


def _spelled(run: str) -> Iterator[str]:
    whole = _folded(run)
    yield whole
    parts = _CASE.split(run[:WORD_CHARS_MAX])
    if len(parts) > 1:
        yield from (_folded(each) for each in parts)


def _folded(word: str) -> str:
    """The word whatever its case and its accents."""
    if word.isascii():
        return word[:WORD_CHARS_MAX].lower()
    bare = "".join(each for each in unicodedata.normalize("NFKD", word) if not unicodedata.combining(each))
    return bare.casefold()[:WORD_CHARS_MAX] or word[:WORD_CHARS_MAX]
