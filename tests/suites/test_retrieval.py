"""How well the words of others' queries find the right one of 199 tools of others (MetaTool): computed in full."""

from pathlib import Path

import pytest

from interlock.finders.full_text import FullText
from tests.retrieval import Measured, by_kind, corpus, measured, ndcg, orders

pytestmark = [pytest.mark.requirement("REG-10")]


async def test_full_text_finds_the_right_tools_as_often_as_it_promises(retrieval_corpus: Path) -> None:
    tools, queries = corpus(retrieval_corpus)
    order = orders(FullText(), tools)
    one, two = [await measured(order, each) for each in by_kind(queries)]
    assert len(tools) == 199
    assert _reaches(one, Measured(0.55, 0.62, 0.68)), one
    assert _reaches(two, Measured(0.57, 0.62, 0.70)), two


def test_the_gain_of_an_order_is_that_of_the_best_order_there_is() -> None:
    assert ndcg(["a", "b"], frozenset("ab")) == 1.0
    assert ndcg(["b", "x", "a"], frozenset("ab")) == pytest.approx((1 + 1 / 2) / (1 + 0.6309297535714575))
    assert ndcg(["x", "a"], frozenset("a")) == pytest.approx(0.6309297535714575)
    assert ndcg([*"xxxxxxxxxx", "a"], frozenset("a")) == 0.0


def _reaches(found: Measured, least: Measured) -> bool:
    return all(have >= want for have, want in zip(found, least, strict=True))
