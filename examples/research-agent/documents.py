"""Finds passages in a folder of Markdown, each with its file and lines, so that every quotation can be checked.

The folder is read once, bounded in files, bytes and depth. Links are not followed, so nothing outside the folder is
ever read; what was not read is reported with a reason. Search is SQLite's full text search in memory: the same folder
and the same words give the same passages in the same order.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import apsw

FILES_MAX: Final = 2_000
FILE_BYTES_MAX: Final = 1_048_576
ENTRIES_MAX: Final = 50_000
DEPTH_MAX: Final = 12
PASSAGES_MAX: Final = 50_000
LINE_CHARACTERS_MAX: Final = 4_000
PASSAGE_CHARACTERS_MIN: Final = 200
PASSAGE_CHARACTERS_MAX: Final = 900
QUERY_WORDS_MAX: Final = 16
RESULTS_MAX: Final = 5

SUFFIXES: Final = (".md", ".markdown")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*$")
_FENCE: Final = re.compile(r" {0,3}(```+|~~~+)")
_WORD: Final = re.compile(r"\w+")
_COMMON_WORDS: Final = frozenset(
    """a after an and are as at be by can do does find for from has have how i in is it of on or search that the then
    this to was what when where which who why will with""".split()
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Whole lines of one file, both ends included, under the headings that they stand below."""

    file: str
    first_line: int
    last_line: int
    heading: str
    text: str

    @property
    def source(self) -> str:
        """Where it stands, such as `docs/design.md:12-20`."""
        return f"{self.file}:{self.first_line}-{self.last_line}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the folder that was not read, and why."""

    file: str
    reason: str


