"""How often, and when, a call whose outcome was lost is looked up before people are asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from interlock.core.errors import SettingsInvalid
from interlock.core.frozen import frozen

NEVER_US = 2**62
"""A time that does not come: nobody but a person looks any more."""


@dataclass(frozen=True, slots=True)
class LookUpRule:
    """What look-ups of lost calls may cost their tools.

    After the first, `attempts` - 1 more follow, each after a pause that is `growth` times the one before: from
    `first_pause_s` up to `pause_max_s`. Then the call is escalated. One look-up takes at most `timeout_s`, and no more
    than `at_once` run at a time in one process, of each tool one.
    """

    attempts: int = 10
    first_pause_s: float = 5.0
    growth: float = 3.0
    pause_max_s: float = 3_600.0
    timeout_s: float = 10.0
    at_once: int = 8

    def __post_init__(self) -> None:
        rules = {
            "attempts and at_once must be whole numbers from 1": _counts(self.attempts) and _counts(self.at_once),
            "growth must be at least 1": self.growth >= 1,
            "pauses and timeout_s must be positive": min(self.first_pause_s, self.pause_max_s, self.timeout_s) > 0,
        }
        for rule, holds in rules.items():
            if not holds:
                raise SettingsInvalid(f"settings: look_ups: {rule}")

    def pause_us(self, count: int) -> int:
        """The pause after so many look-ups, the last of which could not tell."""
        pause_s = self.first_pause_s
        for _ in range(min(count, self.attempts) - 1):
            pause_s = min(pause_s * self.growth, self.pause_max_s)
        return round(min(pause_s, self.pause_max_s) * 1_000_000)


@frozen
class Looks:
    """How often an unknown call was looked up, and when it is due again. `escalated`: it takes a person or a repeat."""

    count: int = 0
    next_us: int = 0
    escalated: bool = False

    def and_another(self, rule: LookUpRule, *, now_us: int) -> Looks:
        """What is written down before one more look-up, so that a crash in the middle of it counts it too."""
        count = self.count + 1
        next_us = NEVER_US if self.escalated else now_us + rule.pause_us(count)
        return replace(self, count=count, next_us=next_us)

    def given_up(self) -> Looks:
        """From now on only a person has it looked up."""
        return replace(self, next_us=NEVER_US, escalated=True)


NO_LOOKS = Looks()


@frozen
class Closing:
    """What one person says became of an unknown call, and what shows it: a proposal where it takes two people."""

    by: str
    happened: bool
    evidence: str
    at_us: int


class Word(StrEnum):
    """What a closing amounts to beside the one that was proposed before it."""

    CLOSES = "closes"
    PROPOSES = "proposes"
    SAME_PERSON = "same person"


def weighed(closing: Closing, *, proposed: Closing | None, people: int) -> Word:
    """One person closes where one is enough; else a second one who says the same. Who says otherwise proposes that."""
    if people < 2:
        return Word.CLOSES
    if proposed is None or proposed.happened is not closing.happened:
        return Word.PROPOSES
    return Word.SAME_PERSON if proposed.by == closing.by else Word.CLOSES


def _counts(number: int) -> bool:
    return type(number) is int and number >= 1
