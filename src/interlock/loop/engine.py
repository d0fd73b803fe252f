"""What the desk of runs needs of whoever drives them."""

from __future__ import annotations

from typing import Protocol

from interlock.loop.view import RunView
from interlock.ports import RunClaim


class Engine(Protocol):
    """Drives runs: those that begin here, those that are woken, and those that a dead process has left."""

    @property
    def is_driving(self) -> bool:
        """Whether it drives any runs at all."""

    def start(self, view: RunView, claim: RunClaim) -> None:
        """Drive a run that this process holds."""

    def driven(self, tenant: str, run_id: str) -> RunView | None:
        """Where a run stands that is driven here; None for any other."""

    async def rested(self, tenant: str, run_id: str) -> RunView | None:
        """Where a run stands once it is not driven here any more; None for one that was not."""

    async def wake(self, tenant: str, run_id: str) -> None:
        """Something was said to a run: look at it soon, wherever it is."""

    async def go_on(self, tenant: str, run_id: str) -> None:
        """Drive a run here from now on, whenever it is due and nobody else has it; look at it now."""

    async def recover(self) -> int:
        """Take what is due, now; how many runs were taken."""

    async def close(self) -> None:
        """Let go of every run at its next step, so that another process can take it."""
