"""Shows each step as it happens: in colour on a terminal, else as plain lines."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from interlock.core.text import visible

WORD_WIDTH: Final = 10
TEXT_WIDTH_MIN: Final = 20
GOES_ON: Final = "… "
STYLES: Final = {
    "PROPOSED": "cyan",
    "EXECUTED": "bold green",
    "REPLAYED": "green",
    "RECONCILED": "bold green",
    "SAVED": "bold green",
    "APPROVED": "bold green",
    "WAITING": "bold yellow",
    "NO CALL": "yellow",
    "CONTINUES": "yellow",
    "DECLINED": "bold red",
    "REFUSED": "red",
    "NO VOTE": "red",
    "FAILED": "bold red",
    "UNKNOWN": "bold magenta",
    "STOPPED": "bold yellow",
}
PAPER: Final = Console(file=io.StringIO())
"""Text is measured on it, never printed."""


class Screen:
    """Where the steps are shown. `durable` says at any moment what would still hold if the program were killed."""

    def __init__(self, *, plain: bool) -> None:
        is_terminal = sys.stdout.isatty()
        self._console = Console(highlight=False) if is_terminal and not plain else None
        columns = self._console.width if self._console else shutil.get_terminal_size().columns
        self._text_width = columns - WORD_WIDTH - len("  ") if is_terminal else None
        self.durable = "Nothing has been proposed yet."

    def say(self, word: str, text: str, *, why: str = "") -> None:
        """One step, and below it why."""
        first, _, more = text.partition("\n")
        self._line(word, visible(first), style=STYLES.get(word, "bold"))
        if more:
            self.below(more)
        if why:
            self.below(why)

    def below(self, text: str) -> None:
        """More of the step above, line by line."""
        for line in visible(text).split("\n"):
            self._line("", line, style="")

    def question(self, summary: str) -> None:
        """What an approver decides on, whole; it was made visible when it was written.

        A terminal would go on with a long line where the program's own words stand, so it is folded here.
        """
        for line in summary.split("\n"):
            for part in folded(line, width=self._text_width and self._text_width - len("| ")):
                self._line("", f"| {part}", style="")

    def heading(self, text: str) -> None:
        """The title of a part."""
        self._print(Text(f"\n{text}", style="bold") if self._console else f"\n{text}")

    def table(self, rows: Sequence[tuple[str, str]]) -> None:
        """What it came to, as names and values."""
        if self._console is None:
            for name, value in rows:
                self._print(f"  {name:<12}{value}")
            return
        table = Table(show_header=False)
        for name, value in rows:
            table.add_row(name, value)
        self._console.print(table)

    def _line(self, word: str, text: str, *, style: str) -> None:
        start = f"{word:<{WORD_WIDTH}}  "
        if self._console is None:
            self._print((start + text).rstrip())
            return
        shown = Table.grid()
        shown.add_column(no_wrap=True)
        shown.add_column(overflow="fold")
        shown.add_row(Text(start, style=style), Text(text, style="" if word else "dim"))
        self._console.print(shown)

    def _print(self, text: str | Text) -> None:
        if self._console is None:
            print(text, flush=True)
        else:
            self._console.print(text)


def folded(line: str, *, width: int | None) -> list[str]:
    """The line in parts that fit, each after the first marked and indented like the line; whole without a width.

    The mark is what tells text that goes on from a line of its own, whatever the text says.
    """
    if width is None:
        return [line]
    indent = len(line) - len(line.lstrip(" "))
    start = line[: min(indent, max(0, width - len(GOES_ON) - TEXT_WIDTH_MIN))]
    goes_on = start + GOES_ON
    room = max(width - len(goes_on), TEXT_WIDTH_MIN)
    first, *rest = Text(line.removeprefix(start)).wrap(PAPER, room, overflow="fold") or [Text()]
    return [start + first.plain, *[goes_on + part.plain for part in rest]]
