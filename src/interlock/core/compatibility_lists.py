"""How the keywords of lists are followed from what is known of their items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.compatibility_facts import Facts, exact
from interlock.core.compatibility_proof import Claim, Proof, Rule, Step
from interlock.core.compatibility_side import Part, listed


def _prefix(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    found = []
    for index, schema in enumerate(listed(goal.words["prefixItems"])):
        if facts.items_max is None or index < facts.items_max:
            found.append(_item(proof, claim, goal.below(schema, is_filled=True), index=index))
    return all(found)


def _items(proof: Proof, claim: Claim) -> bool:
    return _from(proof, claim, claim.goal.below(claim.goal.words["items"], is_filled=True))


def _unevaluated(proof: Proof, claim: Claim) -> bool:
    """As items, where what is evaluated beside it does not depend on the value."""
    words = claim.goal.words
    if words["unevaluatedItems"] is True or "items" in words:
        return True
    if words.keys() & {"anyOf", "oneOf", "allOf", "if", "contains", "$ref", "$dynamicRef", "dependentSchemas"}:
        return False
    return _from(proof, claim, claim.goal.below(words["unevaluatedItems"]))


def _from(proof: Proof, claim: Claim, wanted: Part) -> bool:
    """Whether every item after the prefix is as wanted: those that are described one by one, and one of all others."""
    first, most = len(listed(claim.goal.words.get("prefixItems"))), claim.facts.items_max
    last = max(first, claim.facts.prefix)
    indexes = [index for index in range(first, last + 1) if most is None or index < most]
    found = [_item(proof, claim, wanted, index=index) for index in indexes]
    return all(found)


def _item(proof: Proof, claim: Claim, wanted: Part, *, index: int) -> bool:
    step = Step(claim.facts, claim.goal, index)
    return proof.holds(claim.facts.element(index), wanted, claim.spot.down(step))


def _most(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    wanted = exact(goal.words["maxItems"])
    return wanted is not None and facts.items_max is not None and facts.items_max <= wanted


def _unique(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    few = facts.items_max is not None and facts.items_max <= 1
    return goal.words["uniqueItems"] is False or few or True in facts.values("uniqueItems") or _all_unlike(facts)


def _all_unlike(facts: Facts) -> bool:
    """Whether no two items can be of one type."""
    if facts.items_max is None or facts.items_max > facts.prefix:
        return False
    kinds = [facts.element(index).types for index in range(facts.items_max)]
    return sum(map(len, kinds)) == len(frozenset[str]().union(*kinds))


def _contains(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    least, most = exact(goal.words.get("minContains", 1)), goal.words.get("maxContains")
    wanted = goal.below(goal.words["contains"])
    if least is None or not (most is None or (facts.items_max is not None and facts.items_max <= (exact(most) or 0))):
        return False
    certain = sum(
        proof.tries(facts.element(index), wanted, spot.down(Step(facts, goal, index)))
        for index in range(min(facts.count("minItems") or 0, 16))
    )
    known = [
        exact(part.words.get("minContains", 1)) or 0
        for part in facts.parts
        if "contains" in part.words
        and proof.tries(Facts([part.below(part.words["contains"])]), wanted, spot.down(Step(facts, goal, 0)))
    ]
    return max([certain, *known]) >= least


LIST_RULES: Final[Mapping[str, Rule]] = {
    "prefixItems": _prefix,
    "items": _items,
    "unevaluatedItems": _unevaluated,
    "maxItems": _most,
    "uniqueItems": _unique,
    "contains": _contains,
}
