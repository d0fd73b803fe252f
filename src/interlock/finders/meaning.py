"""Ranks tools by words and by what they mean: full text and the vectors of a small model, put together.

Each half is taken relative to its own best, and the words count for less. A tool is read by the model once, by its
digest; of many new ones those that fit the words best are read first, a bounded number with each search, and until its
turn comes a tool ranks by its words alone. So it is with queries in scripts that the model does not know.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

import numpy

from interlock.core.catalogue import Tool
from interlock.core.search_text import plain_text
from interlock.core.search_words import TEXT_CHARS_MAX
from interlock.finders.full_text import FullText
from interlock.finders.minilm import Vectors
from interlock.finders.vector_file import VectorFile
from interlock.ports.finding import Ranked

TEXT_VERSION: Final = 1
"""Rises where `plain_text` gives another text for the same tool: vectors of the old ones are of no use then."""

NEW_MAX: Final = 128
"""How many new tools are read for one search: about a second."""

FUSED_MAX: Final = 200
"""How many of the best of each half are put together."""

WORDS_SHARE: Final = 0.3
LEAST: Final = 0.15
"""Texts that have nothing to do with each other come to less than this."""

ROWS_MAX: Final = 200_000
GROWTH: Final = 1_024


class Model(Protocol):
    """What turns texts into vectors of length 1."""

    @property
    def name(self) -> str:
        """Which one it is: vectors of two are not compared."""

    @property
    def size(self) -> int:
        """How many numbers a vector has."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """One row of `size` numbers for each."""


class WordsAndMeaning:
    """Belongs to one gate. `file` keeps vectors beyond the process."""

    def __init__(self, words: FullText, model: Model, *, file: VectorFile | None = None) -> None:
        self._words = words
        self._model = model
        self._file = file
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}
        self._matrix: Vectors = numpy.zeros((GROWTH, model.size), numpy.float32)
        self._among: tuple[tuple[Tool, ...], dict[int, str]] | None = None

    async def rank(self, query: str, among: tuple[Tool, ...], *, most: int) -> tuple[Ranked, ...]:
        """Those of the tools that fit by either, best first, at most so many."""
        if not among or most < 1:
            return ()
        by_words = await self._words.rank(query, among, most=max(most, FUSED_MAX))
        if not is_read(query):
            return by_words[:most]
        near = await asyncio.to_thread(self._near, query, among, [each.digest for each in by_words])
        return tuple(sorted(_fused(by_words, near), key=lambda each: (-each.score, each.digest))[:most])

    async def learn(self, among: tuple[Tool, ...]) -> None:
        """Read all of these now, however long that takes (about 10 ms each)."""
        new = [each for each in among if each.digest not in self._rows]
        for at in range(0, len(new), NEW_MAX):
            await asyncio.to_thread(self._learn, new[at : at + NEW_MAX])

    def _near(self, query: str, among: tuple[Tool, ...], first: Sequence[str]) -> dict[str, float]:
        """How near the tools are whose vectors are known, the nearest of them."""
        places = {digest: place for place, digest in enumerate(first)}
        with self._lock:
            new = [each for each in among if each.digest not in self._rows]
            if new:
                new.sort(key=lambda each: places.get(each.digest, len(places)))
                self._add(new)
            digests = self._digests(among)
            vector = self._model.vectors([query[:TEXT_CHARS_MAX]])[0]
            rows = numpy.fromiter(digests, numpy.int64, len(digests))
            if not len(rows):
                return {}
            near = (self._matrix[: len(self._rows)] @ vector)[rows]
        count = min(FUSED_MAX, len(rows))
        best = numpy.argpartition(-near, count - 1)[:count]
        return {digests[int(rows[at])]: float(near[at]) for at in best if near[at] >= LEAST}

    def _learn(self, new: Sequence[Tool]) -> None:
        with self._lock:
            self._add(new)

    def _digests(self, among: tuple[Tool, ...]) -> Mapping[int, str]:
        """The rows of those tools that have one. Remembered once all have."""
        if self._among is not None and self._among[0] is among:
            return self._among[1]
        found = {self._rows[each.digest]: each.digest for each in among if each.digest in self._rows}
        if len(found) == len(among):
            self._among = among, found
        return found

    def _add(self, new: Sequence[Tool]) -> None:
        """Vectors of these: from the file as many as it has, and a bounded number that the model reads."""
        kept = {} if self._file is None else self._file.found([each.digest for each in new])
        unread = {each.digest: plain_text(each.spec) for each in new if each.digest not in kept}
        reading = dict([*unread.items()][:NEW_MAX])
        self._put((digest, numpy.frombuffer(vector, numpy.float32)) for digest, vector in kept.items())
        if reading:
            read = dict(zip(reading, self._model.vectors([*reading.values()]), strict=True))
            self._put(read.items())
            if self._file is not None:
                self._file.keep({digest: vector.tobytes() for digest, vector in read.items()})

    def _put(self, vectors: Iterable[tuple[str, Vectors]]) -> None:
        for digest, vector in vectors:
            if len(self._rows) >= ROWS_MAX:
                self._rows.clear()
                self._among = None
            row = len(self._rows)
            if row >= len(self._matrix):
                more = numpy.zeros((max(GROWTH, len(self._matrix)), self._model.size), numpy.float32)
                self._matrix = numpy.concatenate([self._matrix, more])
            self._matrix[row] = vector
            self._rows[digest] = row


def is_read(query: str) -> bool:
    """Whether the model knows the script of at least half of a query's letters."""
    letters = [each for each in query[:TEXT_CHARS_MAX] if each.isalpha()]
    return 2 * sum(each.isascii() for each in letters) >= max(len(letters), 1)


def _fused(by_words: Sequence[Ranked], near: Mapping[str, float]) -> Iterable[Ranked]:
    most = max((each.score for each in by_words), default=0.0)
    nearest = max(near.values(), default=0.0)
    words = {each.digest: each for each in by_words}
    for digest in dict.fromkeys((*words, *near)):
        parts = {}
        if digest in words and most > 0:
            parts = {name: WORDS_SHARE * part / most for name, part in words[digest].parts.items()}
        if digest in near:
            parts["meaning"] = (1 - WORDS_SHARE) * near[digest] / nearest
        yield Ranked(digest, sum(parts.values()), parts)
