"""What two versions of a tool promise beside their schemas, compared: whether a caller of the old can rely on the new.

What asks more of callers, or promises them less, is breaking. What asks less is compatible. Where it depends on what
policies, hosts or callers make of it, it is uncertain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from interlock.core.compatibility_schemas import Finding, Verdict
from interlock.core.effect import Effect
from interlock.core.evidence import EvidenceKind
from interlock.core.labels import Labels
from interlock.core.schema_words import cut
from interlock.core.tool import ApprovalFloor, ChosenBy, OutputCheck, ToolSpec

BREAKING, UNCERTAIN, COMPATIBLE = Verdict.BREAKING, Verdict.UNCERTAIN, Verdict.COMPATIBLE

Change: TypeAlias = "tuple[str, Verdict, str] | None"
"""Class, verdict and reason of a change; None where there is nothing to say."""

_EFFECTS: Final = tuple(Effect)
_EVIDENCE: Final = (EvidenceKind.STATUS, EvidenceKind.CANDIDATE, EvidenceKind.AUTHORITATIVE)
_CHECKS: Final = tuple(OutputCheck)
_CODE: Final = "python"
_WORDS: Final = ("title", "description", "use_when", "not_for", "localized", "summary", "promises", "examples", "owner",
                 "business_owner")  # fmt: skip


def behaviours(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    """Every difference of behaviour, in the order of the contract's fields."""
    for part, rule in _RULES.items():
        change = rule(old, new)
        if change is not None:
            yield Finding(part, "", *change)
    yield from _handler(old, new)
    yield from _errors(old, new)
    for name in _WORDS:
        if getattr(old, name) != getattr(new, name):
            yield Finding(name, "", "text", COMPATIBLE, f"Other words for people and models: {name}.")


