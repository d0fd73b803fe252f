"""The command line of the research agent: what it takes, and what a task is."""

from pathlib import Path

import pytest
from main import main, read_options
from prompts import DEFAULT_QUESTION
from review import Reviewer
from session import task_of


def test_without_options_the_projects_documents_are_asked_the_default_question() -> None:
    options = read_options([])
    assert (options.question, options.docs, options.home) == (DEFAULT_QUESTION, None, Path(".interlock-demo"))


@pytest.mark.parametrize(
    ("arguments", "reviewer"), [(["--yes"], Reviewer.STAND_IN), (["--approve"], Reviewer.BOB), ([], Reviewer.NOBODY)]
)
def test_who_decides_is_said_by_the_flags_and_nobody_does_without_a_terminal(
    arguments: list[str], reviewer: Reviewer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read_options(arguments).reviewer is reviewer


def test_a_question_is_one_line() -> None:
    assert read_options(["--question", " What\n is  this? "]).question == "What is this?"


def test_the_same_question_over_the_same_folder_is_the_same_task() -> None:
    task = task_of("Why?", docs=Path("/docs"))
    assert task == task_of("Why?", docs=Path("/docs"))
    assert task not in (task_of("How?", docs=Path("/docs")), task_of("Why?", docs=Path("/other")))


def test_a_home_that_cannot_be_used_is_told_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["--plain", "--home", str(tmp_path / "file")]) == 1
    assert f"FAILED      {tmp_path / 'file'}: File exists" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [("备份策略是什么?", "# A\n\nOne.\n\n# B\n\nTwo.\n", "请用英文提问"), ("Why?", "", "a draft quotes at least two")],
)
def test_what_cannot_be_researched_is_refused_at_once_without_a_model(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    question: str,
    text: str,
    says: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(text)
    assert main(["--home", str(tmp_path / "home"), "--docs", str(tmp_path / "docs"), "--question", question]) == 1
    shown = capsys.readouterr().out
    assert says in shown
    assert "MODEL" not in shown
