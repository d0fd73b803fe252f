"""Ranks tools by the words that they share with a query: a full-text index (SQLite FTS5) in memory.

The index is filled as tools are first ranked, one row for each digest, so that a new epoch costs what is new in it. The
words are cut by `core.search_words` on both sides and spelled in ASCII letters and digits alone: nothing of a query can
be syntax, and the index sees no script that its own tokenizer does not know. BM25 weighs a word by how rare it is and a
text by its length, so that naming everything makes a tool fit nothing well.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Iterator
from heapq import nlargest
from typing import Final

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

_AGAINST: Final = "SELECT rowid, -bm25(tools, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0) FROM tools(?)"


class FullText:
    """Belongs to one gate. Its index is asked by one at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = apsw.Connection(":memory:")
        self._rows: dict[str, int] = {}
        self._digests: list[str] = []
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
            against = dict(self._asked(_AGAINST, _against(found)))
            scores = [
                (score - NOT_FOR * against[row] if row in against else score, row, score)
                for row, score in self._asked(_FITS, _for(found))
                if row in rows
            ]
            best = sorted(_best(scores, most), key=lambda each: (-each[0], self._digests[each[1]]))
        return tuple(self._ranked(best[:most]))

    def _ranked(self, best: Iterable[tuple[float, int, float]]) -> Iterator[Ranked]:
        for score, row, plain in best:
            parts = {"words": plain} if score == plain else {"words": plain, "not_for": score - plain}
            yield Ranked(self._digests[row], score, parts)

    def _asked(self, sql: str, match: str) -> apsw.Cursor:
        return self._db.execute(sql, (match,))

    # --- filling ------------------------------------------------------------------------------------------------------

    def _create(self) -> None:
        self._db.execute("DROP TABLE IF EXISTS tools")
        self._db.execute(_CREATE)
        self._rows.clear()
        self._digests.clear()
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
                self._db.execute(_INSERT, (row, *(_spelled(getattr(text, field)) for field in FIELDS)))
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


def _for(found: tuple[str, ...]) -> str:
    return f"{{{' '.join(FIELDS[:-1])}}} : ({' OR '.join(found)})"


def _against(found: tuple[str, ...]) -> str:
    return f"{FIELDS[-1]} : ({' OR '.join(found)})"


def _spelled(found: tuple[str, ...]) -> str:
    return " ".join(map(_ascii, found))


def _ascii(word: str) -> str:
    """The word in letters and digits that mean nothing to the index, not even `OR`: those are lower-case here."""
    return word if word.isascii() else "".join(f"u{ord(each):x}" for each in word)