def _effect(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = _EFFECTS.index(old.effect), _EFFECTS.index(new.effect)
    if after > before:
        return "effect-raised", BREAKING, f"It was a {old.effect.value} and is a {new.effect.value}."
    weaker = f"It was a {old.effect.value} and is a {new.effect.value}: rules on the former hold it no longer."
    return ("effect-weakened", UNCERTAIN, weaker) if after < before else None


def _external(old: ToolSpec, new: ToolSpec) -> Change:
    if new.external and not old.external:
        return "external-raised", BREAKING, "It now leaves the organisation."
    weaker = "It is said to stay within the organisation: rules on what leaves it hold it no longer."
    return ("external-weakened", UNCERTAIN, weaker) if old.external and not new.external else None


def _risk(old: ToolSpec, new: ToolSpec) -> Change:
    words = f"Its risk was {old.risk.name.lower()} and is {new.risk.name.lower()}."
    if new.risk > old.risk:
        return "risk-raised", BREAKING, words
    return ("risk-weakened", COMPATIBLE, words) if new.risk < old.risk else None


def _chosen(old: ToolSpec, new: ToolSpec) -> Change:
    if old.chosen_by is new.chosen_by:
        return None
    if new.chosen_by is ChosenBy.USER:
        return "choice-narrowed", BREAKING, "A model may choose it no longer, only a user."
    return "choice-weakened", COMPATIBLE, "A model may choose it, which only a user could."


def _undone(old: ToolSpec, new: ToolSpec) -> Change:
    if old.compensate == new.compensate:
        changed = old.compensate_arguments != new.compensate_arguments
        return ("compensate-changed", UNCERTAIN, "It is undone with other arguments.") if changed else None
    if not new.compensate:
        return "compensate-dropped", BREAKING, f"It can no longer be undone, which {old.compensate} did."
    if not old.compensate:
        return "compensate-added", COMPATIBLE, f"It can be undone by {new.compensate}."
    return "compensate-changed", UNCERTAIN, f"It is undone by {new.compensate}, and was by {old.compensate}."


def _flag(
    name: str, dropped: tuple[Verdict, str], added: tuple[Verdict, str]
) -> Callable[[ToolSpec, ToolSpec], Change]:
    """A promise that is there or not."""

    def rule(old: ToolSpec, new: ToolSpec) -> Change:
        before, after = bool(getattr(old, name)), bool(getattr(new, name))
        if before == after:
            return None
        return (f"{name}-dropped", *dropped) if before else (f"{name}-added", *added)

    return rule


def _changed(name: str, words: str) -> Callable[[ToolSpec, ToolSpec], Change]:
    """A field of which nobody can say in general what a change means."""

    def rule(old: ToolSpec, new: ToolSpec) -> Change:
        return (f"{name}-changed", UNCERTAIN, words) if getattr(old, name) != getattr(new, name) else None

    return rule


def _key(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = old.idempotency, new.idempotency
    if set(before.fields) != set(after.fields):
        return "key-changed", BREAKING, "Other arguments make two calls the same effect: a repeat may happen twice."
    if after.caller_key_required and not before.caller_key_required:
        return "key-demanded", BREAKING, "It takes a key of the caller's, which it did not."
    if after.lifetime_s < before.lifetime_s:
        words = f"A call is remembered for {after.lifetime_s} s, and was for {before.lifetime_s} s."
        return "key-lifetime-shortened", BREAKING, words
    return ("key-eased", COMPATIBLE, "Its keys ask less or hold longer.") if before != after else None


def _resource(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = old.resource, new.resource
    if before == after:
        return None
    if before is None:
        return "resource-added", UNCERTAIN, "It says which resource it touches, which policies may now judge."
    if after is None or (before.type, before.id) != (after.type, after.id):
        return "resource-changed", BREAKING, "It names another resource, or none: rules and locks on it hold no longer."
    return "resource-changed", UNCERTAIN, "Its resource is looked up otherwise."


def _resource_version(old: ToolSpec, new: ToolSpec) -> Change:
    if old.resource_version == new.resource_version:
        return None
    verdict = BREAKING if old.resource_version else UNCERTAIN
    return (
        "resource-version-changed",
        verdict,
        "Another argument, or none, says for which version of its resource it is.",
    )


def _timeout(old: ToolSpec, new: ToolSpec) -> Change:
    words = f"Its timeout was {old.timeout_ms} ms and is {new.timeout_ms} ms."
    if new.timeout_ms < old.timeout_ms:
        return "timeout-shortened", BREAKING, words
    return ("timeout-extended", COMPATIBLE, words) if new.timeout_ms > old.timeout_ms else None


def _output_check(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = _CHECKS.index(old.output_check), _CHECKS.index(new.output_check)
    if old.output_schema is None or new.output_schema is None or before == after:
        return None
    if after < before:
        return "output-check-weakened", BREAKING, "Results that break its output schema come through."
    return "output-check-raised", UNCERTAIN, "Results that break its output schema are told or refused."


def _output_limit(old: ToolSpec, new: ToolSpec) -> Change:
    words = f"Results may have {new.output_bytes_max} bytes, and could have {old.output_bytes_max}."
    return ("output-limit-lowered", UNCERTAIN, words) if new.output_bytes_max < old.output_bytes_max else None


def _evidence(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = old.evidence, new.evidence
    rank = _EVIDENCE.index(after.kind) - _EVIDENCE.index(before.kind)
    less = (before.quotable and not after.quotable, before.reportable and not after.reportable)
    if rank < 0 or any(less) or (after.confirm and not before.confirm):
        return "evidence-lowered", BREAKING, "Its results may be used for less than before."
    if before.scope != after.scope:
        return "evidence-changed", UNCERTAIN, "Its results are evidence of something else."
    return ("evidence-raised", COMPATIBLE, "Its results may be used for more than before.") if before != after else None


def _labels(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = old.labels, new.labels
    if not after.within(Labels(before.confidentiality, before.trust)):
        return "labels-raised", BREAKING, "What it gives is more confidential or less trusted than it was."
    if before.origins != after.origins:
        return "labels-changed", UNCERTAIN, "What it gives is said to come from elsewhere."
    return (
        ("labels-weakened", COMPATIBLE, "What it gives is less confidential or more trusted.")
        if before != after
        else None
    )


def _roles(old: ToolSpec, new: ToolSpec) -> Change:
    if old.roles == new.roles:
        return None
    if (not old.roles and new.roles) or (new.roles and old.roles - new.roles):
        return "permission-raised", BREAKING, "It asks for roles that callers did not need."
    return "permission-weakened", COMPATIBLE, "It is open to more roles."


def _floor(old: ToolSpec, new: ToolSpec) -> Change:
    before, after = old.approval_floor, new.approval_floor
    if before == after:
        return None
    if after is not None and (before is None or _asks_more(before, after)):
        return "approval-raised", BREAKING, "It asks for an approval that it did not need, or for more of one."
    return "approval-weakened", COMPATIBLE, "It asks for less of an approval."


def _asks_more(before: ApprovalFloor, after: ApprovalFloor) -> bool:
    fewer = bool(after.roles) and (not before.roles or bool(before.roles - after.roles))
    return after.quorum > before.quorum or after.lifetime_s < before.lifetime_s or fewer


def _cost(old: ToolSpec, new: ToolSpec) -> Change:
    if old.cost.currency != new.cost.currency and (old.cost.max_micros or new.cost.max_micros):
        return "currency-changed", BREAKING, f"It costs {new.cost.currency}, and did {old.cost.currency}."
    if new.cost.max_micros > old.cost.max_micros:
        return "cost-raised", UNCERTAIN, "A call may cost more, so budgets may end sooner."
    return ("cost-changed", COMPATIBLE, "A call costs less, or is counted elsewhere.") if old.cost != new.cost else None


def _depends(old: ToolSpec, new: ToolSpec) -> Change:
    more = set(new.depends_on) - set(old.depends_on)
    if more:
        return "dependency-added", BREAKING, f"It waits for {', '.join(sorted(more))}."
    return (
        ("dependency-dropped", COMPATIBLE, "It waits for less.") if set(old.depends_on) != set(new.depends_on) else None
    )


def _concurrency(old: ToolSpec, new: ToolSpec) -> Change:
    lower = new.concurrency and (not old.concurrency or new.concurrency < old.concurrency)
    return ("concurrency-lowered", UNCERTAIN, "Fewer calls run at a time, so some wait longer.") if lower else None


def _cache(old: ToolSpec, new: ToolSpec) -> Change:
    if old.cache == new.cache:
        return None
    if new.cache is None:
        return "cache-dropped", COMPATIBLE, "Its results are fresh each time."
    return "cache-changed", UNCERTAIN, "Its results may be given again, or for another time."


def _handler(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    """What runs it. A Python function is known by its code, which versions are published to change: a note.

    Any other fingerprint is over what was declared: place, credentials, limits and what answers mean, besides code.
    """
    before, after = old.handler, new.handler
    if before.kind != after.kind:
        yield _elsewhere("/kind", f"It was run by {before.kind} and is run by {after.kind}.")
    elif before != after and after.kind == _CODE:
        words = f"Other code runs it ({cut(after.target)}); what that does no contract says."
        yield Finding("handler", "", "handler", COMPATIBLE, words)
    elif before.target != after.target:
        yield _elsewhere("/target", f"It led to {cut(before.target)} and leads to {cut(after.target)}.")
    elif before.fingerprint != after.fingerprint:
        words = f"{cut(after.target)} is run with other bytes, credentials, limits, meanings, or by another listing."
        yield _elsewhere("/fingerprint", words)


def _elsewhere(path: str, words: str) -> Finding:
    said = f"{words} Nobody can prove that it does the same there."
    return Finding("handler", path, "handler-changed", UNCERTAIN, said)


def _errors(old: ToolSpec, new: ToolSpec) -> Iterator[Finding]:
    before, after = ({each.code: each for each in spec.errors} for spec in (old, new))
    for code in sorted(before.keys() | after.keys()):
        was, now = before.get(code), after.get(code)
        for change in _error(code, None if was is None else (was.retryable, was.nothing_happened),
                             None if now is None else (now.retryable, now.nothing_happened)):  # fmt: skip
            yield Finding("errors", f"/{code}", *change)
        if was is not None and now is not None and was.description != now.description:
            yield Finding("errors", f"/{code}", "text", COMPATIBLE, f"{code} is described otherwise.")


def _error(
    code: str, was: tuple[bool, bool] | None, now: tuple[bool, bool] | None
) -> Iterator[tuple[str, Verdict, str]]:
    if was is None:
        yield "error-added", UNCERTAIN, f"It may fail with {code}, which callers do not know."
    elif now is None:
        yield "error-dropped", COMPATIBLE, f"It no longer fails with {code}."
    else:
        if was[1] and not now[1]:
            yield "error-proof-dropped", BREAKING, f"{code} proved that nothing had happened, and proves it no longer."
        if was[0] and not now[0]:
            yield "error-retry-dropped", BREAKING, f"A call that failed with {code} may be made again no longer."
        if now > was or (now[0] > was[0]) or (now[1] > was[1]):
            yield "error-eased", COMPATIBLE, f"{code} allows or proves more than it did."


_RULES: Final[Mapping[str, Callable[[ToolSpec, ToolSpec], Change]]] = {
    "effect": _effect,
    "external": _external,
    "compensate": _undone,
    "reconcile": _flag(
        "reconcile",
        (BREAKING, "The outcome of a lost call can no longer be looked up."),
        (COMPATIBLE, "The outcome of a lost call can be looked up."),
    ),
    "cancellable": _flag(
        "cancellable", (BREAKING, "It can no longer be cancelled."), (COMPATIBLE, "It can be cancelled.")
    ),
    "precondition": _flag(
        "precondition",
        (UNCERTAIN, "Nothing is looked at any more just before the effect."),
        (UNCERTAIN, "A condition is looked at just before the effect, which may refuse a call."),
    ),
    "chosen_by": _chosen,
    "risk": _risk,
    "roles": _roles,
    "labels": _labels,
    "vendor": _changed("vendor", "Another vendor, region or terms are behind it."),
    "cost": _cost,
    "timeout_ms": _timeout,
    "idempotency": _key,
    "locks": _changed("locks", "Other things are kept from being touched at the same time."),
    "depends_on": _depends,
    "concurrency": _concurrency,
    "output_check": _output_check,
    "output_bytes_max": _output_limit,
    "evidence": _evidence,
    "resource": _resource,
    "approval_floor": _floor,
    "secrets": _changed("secrets", "It takes other credentials from its host."),
    "facts": _changed("facts", "Its policies read other facts."),
    "cache": _cache,
    "resource_version": _resource_version,
    "fallback": _changed("fallback", "Another tool, or none, stands in while it does not work."),
    "standby": _changed("standby", "It is offered at other times."),
    "resumes": _flag(
        "resumes",
        (BREAKING, "A call that was done in part can no longer be gone on with."),
        (COMPATIBLE, "A call that was done in part can be gone on with."),
    ),
}
