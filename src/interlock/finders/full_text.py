"""Ranks tools by the words that they share with a query: a full-text index (SQLite FTS5) in memory.

The index is filled as tools are first ranked, one row for each digest, so that a new epoch costs what is new in it. The
words are cut by `core.search_words` on both sides and spelled in ASCII letters and digits alone: nothing of a query can
be syntax, and the index sees no script that its own tokenizer does not know. BM25 weighs a word by how rare it is and a
text by its length, so that naming everything makes a tool fit nothing well.

What is rare, and what is long, is worked out among the tools that are asked about alone. The index knows others too:
old versions, and what this caller may not see; no score and no order may tell of them, nor depend on what this process
has been asked before. Its own BM25 counts all of its rows, so each word's score is taken apart and put together anew.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from heapq import nlargest
from math import log
from typing import Final, NamedTuple

import apsw

from interlock.core.catalogue import Tool
from interlock.core.search_text import search_text
from interlock.core.search_words import words
from interlock.ports.finding import Ranked

ROWS_MAX: Final = 200_000
"""The index is made anew when it holds more versions than this."""

QUERY_WORDS_MAX: Final = 48
INLINE_ROWS: Final = 64
"""More new tools than these are indexed in a thread."""

INLINE_INDEX: Final = 2_000
"""An index of more tools than these is asked in a thread."""

NOT_FOR: Final = 0.5
"""How much of what fits the words of `not_for` is taken off."""

DIGITS: Final = 9
"""What is equal but for the last bits is equal."""

_K1: Final = 1.2
_B: Final = 0.75
FIELDS: Final = ("name", "title", "use_when", "description", "parameters", "examples", "not_for")
_CREATE: Final = """
    CREATE VIRTUAL TABLE tools USING fts5(
        name, title, use_when, description, parameters, examples, not_for, content='', tokenize='porter ascii'
    )
"""
_INSERT: Final = """
    INSERT INTO tools (rowid, name, title, use_when, description, parameters, examples, not_for)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_FITS: Final = "SELECT rowid, -bm25(tools, 3.0, 3.0, 2.0, 1.0, 0.5, 0.3, 0.0) FROM tools(?)"
"""What a word weighs in each of the fields."""

_FIELDS: Final = f"{{{' '.join(FIELDS[:-1])}}}"
_NOT_FOR: Final = FIELDS[-1]

_AGAINST: Final = "SELECT rowid, -bm25(tools, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0) FROM tools(?)"


class _Corpus(NamedTuple):
    """What BM25 knows of all texts: how many there are, and how many words they have. As FTS5 reckons it."""

    rows: int
    words: int

    def rarity(self, hits: int) -> float:
        """What a word weighs that so many of them hold."""
        return max(log((self.rows - hits + 0.5) / (hits + 0.5)), 1e-6)

    def weight(self, often: float, length: int) -> float:
        """What a word comes to in one of them, by how often (weighed by field) it stands there."""
        return often * (_K1 + 1) / (often + self._damping(length))

    def often(self, weight: float, length: int) -> float:
        """How often, from what it comes to."""
        return weight * self._damping(length) / (_K1 + 1 - weight)

    def _damping(self, length: int) -> float:
        return _K1 * (1 - _B + _B * length * self.rows / self.words)


