"""A name that cannot be told from another is refused, and every other one is legal here and leads back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.importers.mcp_names import misnamed, own_names

pytestmark = pytest.mark.requirement("REG-9")


@pytest.mark.parametrize(
    ("names", "refused"),
    [
        (["send", "read_mail", "搜索", "отправить"], []),
        (["send", "se\u200bnd"], ["se\u200bnd"]),
        (["send\u202e"], ["send\u202e"]),
        (["send "], ["send "]),
        (["a\nb"], ["a\nb"]),
        (["sеnd"], ["sеnd"]),
        (["copy", "сору"], ["сору"]),
        (["send", "ｓｅｎｄ"], ["ｓｅｎｄ"]),
        (["Send", "send"], ["Send", "send"]),
        (["сору", "Сору"], ["сору", "Сору"]),
    ],
)
def test_what_cannot_be_told_apart_is_refused_and_takes_no_name_from_a_plain_one(
    names: list[str], refused: list[str]
) -> None:
    assert [*misnamed(names)] == refused


def test_the_reason_names_the_other_one() -> None:
    assert misnamed(["copy", "сору"]) == {"сору": "its name looks like that of copy"}


def test_names_are_made_legal_stay_apart_and_begin_as_asked() -> None:
    names = ["a.b", "a/b", "search", "搜索", "x" * 128]
    found = own_names(names, prefix="web_")
    assert len({each.lower() for each in found.values()}) == len(names)
    assert found["search"] == "web_search"
    assert found["搜索"].startswith("web_tool_")


@given(st.lists(st.text(min_size=1, max_size=140), unique=True, max_size=8))
def test_every_name_that_is_not_refused_gets_one_of_its_own(names: list[str]) -> None:
    kept = [each for each in names if each not in misnamed(names)]
    found = own_names(kept)
    assert [*found] == kept
    assert len({each.lower() for each in found.values()}) == len(kept)
    for each in found.values():
        assert 0 < len(each) <= 60
        assert all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in each)
