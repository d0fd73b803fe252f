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
    """A model that has to call one of its tools wherever it has any."""

    async def ask(self, body: Mapping[str, object]) -> Reply:
        """Ask it, for a call where calls are allowed."""
        if body.get("tools") and body.get("tool_choice") == "auto":
            body = {**body, "tool_choice": "required"}
        return await super().ask(body)


@contextmanager
def small_model() -> Iterator[Obliged]:
    """The model, for as long as the block lasts. Raises `ModelUnavailable`."""
    with running_model() as server:
        yield Obliged(MODEL_NAME, base_url=server.base_url, name=MODEL_NAME, temperature=0, tokens_max=TOKENS_MAX)