class Library:
    """The passages of one folder, held in memory and searchable until it is closed."""

    def __init__(self, passages: tuple[Passage, ...], *, skipped: tuple[Skipped, ...] = ()) -> None:
        self.passages = passages
        self.skipped = skipped
        self._index = apsw.Connection(":memory:")
        self._index.execute("CREATE VIRTUAL TABLE passage USING fts5(heading, text, tokenize = 'porter unicode61')")
        rows = ((number, passage.heading, passage.text) for number, passage in enumerate(passages))
        with self._index:
            self._index.executemany("INSERT INTO passage(rowid, heading, text) VALUES (?, ?, ?)", rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()

    def search(self, query: str, *, limit: int = RESULTS_MAX) -> tuple[Passage, ...]:
        """The passages that fit the words best, the best first. Headings count twice. No words: no passages."""
        words = query_words(query)
        if not words:
            return ()
        found = self._index.execute(
            "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY bm25(passage, 2.0, 1.0), rowid LIMIT ?",
            (" OR ".join(f'"{word}"' for word in words), min(limit, RESULTS_MAX)),
        )
        return tuple(self.passages[number] for (number,) in found)


def query_words(query: str) -> tuple[str, ...]:
    """The words to look for: each once, without the common ones unless there are no others. Nothing is syntax."""
    words = tuple(dict.fromkeys(_WORD.findall(query.casefold())))
    return tuple(word for word in words if word not in _COMMON_WORDS)[:QUERY_WORDS_MAX] or words[:QUERY_WORDS_MAX]


def open_library(folder: Path, *, only: Sequence[str] = ()) -> Library:
    """Read every Markdown file below the folder, or of it only these files and folders.

    Raises NotADirectoryError or FileNotFoundError for no folder.
    """
    passages: list[Passage] = []
    skipped: list[Skipped] = []
    for file, content in sorted(_read_files(folder.resolve(strict=True)), key=lambda entry: entry[0]):
        if only and file.partition("/")[0] not in only:
            continue
        if isinstance(content, str):
            passages += split(file, text=content)
        else:
            skipped.append(content)
    if len(passages) > PASSAGES_MAX:
        skipped.append(Skipped(passages[PASSAGES_MAX].file, f"more than {PASSAGES_MAX} passages: the rest is left out"))
    return Library(tuple(passages[:PASSAGES_MAX]), skipped=tuple(skipped))


def split(file: str, *, text: str) -> Iterator[Passage]:
    """Cut a Markdown text at headings, then at blank lines, into passages of a few hundred characters."""
    headings: list[tuple[int, str]] = []
    block = _Block()
    fence = ""
    for number, line in enumerate(text.split("\n"), start=1):
        heading = None if fence else _HEADING.match(line)
        if heading or block.is_full(line, fenced=bool(fence)):
            yield from block.take(file, heading=" > ".join(title for _, title in headings))
        if heading:
            level = len(heading[1])
            headings = [(depth, title) for depth, title in headings if depth < level] + [(level, heading[2])]
        else:
            block.add(number, line=line)
            fence = _fence_after(line, fence=fence)
    yield from block.take(file, heading=" > ".join(title for _, title in headings))


class _Block:
    """The lines of the passage that is being collected."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._characters = 0

    def is_full(self, line: str, *, fenced: bool) -> bool:
        if self._characters + len(line) > PASSAGE_CHARACTERS_MAX:
            return True
        return not fenced and not line.strip() and self._characters >= PASSAGE_CHARACTERS_MIN

    def add(self, number: int, *, line: str) -> None:
        if self._lines or line.strip():
            self._lines.append((number, line.removesuffix("\r")))
            self._characters += len(line)

    def take(self, file: str, *, heading: str) -> Iterator[Passage]:
        while self._lines and not self._lines[-1][1].strip():
            self._lines.pop()
        if self._lines:
            text = "\n".join(line for _, line in self._lines)
            yield Passage(file, self._lines[0][0], self._lines[-1][0], heading, text)
        self._lines, self._characters = [], 0


def _fence_after(line: str, *, fence: str) -> str:
    """The mark of the code fence that is open after this line, or nothing."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1]
    return "" if mark[1].startswith(fence) else fence


def _read_files(root: Path) -> Iterator[tuple[str, str | Skipped]]:
    """Each Markdown file by its path within the folder, with its text or why it was not read.

    Files are opened relative to the folder that lists them and without following links, so that a folder which is
    swapped for a link while it is being read leads nowhere else.
    """
    read = seen = 0
    unlisted: list[OSError] = []
    for place, folders, files, place_fd in os.fwalk(root, follow_symlinks=False, onerror=unlisted.append):
        within = Path(place).relative_to(root)
        seen += len(files) + len(folders)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and _is_plain(name))
        if len(within.parts) >= DEPTH_MAX:
            folders.clear()
        for name in sorted(name for name in files if name.lower().endswith(SUFFIXES)):
            file = (within / name).as_posix()
            read += 1
            yield file, _read_file(name, file=file, folder_fd=place_fd)
            if read >= FILES_MAX:
                break
        if read >= FILES_MAX or seen > ENTRIES_MAX:
            yield (
                within.as_posix(),
                Skipped(within.as_posix(), "the folder holds too much: from here on it is left out"),
            )
            return
    for error in unlisted:
        yield str(error.filename), Skipped(ascii(str(error.filename)), f"it cannot be listed ({error.strerror})")


def _read_file(name: str, *, file: str, folder_fd: int) -> str | Skipped:
    if not _is_plain(name):
        return Skipped(ascii(file), "its name holds characters that cannot be shown")
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder_fd)
    except OSError as error:
        return Skipped(file, _why_not_opened(name, folder_fd=folder_fd, error=error))
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return Skipped(file, "it is no regular file")
        content = opened.read(FILE_BYTES_MAX + 1)
    return _decode(content, file=file)


def _decode(content: bytes, *, file: str) -> str | Skipped:
    if len(content) > FILE_BYTES_MAX:
        return Skipped(file, f"it is larger than {FILE_BYTES_MAX} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Skipped(file, f"it is not UTF-8 (byte {error.start})")
    if any(len(line) > LINE_CHARACTERS_MAX for line in text.split("\n")):
        return Skipped(file, f"it has a line of more than {LINE_CHARACTERS_MAX} characters")
    return text


def _why_not_opened(name: str, *, folder_fd: int, error: OSError) -> str:
    try:
        linked = stat.S_ISLNK(os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode)
    except OSError:
        linked = False
    return "it is a link, and links are not followed" if linked else f"it cannot be opened ({error.strerror})"


def _is_plain(name: str) -> bool:
    return name.isprintable()
