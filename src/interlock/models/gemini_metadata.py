"""Reads what Gemini says around a turn's parts: errors, blocked prompts, usage, searches that metadata tells of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from interlock.models.turn import REASON_CHARACTERS_MAX, ProviderCall, Usage

_DIGITS_MAX: Final = 15


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects of a list; nothing of anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The value if it is text, else nothing."""
    return value if isinstance(value, str) else ""


def error_sentence(body: Mapping[str, object]) -> str:
    """The provider's own words for what went wrong. They are untrusted text, to show."""
    error = body.get("error")
    words = text(error) or text(mapping(error).get("message")) or text(body.get("message"))
    return (words or "The provider reported an error without a message.")[:REASON_CHARACTERS_MAX]


def feedback_words(feedback: object) -> str:
    """Why a prompt was blocked; empty where it was not. Feedback without a reason only rates the prompt."""
    reason = mapping(feedback).get("blockReason")
    if not reason or reason == "BLOCK_REASON_UNSPECIFIED":
        return ""
    return text(mapping(feedback).get("blockReasonMessage")) or f"The prompt was blocked: {reason}"


def read_usage(value: object) -> Usage:
    """Tokens in, with those of provider-run tools; tokens out, with the thoughts. Each is paid for as such."""
    usage = mapping(value)
    return Usage(
        _sum(usage, ("promptTokenCount", "toolUsePromptTokenCount")),
        _sum(usage, ("candidatesTokenCount", "thoughtsTokenCount")),
    )


def work_in(metadata: Mapping[str, Mapping[str, object]], *, beside: Iterable[ProviderCall]) -> list[ProviderCall]:
    """Searches and pages read that no part tells of: older versions show them as metadata of the candidate alone."""
    if any(call.kind == "toolCall" for call in beside):
        return []
    grounding = mapping(metadata.get("groundingMetadata"))
    pages = mappings(mapping(metadata.get("urlContextMetadata")).get("urlMetadata"))
    found = (
        ("google_search", "queries", grounding.get("webSearchQueries")),
        ("retrieval", "queries", grounding.get("retrievalQueries")),
        ("url_context", "urls", [page.get("retrievedUrl") for page in pages]),
    )
    return [
        ProviderCall(name, None, "groundingMetadata" if field == "queries" else "urlContextMetadata", _one(field, what))
        for name, field, what in found
        if what
    ]


def _one(name: str, value: object) -> str:
    return json.dumps({name: value})


def _sum(usage: Mapping[str, object], names: Iterable[str]) -> int | None:
    counts = [count for count in map(_count, map(usage.get, names)) if count is not None]
    return sum(counts) if counts else None


def _count(value: object) -> int | None:
    """A count; 64-bit integers are text in the JSON of protocol buffers."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS_MAX:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
