"""The sentences and schemas with which a very small model proposes the right call, as they were tried.

Tried with SmolLM2-135M at temperature 0 and tool_choice "required", both tools offered: it picks the tool that a short
sentence names at its end, and copies what stands there in quotation marks into arguments that are short and tightly
bounded. Sentences in other forms ("Search for: ...") get prose until the token limit instead of a call, an id that is
left to the model is noise ("aad-aad"), and so is its free text. So the user's question names the draft, and the draft
is made of numbers of passages that the search found, never of words of the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from documents import RESULTS_MAX, Passage, query_words
from drafts import DRAFT_ID_PATTERN, DRAFT_WORD_CHARACTERS_MAX

DEFAULT_QUESTION: Final = "How are approvals bound to operations?"
TOKENS_MAX: Final = 80
SNIPPET_CHARACTERS_MAX: Final = 60
QUERY_CHARACTERS_MAX: Final = 48
_QUERY_WORD: Final = re.compile(r"[a-z0-9]+")
_PLAIN_WORD: Final = re.compile(r"[a-z]{3,}")

SEARCH_NAME: Final = "search_documents"
SEARCH_DESCRIPTION: Final = "Search the documents for a few words."
SEARCH_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 3,
            "maxLength": QUERY_CHARACTERS_MAX,
            "pattern": "^[A-Za-z][A-Za-z0-9 -]{1,46}[A-Za-z0-9]$",
        }
    },
    "required": ["query"],
    "additionalProperties": False,
}

SAVE_NAME: Final = "save_draft"
SAVE_DESCRIPTION: Final = "Save a draft made of found passages."
SAVE_SCHEMA: Final[dict[str, object]] = {
    "type": "object",
    "properties": {
        "draft_id": {"type": "string", "maxLength": 21, "pattern": DRAFT_ID_PATTERN},
        "passages": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": RESULTS_MAX},
            "minItems": 2,
            "maxItems": 3,
        },
    },
    "required": ["draft_id", "passages"],
    "additionalProperties": False,
}


def search_sentence(question: str) -> str:
    """What the user says first. Of a question that is no possible query it holds only words that are one."""
    return f'Find "{_topic(question)}" with {SEARCH_NAME}.'


def save_sentence(draft_id: str) -> str:
    """What the user says once the search's result is in the conversation. The user names the draft, not the model."""
    return f'Save the passages as "{draft_id}" with {SAVE_NAME}.'


def draft_id_for(question: str) -> str:
    """Two words of the question, such as `approvals-bound`: the same question always names the same draft."""
    words = [word[:DRAFT_WORD_CHARACTERS_MAX] for word in query_words(question) if _PLAIN_WORD.fullmatch(word)]
    return "-".join([*words[:2], "draft", "notes"][:2])


def results_text(passages: Sequence[Passage]) -> str:
    """What the model is told about the passages that were found: a numbered line for each, and short."""
    if not passages:
        return "Nothing was found."
    return "\n".join(f"{number} {_line(passage)}" for number, passage in enumerate(passages, start=1))


def _topic(question: str) -> str:
    """The question where it fits a query; else as many of its words as do."""
    if len(question) <= QUERY_CHARACTERS_MAX and question.isascii():
        return question
    topic = ""
    for word in filter(_QUERY_WORD.fullmatch, query_words(question)):
        if len(topic) + 1 + len(word) > QUERY_CHARACTERS_MAX:
            break
        topic = f"{topic} {word}".strip()
    return topic or question


def _line(passage: Passage) -> str:
    heading = passage.heading.rpartition(" > ")[2]
    return f"{passage.file} {heading}: {' '.join(passage.text.split())[:SNIPPET_CHARACTERS_MAX]}"
