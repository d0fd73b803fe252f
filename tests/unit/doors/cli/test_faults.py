"""Faults become one sentence with what to do next."""

import inspect

import pytest

from interlock.core import errors
from interlock.core.decision import Deny
from interlock.core.errors import InterlockError, StoreNewer, ToolFault, VersionExists
from interlock.core.refusals import Code
from interlock.doors.cli.faults import answer_for, refusal

KINDS = [each for _, each in inspect.getmembers(errors, inspect.isclass) if issubclass(each, InterlockError)]


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize("kind", [each for each in KINDS if each not in (InterlockError, ToolFault)])
def test_every_fault_of_ours_says_what_to_do_next(kind: type[InterlockError]) -> None:
    error = answer_for(kind("it is so")).document["error"]
    assert isinstance(error, dict)
    assert error["message"] == "it is so"
    assert "INTERLOCK_DEBUG" not in str(error["next"])
    assert answer_for(kind("it is so")).exit_code == 1


def test_the_code_of_a_fault_is_its_name() -> None:
    assert answer_for(StoreNewer("x")).text.startswith("STORE_NEWER: x\nNext: Install the newer")
    assert "new version" in answer_for(VersionExists("x")).text


def test_a_refusal_says_its_code_and_ends_with_3() -> None:
    answer = refusal(Deny(Code.PERMISSION_DENIED, "No."), next_step="Ask.")
    assert answer.document == {"error": {"code": "PERMISSION_DENIED", "message": "No.", "next": "Ask."}}
    assert answer.exit_code == 3
    assert refusal(Deny(Code.CONTENDED, "No.")).text.endswith("Next: Give the command again.")
    assert "--as ID" in refusal(Deny(Code.PERMISSION_DENIED, "No.")).text


def test_a_fault_cannot_write_to_the_terminal() -> None:
    assert "\x1b" not in answer_for(InterlockError("a\x1b[2J")).text
    assert "⟨U+001B⟩" in answer_for(InterlockError("a\x1b[2J")).text


def test_what_nobody_expected_is_redacted_and_says_how_to_see_more() -> None:
    answer = answer_for(ValueError("password=hunter2secret"))
    assert "hunter2secret" not in str(answer.document)
    assert "INTERLOCK_DEBUG=1" in answer.text


def test_a_traceback_is_shown_only_when_asked_for_and_redacted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = ValueError("password=hunter2secret")
    answer_for(fault)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("INTERLOCK_DEBUG", "1")
    answer_for(fault)
    err = capsys.readouterr().err
    assert "ValueError" in err
    assert "hunter2secret" not in err
