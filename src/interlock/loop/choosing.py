"""Has a model choose a tool for a user's words, as it would in a run's first turn. What it proposes is never called."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from interlock.core.catalogue import Tool
from interlock.core.model_text import model_text
from interlock.core.selection import NO_TOOL
from interlock.loop.model import Model
from interlock.models.catalogue_names import catalogue_name
from interlock.models.dialects import declare
from interlock.models.turn import Ended

_ANSWERED: Final = frozenset({Ended.CALLS_ALLOWED, Ended.ANSWER, Ended.TRUNCATED, Ended.REFUSED})
"""Ends of a turn in which the model has said something; all others are faults of somebody else."""


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Asks a model once for each words, with the tools declared as a run declares them."""

    model: Model
    instructions: str = ""

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    async def choose(self, words: str, among: tuple[Tool, ...]) -> str | None:
        """The tool of its first call, an invented name with a blank in front; empty where it calls none."""
        triples = [(tool.spec.name, model_text(tool.spec), json.loads(tool.model_schema)) for tool in among]
        declared = declare(triples, dialect=self.model.dialect)
        said: list[dict[str, object]] = [{"role": "user", "content": words}]
        if self.instructions:
            said.insert(0, {"role": "system", "content": self.instructions})
        body = self.model.codec.request(said, options=self.model.options, tools=declared.tools)
        turn = (await self.model.ask(body)).turn
        if turn.ended not in _ANSWERED:
            return None
        return catalogue_name(turn.calls[0], declared.names) if turn.calls else NO_TOOL
