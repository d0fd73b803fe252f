"""How the keywords of objects are followed from what is known of their members."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from interlock.core.compatibility_facts import Facts, exact, matches
from interlock.core.compatibility_proof import Claim, Doubt, Proof, Rule, Step
from interlock.core.compatibility_side import Part, members, texts
from interlock.core.schema_references import Node


def _required(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    wanted = Facts([goal]) if goal.is_filled else None
    missing = [
        name
        for name in texts(goal.words["required"])
        if name not in facts.required and not (wanted is not None and wanted.has_default(name))
    ]
    for name in missing:
        proof.doubt(Doubt(spot, "required", facts, goal, names=(name,)))
    return not missing


def _properties(proof: Proof, claim: Claim) -> bool:
    goal = claim.goal
    found = [
        _member(proof, claim, goal.below(schema, is_filled=True), name=name)
        for name, schema in members(goal.words["properties"]).items()
    ]
    return all(found)


def _member(proof: Proof, claim: Claim, wanted: Part, *, name: str) -> bool:
    step = Step(claim.facts, claim.goal, name)
    return proof.holds(claim.facts.member(name), wanted, claim.spot.down(step))


def _patterns(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    found: list[bool] = []
    for pattern, schema in members(goal.words["patternProperties"]).items():
        wanted = goal.below(schema)
        named = [name for name in sorted(facts.names) if matches(pattern, name)]
        found += [_member(proof, claim, wanted, name=name) for name in named]
        alike = _with_pattern(facts, pattern)
        for at, other in [(pattern, alike)] if alike.parts else facts.others():
            found.append(proof.holds(other, wanted, spot.down(Step(facts, goal, None, at or pattern))))
    return all(found)


def _with_pattern(facts: Facts, pattern: str) -> Facts:
    """What is known of a member whose name matches, from where the same pattern is written."""
    stated = [(part, members(part.words.get("patternProperties"))) for part in facts.parts]
    return Facts([part.below(found[pattern]) for part, found in stated if pattern in found], levels=facts.levels)


def _additional(proof: Proof, claim: Claim) -> bool:
    goal = claim.goal
    return _rest(proof, claim, goal.below(goal.words["additionalProperties"]), described=goal.words)


def _unevaluated(proof: Proof, claim: Claim) -> bool:
    """As additionalProperties, where what is evaluated beside it does not depend on the value."""
    goal = claim.goal
    if goal.words["unevaluatedProperties"] is True:
        return True
    beside = list(goal.expanded())
    unclear = ("anyOf", "oneOf", "if", "dependentSchemas", "$dynamicRef", "$recursiveRef")
    if any(part.words.keys() & set(unclear) for part in beside):
        return False
    if any("additionalProperties" in part.words for part in beside):
        return True
    if any(part is not beside[0] and "unevaluatedProperties" in part.words for part in beside):
        return False
    known: Node = {}
    for word in ("properties", "patternProperties"):
        known[word] = {name: True for part in beside for name in members(part.words.get(word))}
    return _rest(proof, claim, goal.below(goal.words["unevaluatedProperties"]), described=known)


def _rest(proof: Proof, claim: Claim, wanted: Part, *, described: Node) -> bool:
    """Whether every member that is not described is as wanted."""
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    named, patterns = members(described.get("properties")), members(described.get("patternProperties"))
    left = [
        name for name in sorted(facts.names) if name not in named and not any(matches(each, name) for each in patterns)
    ]
    found = [_member(proof, claim, wanted, name=name) for name in left]
    for pattern, other in facts.others():
        if pattern not in patterns:
            found.append(proof.holds(other, wanted, spot.down(Step(facts, goal, None, pattern))))
    return all(found)


def _names(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    stated = goal.words["propertyNames"]
    wanted = goal.below(stated)
    names = [part.below(part.words["propertyNames"]) for part in facts.parts if "propertyNames" in part.words]
    known = Facts(names, only=frozenset({"string"}))
    if proof.tries(known, wanted, spot):
        return True
    possible = [name for name in facts.names if not facts.member(name).is_impossible]
    return facts.is_closed and all(wanted.fits(name) for name in possible)


def _most(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    wanted, known = exact(goal.words["maxProperties"]), facts.count("maxProperties")
    if wanted is None:
        return False
    if known is not None and known <= wanted:
        return True
    return facts.is_closed and len([each for each in facts.names if not facts.member(each).is_impossible]) <= wanted


def _least(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    wanted = exact(goal.words["minProperties"])
    return wanted is not None and max(facts.count("minProperties") or 0, len(facts.required)) >= wanted


def _dependent(proof: Proof, claim: Claim) -> bool:
    facts, goal = claim.facts, claim.goal
    for name, names in members(goal.words["dependentRequired"]).items():
        present = _having(facts, goal, name)
        if not present.is_impossible and not present.required.issuperset(texts(names)):
            return False
    return True


def _dependent_schemas(proof: Proof, claim: Claim) -> bool:
    facts, goal, spot = claim.facts, claim.goal, claim.spot
    found = []
    for name, schema in members(goal.words["dependentSchemas"]).items():
        present = _having(facts, goal, name)
        more = [
            part.below(each[name])
            for part in facts.parts
            if name in (each := members(part.words.get("dependentSchemas")))
        ]
        found.append(proof.holds(present.more(*more), goal.below(schema), spot))
    return all(found)


def _having(facts: Facts, goal: Part, name: str) -> Facts:
    """What is known of an object that has a member."""
    return facts.more(goal.below(goal.side.demanding(name)))


OBJECT_RULES: Final[Mapping[str, Rule]] = {
    "required": _required,
    "properties": _properties,
    "patternProperties": _patterns,
    "additionalProperties": _additional,
    "unevaluatedProperties": _unevaluated,
    "propertyNames": _names,
    "minProperties": _least,
    "maxProperties": _most,
    "dependentRequired": _dependent,
    "dependentSchemas": _dependent_schemas,
}
