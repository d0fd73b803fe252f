"""Names of the documents that hold what the library has of a tool: its examples, words that lead to it, its probes."""

from __future__ import annotations

from typing import Final

_BETWEEN: Final = "\x1f"
"""Between the parts of a name; `can_be_kept` sees to it that no part holds it."""


def example_name(tool: str, name: str) -> str:
    """The document of an example, or of what a probe of this name has found."""
    return f"{tool}{_BETWEEN}{name}"


def case_name(tool: str, id_: str) -> str:
    """The document of words for a tool. They have no name of their own, so theirs is never that of an example."""
    return f"{tool}{_BETWEEN * 2}{id_}"


def is_case(document_name: str) -> bool:
    """Whether a document holds words for a tool, and not an example of it."""
    return _BETWEEN * 2 in document_name


def tool_of(document_name: str) -> str:
    """The tool that a document is about."""
    return document_name.partition(_BETWEEN)[0]


def words_of(document_name: str) -> str:
    """The name of the document of an example or a case, for people."""
    return document_name.replace(_BETWEEN * 2, ": ").replace(_BETWEEN, ": ")


def can_be_kept(tool: str, name: str) -> bool:
    """Whether an example of this name can be told from others once it is kept."""
    return _BETWEEN not in f"{tool}{name}"