class FullText:
    """Belongs to one gate. Its index is asked by one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = apsw.Connection(":memory:")
        self._rows: dict[str, int] = {}
        self._digests: list[str] = []
        self._lengths: list[int] = []
        self._among: tuple[tuple[Tool, ...], frozenset[int]] | None = None
        self._create()

    async def rank(self, query: str, among: tuple[Tool, ...], *, most: int) -> tuple[Ranked, ...]:
        """Those of the tools that share a word with the query, best first, at most so many."""
        if len(self._digests) > INLINE_INDEX or self._is_behind(among):
            return await asyncio.to_thread(self._rank, query, among, most)
        return self._rank(query, among, most)

    def _is_behind(self, among: tuple[Tool, ...]) -> bool:
        known = self._among
        if known is not None and known[0] is among:
            return False
        return sum(each.digest not in self._rows for each in among) > INLINE_ROWS

    def _rank(self, query: str, among: tuple[Tool, ...], most: int) -> tuple[Ranked, ...]:
        with self._lock:
            rows = self._rows_of(among)
            found = _match(query)
            if not found or most < 1:
                return ()
            against = self._scored(_AGAINST, _NOT_FOR, found, rows=rows)
            scores = [
                (score - NOT_FOR * against[row] if row in against else score, row, score)
                for row, score in self._scored(_FITS, _FIELDS, found, rows=rows).items()
            ]
            best = sorted(_best(scores, most), key=lambda each: (-each[0], self._digests[each[1]]))
        return tuple(self._ranked(best[:most]))

    def _ranked(self, best: Iterable[tuple[float, int, float]]) -> Iterator[Ranked]:
        for score, row, plain in best:
            parts = {"words": plain} if score == plain else {"words": plain, "not_for": score - plain}
            yield Ranked(self._digests[row], score, parts)

    def _scored(self, sql: str, fields: str, found: Iterable[str], *, rows: frozenset[int]) -> dict[int, float]:
        """What the rows come to that hold one of the words, as if there were no others."""
        total: dict[int, float] = {}
        lengths, everywhere = self._lengths, _Corpus(len(self._lengths), sum(self._lengths))
        among = _Corpus(len(rows), sum(lengths[row] for row in rows)) if len(rows) < len(lengths) else everywhere
        for word in found:
            hits: list[tuple[int, float]] = [*self._db.execute(sql, (f"{fields} : {word}",))]
            mine = hits if among is everywhere else [each for each in hits if each[0] in rows]
            was, rare = everywhere.rarity(len(hits)), among.rarity(len(mine))
            for row, score in mine:
                if among is not everywhere:
                    often = everywhere.often(score / was, lengths[row])
                    score = rare * among.weight(often, lengths[row])  # noqa: PLW2901 - the same score, of fewer tools
                total[row] = total.get(row, 0.0) + score
        return {row: round(score, DIGITS) for row, score in total.items()}

    # --- filling ------------------------------------------------------------------------------------------------------

    def _create(self) -> None:
        self._db.execute("DROP TABLE IF EXISTS tools")
        self._db.execute(_CREATE)
        self._rows.clear()
        self._digests.clear()
        self._lengths.clear()
        self._among = None

    def _rows_of(self, among: tuple[Tool, ...]) -> frozenset[int]:
        """The rows of these tools, which are all there then. Remembered for those who ask again about the same."""
        if self._among is not None and self._among[0] is among:
            return self._among[1]
        new = {each.digest: each for each in among if each.digest not in self._rows}
        if len(self._rows) + len(new) > ROWS_MAX:
            self._create()
            new = {each.digest: each for each in among}
        self._add(new.values())
        rows = frozenset([self._rows[each.digest] for each in among])
        self._among = among, rows
        return rows

    def _add(self, tools: Iterable[Tool]) -> None:
        with self._db:
            for tool in tools:
                row = len(self._digests)
                text = search_text(tool.spec)
                spelled = [[*map(_ascii, getattr(text, field))] for field in FIELDS]
                self._db.execute(_INSERT, (row, *(" ".join(each) for each in spelled)))
                self._lengths.append(sum(map(len, spelled)))
                self._rows[tool.digest] = row
                self._digests.append(tool.digest)


def _best(scores: list[tuple[float, int, float]], most: int) -> list[tuple[float, int, float]]:
    """Those that may be among the best, with all that are as good as the last of them: equals have an order later."""
    if len(scores) <= most:
        return scores
    least = nlargest(most, [each[0] for each in scores])[-1]
    return [each for each in scores if each[0] >= least]


def _match(query: str) -> tuple[str, ...]:
    """The words of a query, each once, as the index spells them."""
    return tuple(dict.fromkeys(_ascii(each) for each in words(query)))[:QUERY_WORDS_MAX]


def _ascii(word: str) -> str:
    """The word in letters and digits that mean nothing to the index, not even `OR`: those are lower-case here."""
    return word if word.isascii() else "".join(f"u{ord(each):x}" for each in word)
