"""Looks for a value that shows a doubt to be right: one that the first schema accepts and the second refuses.

It is made at the place of the doubt, near the edge of what was wanted there, then put into the containers around it.
What is handed back was judged by both schemas' validators, as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import ALL, Facts
from interlock.core.compatibility_proof import Doubt, Step
from interlock.core.compatibility_side import Part, listed, members
from interlock.core.compatibility_texts import Dice
from interlock.core.compatibility_values import NO_HINTS, Hints, Maker, Unmade, hints_of, named_by
from interlock.core.frozen import frozen

TRIES: Final = 48
"""How many values are made for one doubt."""

_TOGETHER: Final = 6


@frozen
class Trial:
    """What a witness has to show: `accepts` is the first schema, `refuses` the second."""

    accepts: Callable[[Json], bool]
    refuses: Callable[[Json], bool]

    def shows(self, value: Json) -> bool:
        """Whether the first accepts it and the second refuses it."""
        return self.accepts(value) and self.refuses(value)


def witness_of(doubt: Doubt, trial: Trial, *, tries: int = TRIES) -> tuple[Json] | None:
    """A value that shows the doubt to be right, alone in a tuple; None where none was found."""
    for value in _leaves(doubt, tries):
        for whole in _wholes(doubt, value):
            if trial.shows(whole):
                return (whole,)
    return None


def stray(facts: Facts, trial: Trial, *, hints: Hints, tries: int) -> tuple[Json] | None:
    """A value that one accepts and the other refuses, wherever they differ; None where none was found."""
    for seed in range(tries):
        try:
            value = Maker(Dice(seed * 977 + 11), hints, share=seed % 4).make(facts)
        except Unmade:
            continue
        if trial.shows(value):
            return (value,)
    return None


def _leaves(doubt: Doubt, tries: int) -> Iterator[Json]:
    """Values for the place of the doubt that fit what is known there, and not what is wanted."""
    yield from doubt.values[:8]
    cases = list(_cases(doubt))[:12]
    hints = hints_of(doubt.goal)
    for seed in range(tries if cases else 0):
        maker = Maker(Dice(seed * 7919 + 1), hints, share=seed % 5)
        try:
            value = _made(maker, cases[seed % len(cases)], doubt)
        except Unmade:
            continue
        if doubt.goal.is_filled or not doubt.goal.fits(value):
            yield value


def _made(maker: Maker, facts: Facts, doubt: Doubt) -> Json:
    if doubt.word == "required" and doubt.names:
        return maker.an_object(facts, {}, without=frozenset(doubt.names))
    return maker.make(facts)


def _cases(doubt: Doubt) -> Iterator[Facts]:
    """What to know more of a value for it to break this keyword."""
    facts, goal, words = doubt.facts, doubt.goal, doubt.goal.words
    stated = words.get(doubt.word)
    if doubt.word == "type":
        yield Facts(facts.parts, used=facts.used, only=facts.types - Facts([goal.below({"type": stated})]).types)
    elif doubt.word == "not":
        yield facts.more(goal.below(stated))
    elif doubt.word in ("anyOf", "oneOf"):
        yield from _beside(facts, goal, stated, is_one=doubt.word == "oneOf")
    elif doubt.word == "if":
        yield facts.more(goal.below(stated), goal.below(goal.side.negated(words.get("then", True))))
        unmet = goal.below(goal.side.negated(stated))
        yield facts.more(unmet, goal.below(goal.side.negated(words.get("else", True))))
    elif doubt.word in ("dependentRequired", "dependentSchemas"):
        yield from (facts.more(goal.below(goal.side.demanding(name))) for name in members(stated))
    elif doubt.word == "contains":
        yield from _containing(facts, goal)
    yield from (facts, facts) if doubt.word != "type" or facts.types == ALL else ()


def _beside(facts: Facts, goal: Part, stated: Json, *, is_one: bool) -> Iterator[Facts]:
    """What fits two alternatives at once, where only one may, and what fits all that another case says."""
    choices = listed(stated)[:_TOGETHER]
    for index, each in enumerate(choices if is_one else []):
        yield from (facts.more(goal.below(each), goal.below(other)) for other in choices[index + 1 :])
    outside = [goal.below(goal.side.negated(each)) for each in choices]
    yield facts.more(*outside)
    yield from facts.by_type()


def _containing(facts: Facts, goal: Part) -> Iterator[Facts]:
    wanted = goal.words["contains"]
    yield facts.more(goal.below({"items": goal.side.negated(wanted)}))
    yield facts.more(goal.below({"items": wanted}))


def _wholes(doubt: Doubt, value: Json) -> Iterator[Json]:
    """The value within the containers around its place: as the second schema wants them, and as they come."""
    for is_wanted in (True, False):
        for seed in range(3):
            whole: tuple[Json] | None = (value,)
            for step in reversed(doubt.spot.steps):
                whole = None if whole is None else _around(step, whole[0], Dice(seed * 31 + 5), is_wanted=is_wanted)
            if whole is not None:
                yield whole[0]
            if not doubt.spot.steps:
                return


def _around(step: Step, value: Json, dice: Dice, *, is_wanted: bool) -> tuple[Json] | None:
    maker = Maker(dice, NO_HINTS, share=dice.below(3))
    key = step.key
    facts = step.facts.more(step.goal) if is_wanted else step.facts
    if key is None:
        key = named_by(step.other, dice, step.facts.names | Facts([step.goal]).names)
    try:
        return None if key is None else (maker.holding(facts, key, value),)
    except Unmade:
        return None
