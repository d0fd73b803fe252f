"""A question that cannot be researched here is refused before any model is asked."""

import pytest
from documents import Passage
from hurdles import NOT_ENGLISH, hurdle

TWO = (Passage("a.md", 1, 1, "", "First."), Passage("a.md", 3, 3, "", "Second."))


@pytest.mark.parametrize("question", ["How are approvals bound?", "Did Müller decide about backups?", "Postgres?"])
def test_a_question_with_english_words_is_asked(question: str) -> None:
    assert hurdle(question, passages=TWO, hosted=False) == ""


@pytest.mark.parametrize("question", ["备份策略是什么?", "我们用 PostgreSQL 吗？", "Как хранятся копии?", "???", "42"])
def test_a_question_without_them_is_refused_in_two_languages_but_a_hosted_model_may_take_it(question: str) -> None:
    refused = hurdle(question, passages=TWO, hosted=False)
    assert refused == NOT_ENGLISH
    assert "Ask in English" in refused
    assert "请用英文提问" in refused
    assert hurdle(question, passages=TWO, hosted=True) == ""


@pytest.mark.parametrize(("passages", "says"), [((), "is no passage"), (TWO[:1], "is one passage")])
def test_a_folder_with_fewer_passages_than_a_draft_needs_is_refused(passages: tuple[Passage, ...], says: str) -> None:
    refused = hurdle("How?", passages=passages, hosted=True)
    assert says in refused
    assert "at least two" in refused
