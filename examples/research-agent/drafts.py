"""Composes a draft of quoted passages, saves it once, and can tell later whether it was saved.

A draft is whole or absent: it is written beside its place, flushed, then linked into place, which fails when another
draft is already there. Nothing is ever overwritten.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from documents import Passage

DRAFT_WORD_CHARACTERS_MAX: Final = 10
DRAFT_ID_PATTERN: Final = "^[a-z]{3,10}-[a-z]{3,10}$"
DRAFT_BYTES_MAX: Final = 65_536
_DRAFT_ID: Final = re.compile(DRAFT_ID_PATTERN)


class Written(StrEnum):
    """What came of saving a draft."""

    SAVED = "saved"
    ALREADY_THERE = "already_there"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it lies on disk."""

    draft_id: str
    path: Path
    sha256: str
    size_bytes: int


def draft_path(folder: Path, *, draft_id: str) -> Path:
    """Where a draft lies. Raises ValueError for an id that could lead anywhere else."""
    if not _DRAFT_ID.fullmatch(draft_id):
        raise ValueError("A draft id is two words of three to ten small letters, joined by a hyphen.")
    return folder / f"{draft_id}.md"


def compose_draft(draft_id: str, *, question: str, passages: Sequence[Passage]) -> str:
    """The draft as Markdown: each passage quoted word for word, with its file and lines. The same in, the same out.

    Raises ValueError for a draft above 64 KiB.
    """
    title = f"# {draft_id.replace('-', ' ').capitalize()}\n"
    asked = f"\nQuestion: {' '.join(question.split())}\n"
    text = title + asked + "".join(_quotation(passage) for passage in passages)
    if len(text.encode()) > DRAFT_BYTES_MAX:
        raise ValueError(f"The draft is larger than {DRAFT_BYTES_MAX} bytes.")
    return text


def write_draft_atomically(path: Path, *, text: str) -> Written:
    """Save the draft, whole and durable, where none is yet. A different draft in its place stays untouched."""
    content = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write_durably(beside, content=content)
        path.hardlink_to(beside)
    except FileExistsError:
        return Written.ALREADY_THERE if _read(path) == content else Written.TAKEN
    finally:
        beside.unlink(missing_ok=True)
    _flush_folder(path.parent)
    return Written.SAVED


def find_draft(folder: Path, *, draft_id: str) -> Draft | None:
    """The draft that is on disk, if there is one: equal `sha256` means that it was saved, None that it was not."""
    path = draft_path(folder, draft_id=draft_id)
    content = _read(path)
    if content is None:
        return None
    return Draft(draft_id, path, sha256=hashlib.sha256(content).hexdigest(), size_bytes=len(content))


def _quotation(passage: Passage) -> str:
    lines = "".join(f"> {line}".rstrip() + "\n" for line in passage.text.split("\n"))
    below = f", {passage.heading}" if passage.heading else ""
    return f"\n{lines}\n({passage.source}{below})\n"


def _write_durably(path: Path, *, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path) -> bytes | None:
    """The file's bytes, or None where none is. A link in its place is not followed: it reads as empty."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(DRAFT_BYTES_MAX + 1)
