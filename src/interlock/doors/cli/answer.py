"""What a verb has to say, and the one place where it is said: a JSON document, or text without escape sequences."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from interlock.core.canonical import Json

DONE, PROBLEM, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit codes beside those of calls: it went well, something is wrong, the command line is not understood, Ctrl-C."""

REFUSED = 3
"""The exit code of whatever the gate or a desk refused."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verb's whole answer. `document` is for programs, `text` says the same to people.

    A verb that could not do what was asked for has an `error` in its document, and its text goes to standard error.
    What was `given` line by line already is not said again. `file` is what was asked for as bytes: it goes to standard
    output by itself, and the text to standard error.
    """

    document: Mapping[str, Json]
    text: str
    exit_code: int = DONE
    file: bytes | None = None
    given: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether there is no answer. A report of problems is one, and so is a refused or failed call."""
        return bool(self.document.get("error")) and self.exit_code in (PROBLEM, USAGE, INTERRUPTED)


def say(answer: Answer, *, as_json: bool) -> int:
    """Print an answer as asked for; its exit code."""
    if answer.given:
        return answer.exit_code
    if answer.file is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.file)
        note(answer.text)
    elif as_json:
        # ASCII only: a terminal that shows the document runs no escape sequence out of it.
        sys.stdout.write(json.dumps(answer.document, indent=2) + "\n")
    else:
        stream = sys.stderr if answer.is_fault else sys.stdout
        stream.write(_harmless(answer.text) + "\n")
    return answer.exit_code


def give(stream: TextIO, document: Mapping[str, Json], text: str, *, as_json: bool) -> None:
    """Print one of the parts of an answer as it comes: a line of JSON, or text."""
    stream.write((json.dumps(document) if as_json else _harmless(text)) + "\n")
    stream.flush()


def note(text: str) -> None:
    """Tell a person something by the way, on standard error."""
    sys.stderr.write(_harmless(text) + "\n")


def _harmless(text: str) -> str:
    """Values have been made visible one by one; this takes out what was missed, whatever it is."""
    from interlock.core.text import clean

    return clean(text.rstrip("\n")).text
