"""The small model of the research agent, asked as runs ask: it is made to call, since it would rather talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from model_server import MODEL_NAME, running_model

from interlock.loop.model import Reply
from interlock.providers import OpenAIChat

TOKENS_MAX: Final = 80


@dataclass(eq=False)
class Obliged(OpenAIChat):
    """A model that has to call one of its tools wherever it has any, and hears its instructions last, a line a turn.

    It does what the last sentence says, if that is short, and has forgotten the one before. What it proposes is its own.
    """

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """Ask it, for a call where calls are allowed."""
        if body.get("tools") and body.get("tool_choice") == "auto":
            body = {**body, "tool_choice": "required"}
        return await super().ask({**body, "messages": _line_last(body["messages"])})


def _line_last(messages: object) -> list[object]:
    """The conversation with the line of the instructions that is to be followed now at its end."""
    if not isinstance(messages, list) or messages[0]["role"] != "system":
        return [messages]
    lines = str(messages[0]["content"]).splitlines()
    turn = sum(each["role"] == "assistant" for each in messages)
    return [*messages[1:], {"role": "user", "content": lines[min(turn, len(lines) - 1)]}]


@contextmanager
def small_model() -> Iterator[Obliged]:
    """The model, for as long as the block lasts. Raises `ModelUnavailable`."""
    with running_model() as server:
        yield Obliged(MODEL_NAME, base_url=server.base_url, name=MODEL_NAME, temperature=0, tokens_max=TOKENS_MAX)
