"""When a review proposes something: the thresholds, each with its default."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from interlock.core.errors import SettingsInvalid

PERCENT: Final = "_percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """Whole numbers from 1; those in percent are up to 100. A value that cannot be used raises `SettingsInvalid`.

    - `calls_min`: of how many calls a share says anything; below it nothing is proposed for a share.
    - `failing_percent`: so many executions failed: freeze.
    - `lost_percent`: of so many effects it was not known whether they happened: freeze.
    - `idle_days`: nobody called it for so long: retire.
    - `denied_percent`: policy refused so many proposals: narrow who is offered it.
    - `misspelt_percent`: the arguments of so many proposals were refused: fix its words, add examples.
    - `exchanged_percent`: in so many proposals of followed runs another tool was taken instead: fix its words.
    - `alike_percent`: two tools share so much of their words and schemas: merge.
    - `timeouts_percent`: so many executions did not answer in time: raise the timeout.
    - `roomy_times`: the timeout is so many times what all but 5% of the executions take: lower it; one of up to
      `roomy_ms` is never too long.
    - `detour_times`: so often the same tools one after the other are a detour that is told.
    """

    calls_min: int = 20
    failing_percent: int = 50
    lost_percent: int = 5
    idle_days: int = 90
    denied_percent: int = 50
    misspelt_percent: int = 20
    exchanged_percent: int = 20
    alike_percent: int = 70
    timeouts_percent: int = 5
    roomy_times: int = 20
    roomy_ms: int = 30_000
    detour_times: int = 5

    def __post_init__(self) -> None:
        for each in fields(self):
            value: object = getattr(self, each.name)
            most = 100 if each.name.endswith(PERCENT) else None
            if type(value) is not int or value < 1 or (most is not None and value > most):
                wanted = "a whole number from 1" + ("" if most is None else f" to {most}")
                raise SettingsInvalid(f"review: {each.name} must be {wanted}, not {value!r}")


DEFAULTS: Final = ReviewRules()
