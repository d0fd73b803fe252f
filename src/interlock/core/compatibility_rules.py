"""How each keyword of a goal is followed from what is known, those of objects and lists aside."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from interlock.core.canonical import Json
from interlock.core.compatibility_facts import Facts, exact, types_named
from interlock.core.compatibility_lists import LIST_RULES
from interlock.core.compatibility_objects import OBJECT_RULES
from interlock.core.compatibility_proof import Claim, Doubt, Proof, Rule
from interlock.core.compatibility_side import listed


def _type(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    return facts.types <= types_named(goal.words["type"])


def _values(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    if facts.finite is None:
        return False
    refused = tuple(each for each in facts.finite if not goal.fits(each))
    return not refused or proof.doubt(Doubt(spot, "enum", facts, goal, refused))


def _above(word: str) -> Rule:
    def rule(proof: Proof, claim: Claim) -> bool:
        facts, goal = claim.facts, claim.goal
        wanted, low = exact(goal.words[word]), facts.low()
        if wanted is None or low is None:
            return False
        if word == "minimum":
            return low[0] >= wanted or (not facts.types & {"fraction"} and low[1] and low[0] + 1 >= wanted
                                        and low[0].denominator == 1)  # fmt: skip
        return low[0] > wanted or (low[0] == wanted and low[1])

    return rule


def _below(word: str) -> Rule:
    def rule(proof: Proof, claim: Claim) -> bool:
        facts, goal = claim.facts, claim.goal
        wanted, high = exact(goal.words[word]), facts.high()
        if wanted is None or high is None:
            return False
        if word == "maximum":
            return high[0] <= wanted or (not facts.types & {"fraction"} and high[1] and high[0] - 1 <= wanted
                                         and high[0].denominator == 1)  # fmt: skip
        return high[0] < wanted or (high[0] == wanted and high[1])

    return rule


def counted(word: str) -> Rule:
    """At least or at most so many characters, items or members."""

    def rule(proof: Proof, claim: Claim) -> bool:
        facts, goal = claim.facts, claim.goal
        wanted, known = exact(goal.words[word]), facts.count(word)
        if wanted is None or known is None:
            return wanted is not None and word.startswith("min") and wanted <= 0
        return known >= wanted if word.startswith("min") else known <= wanted

    return rule


def _multiple(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    wanted = exact(goal.words["multipleOf"])
    if not wanted:
        return False
    steps = [step for each in facts.values("multipleOf") if (step := exact(each)) is not None]
    steps += [Fraction(1)] if "fraction" not in facts.types else []
    return any((step / wanted).denominator == 1 for step in steps)


def _stated(word: str) -> Rule:
    """Known only where it is stated."""

    def rule(proof: Proof, claim: Claim) -> bool:
        facts, goal = claim.facts, claim.goal
        return any(each == goal.words[word] for each in facts.values(word))

    return rule


def _all(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    found = [proof.holds(facts, goal.below(each, is_filled=True), spot) for each in listed(goal.words["allOf"])]
    return all(found)


def _any(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    choices = [goal.below(each) for each in listed(goal.words["anyOf"])]
    if any(proof.tries(facts, each, spot) for each in choices):
        return True
    possible = [each for each in choices if not proof.excludes(facts, each, spot)]
    return len(possible) == 1 and proof.holds(facts, possible[0], spot)


def _one(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    choices = [goal.below(each) for each in listed(goal.words["oneOf"])]
    possible = [each for each in choices if not proof.excludes(facts, each, spot)]
    return len(possible) == 1 and proof.holds(facts, possible[0], spot)


def _not(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    excluded = goal.below(goal.words["not"])
    if proof.excludes(facts, excluded, spot):
        return True
    known = [part.below(part.words["not"]) for part in facts.parts if "not" in part.words]
    return any(proof.tries(Facts([excluded]), each, spot) for each in known)


def _if(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    words = goal.words
    condition = words["if"]
    met = facts.more(goal.below(condition))
    unmet = facts.more(goal.below(goal.side.negated(condition)))
    first = "then" not in words or proof.holds(met, goal.below(words["then"]), spot)
    return ("else" not in words or proof.holds(unmet, goal.below(words["else"]), spot)) and first


def _reference(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    target: Json = goal.side.target(goal.schema) if isinstance(goal.schema, dict) else None
    return target is not None and proof.holds(facts, goal.below(target, is_filled=True), spot)


def _unknown(proof: Proof, claim: Claim) -> bool:
    return False


_COUNTED: Final = ("minLength", "maxLength", "minProperties", "minItems")

RULES: Final[Mapping[str, Rule]] = {
    "type": _type,
    "enum": _values,
    "const": _values,
    "minimum": _above("minimum"),
    "exclusiveMinimum": _above("exclusiveMinimum"),
    "maximum": _below("maximum"),
    "exclusiveMaximum": _below("exclusiveMaximum"),
    "multipleOf": _multiple,
    **{word: counted(word) for word in _COUNTED},
    **{word: _stated(word) for word in ("pattern", "format", "contentEncoding", "contentMediaType")},
    "allOf": _all,
    "anyOf": _any,
    "oneOf": _one,
    "not": _not,
    "if": _if,
    "$ref": _reference,
    "$dynamicRef": _unknown,
    "$recursiveRef": _unknown,
    **OBJECT_RULES,
    **LIST_RULES,
}
