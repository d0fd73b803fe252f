"""The page of a review holds whatever tools are called as text, and reaches for nothing outside itself."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.review import Frame, Review, review
from interlock.core.review_rules import DEFAULTS
from interlock.core.review_tool import Published, Version
from interlock.doors.cli.review_page import TOOLS_MAX, page
from interlock.doors.cli.review_words import Language
from tests.unit.core.compatibility_cases import spec
from tests.unit.core.review_cases import DAY_US, call, invented, record, refused, settled, tallied

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e"
ATTRIBUTES = {
    "aria-label", "charset", "class", "colspan", "content", "http-equiv", "lang", "max", "min", "name", "role", "style",
    "title", "value",
}  # fmt: skip


TAGS = frozenset(
    "body code dd details div dl dt em footer h1 h2 h3 head header html i li main meta meter p section small span "
    "strong style summary table tbody td th thead title tr ul".split()
)


class Read(HTMLParser):
    """The elements of a page in order, its attributes and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, set[str]] = {}
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def reviewed(name: str, *, tools: int = 1) -> Review:
    """A review in which a tool's name stands everywhere that a name can stand."""
    made = replace(spec(), name=name, description=f"{name} and more.", owner=name)
    catalogue = {name: Published(made, (Version(name, Lifecycle.AVAILABLE, "d"),))}
    for number in range(1, tools + 1):
        other = replace(made, name=f"other {number}", source=name)
        catalogue[other.name] = Published(other, (Version("1", Lifecycle.AVAILABLE, f"d{number}"),))
    log = [
        record(EventKind.TOOL_REGISTERED, at_us=0, tools=[{"name": each, "version": "1"} for each in catalogue]),
        *[refused("PERMISSION_DENIED", name, run="r", version=name, at_us=at) for at in range(40)],
        *[refused("PERMISSION_DENIED", "other 1", run="q", at_us=at) for at in (2, 4)],
        *[settled(each, run="q", at_us=at, resource=name) for at, each in enumerate([name, "other 1"] * 5)],
        settled("search", arguments={"query": name}, result=[], at_us=9),
        invented(f"{name}2"),
        call(EventKind.WAITING, name, version=name),
    ]  # fmt: skip
    return review(tallied(log, search="search"), catalogue, Frame("acme", 100 * DAY_US, None, DEFAULTS))


@pytest.mark.requirement("REG-11")
@pytest.mark.parametrize("language", Language)
def test_a_hostile_name_is_text_on_the_page_and_nothing_else(language: Language) -> None:
    found = Read(page(reviewed(EVIL), language))
    assert set(found.tags) <= TAGS
    assert (found.tags.count("style"), found.tags.count("main")) == (1, 1)
    assert found.attributes.keys() <= ATTRIBUTES
    assert any("<script>alert(1)</script>" in each for each in found.text)
    assert "\u202e" not in page(reviewed(EVIL), language)


@settings(max_examples=25)
@given(st.text(min_size=1, max_size=30))
def test_no_name_changes_what_the_page_is_made_of(name: str) -> None:
    named = f"{name.encode('utf-8', 'replace').decode()}x"
    found = Read(page(reviewed(named)))
    assert set(found.tags) <= TAGS
    assert (found.tags.count("style"), found.tags.count("main")) == (1, 1)
    assert found.attributes.keys() <= ATTRIBUTES


@pytest.mark.requirement("REG-11")
def test_the_page_loads_nothing_and_says_so_to_the_browser() -> None:
    text = page(reviewed("tool"))
    read = Read(text)
    assert not {"script", "link", "img", "iframe", "object", "form", "base", "svg", "a"} & set(read.tags)
    assert not any(word in text for word in ("url(", "@import", "http://", "https://"))
    assert any("default-src 'none'" in each for each in read.attributes["content"])


@pytest.mark.requirement("REG-11")
def test_what_was_found_stands_on_the_page_in_either_language() -> None:
    found = reviewed("find")
    english, chinese = (" ".join(Read(page(found, each)).text) for each in Language)
    for text in (english, chinese):
        assert ("find" in text, "other 1" in text) == (True, True)
        assert found.proposals[0].reason in text
        assert "PERMISSION_DENIED" in text
    assert ("What might be done" in english, "建议措施" in chinese) == (True, True)
    assert 'lang="zh"' in page(found, Language.ZH)


def test_of_very_many_tools_those_are_shown_that_were_called_most() -> None:
    text = page(reviewed("find", tools=TOOLS_MAX + 4))
    assert "6 more tools" in text
    assert text.count("<details>") == TOOLS_MAX
