"""Every word of a review's page is there in each language, for whatever the core can say."""

from interlock.core.review_proposals import Kind
from interlock.core.review_tool import Gap
from interlock.doors.cli.review_words import Language, words_in


def test_each_language_has_every_word_and_none_is_empty() -> None:
    english, chinese = map(words_in, Language)
    assert english.keys() == chinese.keys()
    assert all([*english.values(), *chinese.values()])


def test_every_proposal_gap_and_likeness_has_its_word() -> None:
    wanted = {*(each.value for each in Kind), *(f"gap_{each.value}" for each in Gap)}
    assert (
        wanted | {"both", "one", "other", "neither", "uncertain", "name", "words", "schema"}
        <= words_in(Language.EN).keys()
    )
