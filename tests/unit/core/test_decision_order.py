"""Which refusal a caller hears when several apply: the order of the gates, as a matrix that a reviewer reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from interlock.core.approval import ApprovalState
from interlock.core.budget import Amounts, Limit, Reservation, ScopeKey, ScopeKind, Unit, Usage
from interlock.core.call import Caller
from interlock.core.decision import Allow, Ask, Deny, decide, propose
from interlock.core.effect import CallState
from interlock.core.lifecycle import Lifecycle
from interlock.core.run import RunFacts
from interlock.core.tool import ChosenBy, Parameter, ParameterSource
from interlock.core.tool_compile import compile_tool
from tests.golden import check_golden
from tests.unit.core.call_cases import (
    ASK,
    BY_ALICE,
    FORBID,
    NOW_US,
    approval,
    catalogue,
    facts,
    operation,
    prior,
    proposed,
    spec,
)


@dataclass(frozen=True)
class Trouble:
    """One thing that stands in the way; two of the same kind cannot both be."""

    name: str
    kind: str
    call: Mapping[str, object] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)
    state: Lifecycle = Lifecycle.AVAILABLE
    caller: Mapping[str, object] = field(default_factory=dict)
    facts: Mapping[str, object] = field(default_factory=dict)


PLAIN = operation()
MISSING = (Parameter("count", source=ParameterSource.CONTEXT, inject="claims.count"),)


def _limit(unit: Unit, window_s: int = 0, kind: ScopeKind = ScopeKind.TENANT) -> Mapping[str, object]:
    scope = ScopeKey("acme", kind, "", NOW_US if window_s else 0)
    taken = Reservation(scope, Amounts(calls=1, concurrent=1), (Limit(kind, unit, 0, window_s),))
    return {"reservations": (taken,), "usage": (Usage(),)}


TROUBLES = (
    Trouble("unknown name", "tool", call={"name": "save_dreft"}),
    Trouble("candidate", "tool", state=Lifecycle.CANDIDATE),
    Trouble("frozen", "tool", state=Lifecycle.FROZEN),
    Trouble("retired", "tool", state=Lifecycle.RETIRED),
    Trouble("quarantined", "tool", state=Lifecycle.QUARANTINED),
    Trouble("for users only", "chosen by", spec={"chosen_by": ChosenBy.USER}),
    Trouble("broken JSON", "arguments", call={"arguments": '{"draft_id":'}),
    Trouble("context lacks a value", "context", spec={"parameters": MISSING}),
    Trouble("arguments do not fit", "arguments", call={"arguments": '{"draft_id":7}'}),
    Trouble("run has ended", "run", facts={"run": RunFacts("r1", ended="cancelled")}),
    Trouble("effect without a key", "key", caller={"task": None}),
    Trouble("deadline passed", "deadline", facts={"deadline_us": NOW_US}),
    Trouble("same key, other arguments", "prior", facts={"prior": prior(PLAIN, model_digest="other")}),
    Trouble("same call is running", "prior", facts={"prior": prior(PLAIN, CallState.CLAIMED)}),
    Trouble("same call is done", "prior", facts={"prior": prior(PLAIN)}),
    Trouble("policy forbids", "policy", facts={"policy": FORBID}),
    Trouble("declined in this run", "run", facts={"run": RunFacts("r1", denied=frozenset({PLAIN.digest}))}),
    Trouble("repeated too often", "limit", facts=_limit(Unit.CALLS, kind=ScopeKind.OPERATION)),
    Trouble("budget used up", "limit", facts=_limit(Unit.CALLS)),
    Trouble("rate reached", "limit", facts=_limit(Unit.CALLS, window_s=60)),
    Trouble("too many at once", "limit", facts=_limit(Unit.CONCURRENT)),
    Trouble("approval is expired", "grant", facts={"grant": approval(PLAIN, ApprovalState.EXPIRED)}),
    Trouble("approval was denied", "grant", facts={"grant": approval(PLAIN, ApprovalState.DENIED)}),
    Trouble("approval is for another", "grant", facts={"grant": approval(operation({"draft_id": "r9"}))}),
    Trouble("policy asks", "policy", facts={"policy": ASK}),
)


def test_the_refusal_that_wins_is_the_one_a_reviewer_has_seen() -> None:
    lines = ["Each line wins over every line below it, but where one that does not is named.", ""]
    for place, first in enumerate(TROUBLES):
        lines.append(f"{first.name:26} {_ends(first)}")
        below = [second for second in TROUBLES[place + 1 :] if second.kind != first.kind]
        together = {second.name: _ends(first, second) for second in below}
        lines += [f"    with {name:17} {ends}" for name, ends in together.items() if ends != _ends(first)]
    check_golden("which_refusal_wins.txt", "\n".join(lines) + "\n")


def test_all_troubles_at_once_are_told_as_the_first_of_them() -> None:
    one_of_each = {each.kind: each for each in reversed(TROUBLES)}
    kinds = sorted(one_of_each.values(), key=TROUBLES.index)
    for place, first in enumerate(kinds):
        if first.kind not in ("prior", "policy", "limit", "grant"):
            assert _ends(*kinds[place:]) == _ends(first), first.name


def _ends(*troubles: Trouble) -> str:
    call = proposed()
    settings: dict[str, object] = {}
    caller: Caller = BY_ALICE
    state = Lifecycle.AVAILABLE
    known: dict[str, object] = {}
    for each in troubles:
        call = replace(call, **each.call)  # type: ignore[arg-type]
        settings |= each.spec
        caller = replace(caller, **each.caller)  # type: ignore[arg-type]
        state = each.state if each.state is not Lifecycle.AVAILABLE else state
        known |= each.facts
    of = compile_tool(spec(**settings), state=state)  # type: ignore[arg-type]
    operation_or_deny = propose(call, caller, catalogue(of))
    if isinstance(operation_or_deny, Deny):
        return operation_or_deny.code.value
    decision = decide(operation_or_deny, facts(operation_or_deny, **known))  # type: ignore[arg-type]
    match decision:
        case Deny():
            return decision.code.value
        case Ask():
            return "ask a person"
        case Allow():
            return "run it"
        case _:
            return f"replay{'' if decision.visible else ', data withheld'}"
