"""The small model of the research agent, asked as runs ask: it is made to call, since it would rather talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from model_server import MODEL_NAME, running_model

from interlock.loop.model import Reply
from interlock.providers import OpenAIChat

TOKENS_MAX: Final = 80


@dataclass(eq=False)
class Obliged(OpenAIChat):
    """A model that has to call one of its tools where it has any, and hears its instructions alone, line by line.

    It does what one short sentence says; more than that, such as the task, and it talks. What it proposes is its own.
    """

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """Ask it, for a call where calls are allowed."""
        if body.get("tools") and body.get("tool_choice") == "auto":
            body = {**body, "tool_choice": "required"}
        messages = body["messages"]
        return await super().ask({**body, "messages": line_by_line(messages) if isinstance(messages, list) else []})


def line_by_line(messages: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """The conversation with a line of the instructions before each turn, and without the task. The last line stays."""
    lines = str(messages[0]["content"]).splitlines()
    told: list[Mapping[str, object]] = []
    turn = 0
    for each in messages[2:]:
        if each["role"] == "assistant":
            told.append(_said(lines, turn))
            turn += 1
        told.append(each)
    return [*told, _said(lines, turn)]


def _said(lines: Sequence[str], turn: int) -> Mapping[str, object]:
    return {"role": "user", "content": lines[min(turn, len(lines) - 1)]}


@contextmanager
def small_model() -> Iterator[Obliged]:
    """The model, for as long as the block lasts. Raises `ModelUnavailable`."""
    with running_model() as server:
        yield Obliged(MODEL_NAME, base_url=server.base_url, name=MODEL_NAME, temperature=0, tokens_max=TOKENS_MAX)
