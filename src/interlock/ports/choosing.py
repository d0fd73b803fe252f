"""What chooses a tool for a user's words, so that descriptions can be tried: a search, or a model."""

from __future__ import annotations

from typing import Protocol

from interlock.core.catalogue import Tool


class Chooser(Protocol):
    """Owned by `runtime.choosing`. `name` is what its choices are kept under."""

    @property
    def name(self) -> str: ...

    async def choose(self, words: str, among: tuple[Tool, ...]) -> str | None:
        """The name of the tool that it would call first; empty: none of them. None: it could not be asked."""
