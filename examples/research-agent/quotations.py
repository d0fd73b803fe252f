"""Writes the passages that a proposal chose as one numbered text, and reads them back from it.

This text is injected into the operation that is approved. So what "passage 2" means is frozen with the number: the
approver sees these words and no others, and the draft is made of them whatever a later search finds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from documents import Passage

_HEADER: Final = re.compile(r"\[(\d+)\] (.+?):(\d+)-(\d+)(?:, (.*))?")


class NoSuchPassage(Exception):
    """A number that the search did not give. The message is for the model."""


def quoted(passages: Sequence[Passage], *, numbers: Sequence[int]) -> str:
    """Those of the passages (counted from 1) that the numbers choose, each once, in the order given.

    `[1] file:12-20, Heading`, then the passage's lines, each after `> `. Raises NoSuchPassage.
    """
    known = dict(enumerate(passages, start=1))
    missing = sorted(set(numbers) - known.keys())
    if missing:
        raise NoSuchPassage(f"The search found passages 1 to {len(passages)}; there is no passage {missing[0]}.")
    return "\n".join(_block(number, known[number]) for number in dict.fromkeys(numbers))


def chosen(found: str, *, numbers: Sequence[int]) -> tuple[Passage, ...]:
    """The passages with these numbers, read back from what was quoted, each once, in order. Raises NoSuchPassage."""
    passages = _read(found)
    missing = sorted(set(numbers) - passages.keys())
    if missing:
        raise NoSuchPassage(f"There is no passage {missing[0]} in what was frozen.")
    return tuple(passages[number] for number in dict.fromkeys(numbers))


def _block(number: int, passage: Passage) -> str:
    heading = f", {passage.heading}" if passage.heading else ""
    lines = "\n".join(f"> {line}" for line in passage.text.split("\n"))
    return f"[{number}] {passage.source}{heading}\n{lines}"


def _read(found: str) -> dict[int, Passage]:
    """No line of a passage can be taken for a header, since each stands after `> `."""
    blocks: list[tuple[re.Match[str], list[str]]] = []
    for line in found.split("\n"):
        header = _HEADER.fullmatch(line)
        if header:
            blocks.append((header, []))
        elif blocks and line.startswith("> "):
            blocks[-1][1].append(line.removeprefix("> "))
    return {int(header[1]): _passage(header, "\n".join(lines)) for header, lines in blocks}


def _passage(header: re.Match[str], text: str) -> Passage:
    return Passage(header[2], int(header[3]), int(header[4]), header[5] or "", text)
