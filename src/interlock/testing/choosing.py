"""A chooser that chooses what a test wrote down, for tests of descriptions without a search or a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interlock.core.catalogue import Tool


@dataclass(slots=True)
class FakeChooser:
    """Chooses by the words; words that it does not know it could not be asked for. `asked` are those that it was."""

    choices: Mapping[str, str]
    name: str = "fake"
    asked: list[str] = field(default_factory=list)

    async def choose(self, words: str, among: tuple[Tool, ...]) -> str | None:
        """What was written down."""
        self.asked.append(words)
        return self.choices.get(words)
