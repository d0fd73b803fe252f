"""Saying: one document for programs, harmless text for people, each on its stream."""

import json

import pytest

from interlock.core.canonical import Json
from interlock.doors.cli.answer import DONE, INTERRUPTED, PROBLEM, REFUSED, USAGE, Answer, note, say


@pytest.mark.requirement("DOOR-6")
def test_json_is_one_document_of_plain_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    assert say(Answer({"a": "\x1b[2J\u202e\x7f\x9b联锁"}, "text"), as_json=True) == DONE
    out, err = capsys.readouterr()
    assert out.isascii()
    assert not any(each < " " and each != "\n" for each in out)
    assert "\x7f" not in out
    assert json.loads(out) == {"a": "\x1b[2J\u202e\x7f\x9b联锁"}
    assert err == ""


def test_an_escape_sequence_that_slipped_through_does_not_reach_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(Answer({}, "a\x1b[2Jb\x9bc"), as_json=False)
    note("d\x1b[31me")
    assert capsys.readouterr() == ("a[2Jbc\n", "d[31me\n")


@pytest.mark.parametrize(
    ("document", "code", "is_fault"),
    [
        ({}, DONE, False),
        ({"problems": 1}, PROBLEM, False),
        ({"error": None}, DONE, False),
        ({"error": {"code": "X"}}, REFUSED, False),
        ({"error": {"code": "X"}}, PROBLEM, True),
        ({"error": {"code": "X"}}, USAGE, True),
        ({"error": {"code": "X"}}, INTERRUPTED, True),
    ],
)
def test_what_could_not_be_done_is_said_on_standard_error(
    document: dict[str, Json], code: int, is_fault: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert say(Answer(document, "text", code), as_json=False) == code
    out, err = capsys.readouterr()
    assert (out, err) == (("", "text\n") if is_fault else ("text\n", ""))


@pytest.mark.parametrize("as_json", [True, False])
def test_a_file_goes_to_standard_output_by_itself(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    assert say(Answer({}, "Two lines.", file=b"one\ntwo\n"), as_json=as_json) == DONE
    assert capsys.readouterr() == ("one\ntwo\n", "Two lines.\n")
