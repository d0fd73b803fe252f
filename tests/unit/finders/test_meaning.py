"""Words and meaning together: each counts, what is not read yet ranks by words, and nothing is read twice."""

from collections.abc import Sequence
from pathlib import Path

import numpy
import pytest

from interlock.finders.full_text import FullText
from interlock.finders.meaning import NEW_MAX, WordsAndMeaning, is_read
from interlock.finders.minilm import Vectors
from interlock.finders.vector_file import VectorFile
from tests.retrieval import made, orders

pytestmark = pytest.mark.requirement("REG-10")

TOPICS = ("mail letter", "weather rain forecast", "invoice bill pay", "music song")


class Topics:
    """A model that knows four topics by their words. `read` are the texts that it was given."""

    name = "topics"
    size = len(TOPICS)

    def __init__(self) -> None:
        self.read: list[str] = []

    def vectors(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        rows = [[sum(word in text.lower() for word in topic.split()) + 0.01 for topic in TOPICS] for text in texts]
        found = numpy.array(rows, numpy.float32)
        return found / numpy.linalg.norm(found, axis=1, keepdims=True)


TOOLS = (made("post", "Sends a letter."), made("sky", "Tells rain."), made("bill", "Writes bills."))


async def test_a_tool_is_found_that_shares_no_word_with_the_query() -> None:
    assert await orders(FullText(), TOOLS)("weather forecast") == []
    assert (await orders(WordsAndMeaning(FullText(), Topics()), TOOLS)("weather forecast"))[0] == "sky"


async def test_what_fits_by_both_goes_before_what_fits_by_one() -> None:
    tools = (*TOOLS, made("sun", "Tells forecast of sunshine."))
    ranked = await WordsAndMeaning(FullText(), Topics()).rank("forecast of rain", tools, most=9)
    assert {*ranked[0].parts} == {"words", "meaning"}
    assert all(sum(each.parts.values()) == pytest.approx(each.score) for each in ranked)
    assert ranked[0].score <= 1.0 + 1e-6


async def test_what_means_something_else_does_not_fit() -> None:
    ranked = await WordsAndMeaning(FullText(), Topics()).rank("weather", TOOLS, most=9)
    assert [each.digest for each in ranked] == [TOOLS[1].digest]


async def test_a_tool_is_read_once_whatever_is_asked() -> None:
    model = Topics()
    order = orders(WordsAndMeaning(FullText(), model), TOOLS)
    await order("rain")
    await order("letter")
    assert sorted(model.read) == sorted(
        [*(f"{t.spec.name}. {t.spec.description[:-1]}" for t in TOOLS), "rain", "letter"]
    )


async def test_of_many_new_tools_those_that_fit_the_words_are_read_first() -> None:
    model = Topics()
    many = tuple(made(f"tool_{at}", f"Does thing{at} with music.") for at in range(NEW_MAX + 50))
    ranker = WordsAndMeaning(FullText(), model)
    ranked = await ranker.rank(f"song thing{NEW_MAX + 40}", many, most=200)
    assert ranked[0].digest == many[NEW_MAX + 40].digest
    assert {*ranked[0].parts} == {"words", "meaning"}
    assert len(model.read) == NEW_MAX + 1
    await ranker.learn(many)
    assert len(model.read) == len(many) + 1
    assert len(await ranker.rank("song", many, most=500)) == len(many)


async def test_only_tools_that_are_asked_about_are_found() -> None:
    ranker = WordsAndMeaning(FullText(), Topics())
    await ranker.learn(TOOLS)
    assert await orders(ranker, TOOLS[:1])("rain weather") == []
    assert await orders(ranker, ())("rain weather") == []


async def test_a_query_in_a_script_that_the_model_does_not_know_goes_by_words() -> None:
    model = Topics()
    tools = (*TOOLS, made("tianqi", "查询天气预报"))
    assert await orders(WordsAndMeaning(FullText(), model), tools)("今天天气怎么样") == ["tianqi"]
    assert model.read == []


@pytest.mark.parametrize(
    ("query", "reads"),
    [("rain", True), ("查询 API", True), ("查询天气 api", False), ("123 !?", False), ("дождь", False)],
)
def test_a_script_is_known_by_most_of_its_letters(query: str, reads: bool) -> None:
    assert is_read(query) is reads


async def test_another_process_need_not_read_again_what_is_in_the_file(tmp_path: Path) -> None:
    first, second = Topics(), Topics()
    for model in (first, second):
        file = VectorFile(tmp_path / "folder" / "vectors.db", size_bytes=4 * model.size)
        order = await orders(WordsAndMeaning(FullText(), model, file=file), TOOLS)("weather")
        assert order == ["sky"]
    assert len(first.read) == len(TOOLS) + 1
    assert second.read == ["weather"]
