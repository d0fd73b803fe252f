"""Says, before any model is asked, why a question cannot be researched here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from documents import Passage, query_words

PASSAGES_MIN: Final = 2
"""A draft quotes two or three passages."""

NOT_ENGLISH: Final = (
    "The small model and the search know English words only. Ask in English, "
    "or set OPENAI_API_KEY to have a hosted model look for English words.\n"
    "小模型和搜索只认英文单词。请用英文提问，或者设置 OPENAI_API_KEY，由托管模型换成英文单词去搜索。"
)
_WORD: Final = re.compile(r"[a-z][a-z0-9]*")


def hurdle(question: str, *, passages: Sequence[Passage], hosted: bool) -> str:
    """What stands in the way, in sentences for the user; nothing where the model can be asked."""
    if len(passages) < PASSAGES_MIN:
        found = "is one passage" if passages else "is no passage"
        return f"There {found} in the folder's .md and .markdown files; a draft quotes at least two."
    return "" if hosted or _is_english(question) else NOT_ENGLISH


def _is_english(question: str) -> bool:
    """Whether it holds words to search for. Another language in Latin letters cannot be told from English."""
    letters = [each for each in question if each.isalpha()]
    is_latin = all(each.isascii() or unicodedata.name(each, "").startswith("LATIN") for each in letters)
    return is_latin and any(map(_WORD.fullmatch, query_words(question)))
