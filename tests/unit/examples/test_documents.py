"""Passages are found in a folder of Markdown, with lines that can be checked and nothing from outside the folder."""

import os
from pathlib import Path

import documents
import pytest
from documents import Library, open_library, query_words, split
from hypothesis import given
from hypothesis import strategies as st

GUIDE = """# Guide

Approvals are bound to the operation digest.

## Budgets

A budget is reserved before the call.

```sh
# not a heading
interlock serve
```
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "docs"
    (place / "deep").mkdir(parents=True)
    (place / "guide.md").write_text(GUIDE, encoding="utf-8")
    (place / "deep" / "notes.MD").write_text("A digest is a hash.\n", encoding="utf-8")
    (place / "notes.txt").write_text("A digest elsewhere.\n", encoding="utf-8")
    return place


def test_a_passage_says_where_it_stands(folder: Path) -> None:
    with open_library(folder) as library:
        (found, *_) = library.search("approvals and operations")
    assert (found.source, found.heading) == ("guide.md:3-3", "Guide")
    assert found.text == "Approvals are bound to the operation digest."


def test_headings_count_and_code_is_no_heading(folder: Path) -> None:
    with open_library(folder) as library:
        (found,) = library.search("budgets")
    assert (found.heading, found.first_line, found.last_line) == ("Guide > Budgets", 7, 12)
    assert "# not a heading" in found.text


def test_other_forms_of_a_word_are_found(folder: Path) -> None:
    with open_library(folder) as library:
        assert library.search("reserving")


def test_only_markdown_below_the_folder_is_read(folder: Path) -> None:
    with open_library(folder) as library:
        assert {passage.file for passage in library.passages} == {"guide.md", "deep/notes.MD"}
        assert library.skipped == ()


def test_links_are_reported_and_not_followed(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret.\n", encoding="utf-8")
    (folder / "link.md").symlink_to(outside / "secret.md")
    (folder / "linked").symlink_to(outside)
    with open_library(folder) as library:
        assert library.search("secret") == ()
        assert [(entry.file, entry.reason) for entry in library.skipped] == [
            ("link.md", "it is a link, and links are not followed")
        ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"caf\xe9", "it is not UTF-8 (byte 3)"),
        (b"x" * 4_001, "it has a line of more than 4000 characters"),
        (b"x\n" * 600_000, "it is larger than 1048576 bytes"),
    ],
)
def test_a_file_that_cannot_be_quoted_is_reported(folder: Path, content: bytes, reason: str) -> None:
    (folder / "odd.md").write_bytes(content)
    with open_library(folder) as library:
        assert [(entry.file, entry.reason) for entry in library.skipped] == [("odd.md", reason)]
        assert library.search("digest")


def test_a_pipe_in_the_folder_does_not_hold_up_the_reading(folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    with open_library(folder) as library:
        assert [entry.reason for entry in library.skipped] == ["it is no regular file"]


def test_a_name_that_cannot_be_shown_is_reported_in_letters_that_can(folder: Path) -> None:
    (folder / "a\n\u202eb.md").write_text("x", encoding="utf-8")
    with open_library(folder) as library:
        assert [entry.file for entry in library.skipped] == [r"'a\n\u202eb.md'"]


def test_a_folder_with_too_many_files_is_read_in_part_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "FILES_MAX", 1)
    with open_library(folder) as library:
        assert {passage.file for passage in library.passages} == {"guide.md"}
        assert [entry.reason for entry in library.skipped] == ["the folder holds too much: from here on it is left out"]


def test_a_folder_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_library(tmp_path / "absent")


def test_at_most_five_passages_are_found_and_always_the_same_ones() -> None:
    passages = tuple(split("a.md", text="\n\n".join(f"# {n}\n\nThe same words." for n in range(20))))
    with Library(passages) as library:
        found = library.search("same words", limit=99)
        assert [passage.first_line for passage in found] == [3, 7, 11, 15, 19]
        assert library.search("same words") == found


@pytest.mark.parametrize("query", ["", "  ", '"', "*", "- ( ) ^", "\x00"])
def test_a_query_without_words_finds_nothing(folder: Path, query: str) -> None:
    with open_library(folder) as library:
        assert library.search(query) == ()


@pytest.mark.parametrize("query", ['budget" OR "x', "budget NOT call", "heading:budget", "budget*", "NEAR(budget)"])
def test_nothing_in_a_query_is_syntax(folder: Path, query: str) -> None:
    with open_library(folder) as library:
        assert [passage.heading for passage in library.search(query)] == ["Guide > Budgets"]


def test_common_words_are_left_out_unless_there_are_no_others() -> None:
    assert query_words("How are approvals bound to the operation?") == ("approvals", "bound", "operation")
    assert query_words("what is it") == ("what", "is", "it")
    assert len(query_words(" ".join(f"w{n}" for n in range(99)))) == 16


@given(st.text(alphabet="#`~ ab\n\r\t>-|\u2028", max_size=300))
def test_every_passage_is_the_very_lines_that_it_names(text: str) -> None:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    last = 0
    for passage in split("a.md", text=text):
        assert passage.text == "\n".join(lines[passage.first_line - 1 : passage.last_line])
        assert passage.first_line > last
        last = passage.last_line


def test_a_long_section_is_cut_at_blank_lines() -> None:
    paragraphs = "\n\n".join("word " * 30 for _ in range(10))
    passages = list(split("a.md", text=paragraphs))
    assert len(passages) >= 4
    assert all(len(passage.text) <= documents.PASSAGE_CHARACTERS_MAX for passage in passages)
