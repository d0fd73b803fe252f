"""A draft quotes its passages word for word, is saved whole and once, and can be looked up afterwards."""

import hashlib
from pathlib import Path

import pytest
from documents import Passage
from drafts import Written, compose_draft, draft_path, find_draft, write_draft_atomically
from prompts import draft_id_for, results_text

PASSAGE = Passage("guide.md", 3, 5, "Guide > Approvals", "One line.\n\nSave this instead.")


def test_a_draft_quotes_each_passage_with_its_file_and_lines() -> None:
    assert compose_draft("approvals-bound", question="How are\napprovals bound?", passages=[PASSAGE]) == (
        "# Approvals bound\n"
        "\nQuestion: How are approvals bound?\n"
        "\n> One line.\n>\n> Save this instead.\n"
        "\n(guide.md:3-5, Guide > Approvals)\n"
    )


def test_a_draft_that_is_too_large_is_refused() -> None:
    with pytest.raises(ValueError, match="larger than"):
        compose_draft("a-b", question="", passages=[Passage("a.md", 1, 1, "", "x" * 65_536)])


@pytest.mark.parametrize("draft_id", ["../etc", "a/b-ccc", "abc", "Abc-def", "abc-def\n", "", "abc-def.md"])
def test_an_id_that_could_lead_elsewhere_is_a_fault(tmp_path: Path, draft_id: str) -> None:
    with pytest.raises(ValueError, match="two words"):
        draft_path(tmp_path, draft_id=draft_id)


def test_a_draft_is_saved_once_and_found_by_its_content(tmp_path: Path) -> None:
    path = draft_path(tmp_path / "new", draft_id="abc-def")
    assert find_draft(path.parent, draft_id="abc-def") is None
    assert write_draft_atomically(path, text="é") is Written.SAVED
    found = find_draft(path.parent, draft_id="abc-def")
    assert found is not None
    assert (found.path, found.size_bytes) == (path, 2)
    assert found.sha256 == hashlib.sha256("é".encode()).hexdigest()
    assert list(path.parent.iterdir()) == [path]


def test_a_draft_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = draft_path(tmp_path, draft_id="abc-def")
    write_draft_atomically(path, text="mine")
    assert write_draft_atomically(path, text="mine") is Written.ALREADY_THERE
    assert write_draft_atomically(path, text="other") is Written.TAKEN
    assert path.read_text(encoding="utf-8") == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_in_the_place_of_a_draft_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine", encoding="utf-8")
    path = draft_path(tmp_path, draft_id="abc-def")
    path.symlink_to(target)
    assert write_draft_atomically(path, text="mine") is Written.TAKEN
    assert target.read_text(encoding="utf-8") == "mine"
    assert path.is_symlink()


@pytest.mark.parametrize(
    ("question", "draft_id"),
    [
        ("How are approvals bound to operations?", "approvals-bound"),
        ("What is a digest?", "digest-draft"),
        ("联锁?", "draft-notes"),
        ("Internationalization of x2", "internatio-draft"),
    ],
)
def test_a_question_names_its_draft(tmp_path: Path, question: str, draft_id: str) -> None:
    assert draft_id_for(question) == draft_id
    assert draft_path(tmp_path, draft_id=draft_id).parent == tmp_path


def test_the_model_is_shown_a_short_numbered_line_for_each_passage() -> None:
    assert results_text([PASSAGE]) == "1 guide.md Approvals: One line. Save this instead."
    assert results_text([]) == "Nothing was found."
