"""Compares two JSON Schemas: may the second stand where the first stood, and if not, what shows it.

Inputs are contravariant: what the old one accepted, the new one must accept. Outputs are covariant: what the new one
allows, the old one must have allowed. `compatible` is proved, `breaking` is shown by a value that both validators have
judged, and everything else is `uncertain`: a suspicion that no value confirmed, and a new demand on a member of which
nothing was said, since whether anybody sends that is not written in any schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from interlock.core.canonical import Json, canonical
from interlock.core.compatibility_facts import ALL, Facts
from interlock.core.compatibility_proof import Doubt, Proof, Spot
from interlock.core.compatibility_rules import RULES
from interlock.core.compatibility_side import Part, Side
from interlock.core.compatibility_values import hints_of
from interlock.core.compatibility_witness import TRIES, Trial, stray, witness_of
from interlock.core.compatibility_words import class_of, reason_of
from interlock.core.errors import SchemaInvalid
from interlock.core.frozen import frozen
from interlock.core.tool import Document

DOUBTS_MAX: Final = 16
"""How many doubts of one comparison are looked into at length."""

STRAYS: Final = 200


class Verdict(StrEnum):
    """Whether what worked with the old works with the new."""

    COMPATIBLE = "compatible"
    UNCERTAIN = "uncertain"
    BREAKING = "breaking"


class Direction(StrEnum):
    """Which way values go: INPUT is what callers send, OUTPUT is what they get."""

    INPUT = "input"
    OUTPUT = "output"


@frozen
class Finding:
    """One difference. `part` is what of the tool it is about, `path` a JSON pointer into values, `*` any member.

    `witness` is a value that one schema accepts and the other refuses, judged by both validators: for a breaking input
    one that was accepted and is refused, for a breaking output one that was never given and may be now.
    """

    part: str
    path: str
    kind: str
    verdict: Verdict
    reason: str
    witness: Document | None = None


_RANK: Final[Mapping[Verdict, int]] = {Verdict.COMPATIBLE: 0, Verdict.UNCERTAIN: 1, Verdict.BREAKING: 2}


def worst(findings: tuple[Finding, ...]) -> Verdict:
    """The verdict of all findings together."""
    return max((each.verdict for each in findings), key=_RANK.__getitem__, default=Verdict.COMPATIBLE)


def compare_schemas(
    old: Mapping[str, Json] | bool, new: Mapping[str, Json] | bool, direction: Direction
) -> tuple[Finding, ...]:
    """How they differ. What became wider without breaking anybody is told as compatible.

    Raises SchemaInvalid where either cannot be compiled.
    """
    before, after = Side(old), Side(new)
    try:
        return tuple(_compared(before, after, direction))
    except RecursionError:  # within the limits, but asked from deep inside another program
        return (Finding(direction.value, "", "too-involved", Verdict.UNCERTAIN, "The schemas nest too deeply."),)


def accepts(side: Side, direction: Direction, value: Json) -> bool:
    """Whether the gate takes a value: arguments with their defaults, results as they are."""
    if direction is Direction.OUTPUT:
        return side.compiled.is_valid(value)
    try:
        return isinstance(value, dict) and side.compiled.is_valid(side.compiled.with_defaults(value))
    except SchemaInvalid:
        return False


def _compared(before: Side, after: Side, direction: Direction) -> Iterator[Finding]:
    narrow, wide = (before, after) if direction is Direction.INPUT else (after, before)
    breaking = list(_against(narrow, wide, direction))
    yield from breaking
    yield from _wider(wide, narrow, direction, known=frozenset(each.path for each in breaking))


def _against(narrow: Side, wide: Side, direction: Direction) -> Iterator[Finding]:
    """What stands in the way of the wide one taking all that the narrow one takes."""
    facts, doubts, goal = _doubts(narrow, wide, direction)
    trial = _trial(narrow, wide, direction)
    found = [
        (doubt, witness_of(doubt, trial, tries=TRIES if index < DOUBTS_MAX else TRIES // 8))
        for index, doubt in enumerate(doubts)
    ]
    if found and not any(witness for _, witness in found):
        other = stray(facts, trial, hints=hints_of(goal, *facts.parts), tries=STRAYS)
        found[0] = (found[0][0], other)
    for doubt, witness in found:
        is_sure = witness is not None and not doubt.spot.is_undeclared
        verdict = Verdict.BREAKING if is_sure else Verdict.UNCERTAIN
        shown = None if witness is None else Document(canonical(witness[0]))
        kind = class_of(doubt, direction.value)
        yield Finding(
            direction.value, doubt.spot.path, kind, verdict, reason_of(doubt, direction.value, witness), shown
        )


def _wider(narrow: Side, wide: Side, direction: Direction, *, known: frozenset[str]) -> Iterator[Finding]:
    """Where the new one is more generous (of inputs) or more exact (of outputs), which breaks nobody."""
    _, doubts, _ = _doubts(narrow, wide, direction)
    trial = _trial(narrow, wide, direction)
    for doubt in doubts[:DOUBTS_MAX]:
        witness = witness_of(doubt, trial, tries=16)
        if doubt.spot.path not in known or witness is not None:
            shown = None if witness is None else Document(canonical(witness[0]))
            kind, reason = ("widened", _WIDENED) if direction is Direction.INPUT else ("narrowed", _NARROWED)
            yield Finding(direction.value, doubt.spot.path, kind, Verdict.COMPATIBLE, reason, shown)


_WIDENED: Final = "It takes what it did not take before."
_NARROWED: Final = "It promises more than it did before."


def _doubts(narrow: Side, wide: Side, direction: Direction) -> tuple[Facts, list[Doubt], Part]:
    is_filled = direction is Direction.INPUT
    only = frozenset({"object"}) if is_filled else ALL  # arguments are an object, whatever their schema says
    facts, goal = Facts([Part(narrow.root, narrow, is_filled)], only=only), Part(wide.root, wide, is_filled)
    proof = Proof(RULES)
    is_dynamic = narrow.is_dynamic or wide.is_dynamic
    if canonical(narrow.root) == canonical(wide.root) or (proof.holds(facts, goal, Spot()) and not is_dynamic):
        return facts, [], goal
    if is_dynamic:  # what a part means depends on where it is used from
        proof.doubt(Doubt(Spot(), "$ref", facts, goal))
    return facts, _distinct(proof.doubts, direction), goal


def _distinct(doubts: list[Doubt], direction: Direction) -> list[Doubt]:
    """Each difference once; below a member of which nothing was said, no more than that one."""
    silent = {each.spot.path for each in doubts if each.spot.is_undeclared}
    tops = {path for path in silent if not any(path.startswith(f"{other}/") for other in silent)}
    found: dict[tuple[str, str, tuple[str, ...]], Doubt] = {}
    for each in sorted(doubts, key=lambda each: len(each.spot.path) if each.spot.is_undeclared else 0):
        path, names = each.spot.path, each.names
        if each.spot.is_undeclared:
            path, names = next(top for top in tops if f"{path}/".startswith(f"{top}/")), ()
        found.setdefault((path, class_of(each, direction.value), names), each)
    return list(found.values())


def _trial(narrow: Side, wide: Side, direction: Direction) -> Trial:
    return Trial(
        accepts=lambda value: accepts(narrow, direction, value),
        refuses=lambda value: not accepts(wide, direction, value),
    )
