"""What comes of a call is written into its run where the call is settled, or its refusal recorded: one sync for both.

The step is made of the receipt, so it is made within that transaction. It is guarded like every other: where something
was said to the run meanwhile, or another process has it, the call is settled and nothing of the step is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from interlock.core.observation import Observation, Status
from interlock.core.refusals import Code
from interlock.loop.entries import Step, causes_of, entries_of
from interlock.loop.machine import after
from interlock.ports import NotMoved, RunMove

if TYPE_CHECKING:
    from interlock.loop.drive import Drive


class Noting:
    """The step of one call that its drive waits for. Implements `Note` of the gate.

    `steps_of` says what is written, given what came of the call. `result` is what became of it; None: it was not tried.
    It may be asked in another thread, while the drive waits.
    """

    steps: Sequence[Step] = ()
    at_us = 0
    result: int | NotMoved | None = None

    def __init__(self, drive: Drive, steps_of: Callable[[Observation], Sequence[Step]]) -> None:
        self.claim = drive.claim
        self.version = drive.view.version
        self.began_s = drive.clock.monotonic_s()
        self._state = drive.view.state
        self._now_us = drive.now_us
        self._steps_of = steps_of

    def move(self, seen: Observation) -> RunMove:
        """The step of the run, given what came of the call."""
        steps, at_us = self.steps, self.at_us = self._steps_of(seen), self._now_us()
        state = after(self._state, causes_of(steps))
        return RunMove(self.claim, self.version, entries_of(steps, at_us=at_us), str(state), at_us)

    def takes(self, seen: Observation) -> bool:
        """Whether that is what came of the call: not where somebody is at it, or may be about to look it up."""
        if seen.error is not None and seen.error.code is Code.IDEMPOTENCY_IN_PROGRESS:
            return False
        return seen.status is not Status.UNKNOWN or not seen.replayed

    def moved(self, moved: int | NotMoved | None) -> None:
        """What became of it."""
        self.result = moved
