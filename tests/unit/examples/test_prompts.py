"""What the small model is told fits what it may propose."""

import pytest
from prompts import DEFAULT_QUESTION, draft_id_for, search_sentence

LONG = "What happens after kill -9, when the process that had claimed a call for an effect is restarted?"


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        (DEFAULT_QUESTION, f'Find "{DEFAULT_QUESTION}" with search_documents.'),
        (LONG, 'Find "happens kill 9 process had claimed call effect" with search_documents.'),
        ("Où est la copie?", 'Find "est la copie" with search_documents.'),
        ("审批如何与操作绑定？" * 6, f'Find "{"审批如何与操作绑定？" * 6}" with search_documents.'),
    ],
)
def test_a_question_that_is_too_long_for_a_query_is_told_by_the_words_that_fit(question: str, sentence: str) -> None:
    assert search_sentence(question) == sentence


def test_a_question_without_plain_words_still_names_a_draft() -> None:
    assert draft_id_for("审批?") == "draft-notes"
