"""Who may do what under the starter policy, as a golden file: every change of it shows as a diff."""

from dataclasses import replace

import pytest

from interlock.core.call import Principal, PrincipalKind
from interlock.core.policy import STARTER_POLICY, Answer, PolicySet, PolicySource, Verdict
from interlock.core.tool import ToolSpec
from tests.golden import check_golden
from tests.unit.core.policy_cases import ALICE, BOB, CATALOGUE, request, tool

PEOPLE = {
    "member of the owner's group": ALICE,
    "member of another group": BOB,
    "agent acting for a member, in the group": replace(
        ALICE, id="helper", kind=PrincipalKind.AGENT, acting_for="alice"
    ),
    "agent acting for a member, in no group": Principal("acme", "helper", PrincipalKind.AGENT, acting_for="alice"),
    "service in the owner's group": replace(ALICE, id="nightly", kind=PrincipalKind.SERVICE),
    "same names in another tenant": replace(ALICE, tenant="globex"),
}


@pytest.mark.requirement("POL-1", "POL-3", "POL-5")
def test_the_starter_policy_lets_these_people_do_this() -> None:
    specs = [*(replace(spec, tenant="acme") for spec in CATALOGUE), tool("shared")]
    saved = PolicySet([PolicySource("starter", STARTER_POLICY)], specs)
    lines = []
    for who, principal in PEOPLE.items():
        lines += ["", who]
        lines += [_line(saved, principal, spec) for spec in specs]
    check_golden("authorization_matrix.txt", "\n".join(lines[1:]) + "\n")


def _line(saved: PolicySet, principal: Principal, spec: ToolSpec) -> str:
    slice_ = saved.slice(spec, principal.tenant)
    verdict = slice_.decide(request(spec, principal=principal))
    kind = f"{spec.effect.value}{' external' if spec.external else ''}"
    visible = slice_.visibility(principal, environment="").value
    return f"  {spec.name:<12} {kind:<17} {visible:<7} {_answer(verdict)}".rstrip()


def _answer(verdict: Verdict) -> str:
    need = verdict.requirement
    told = verdict.answer.value
    if verdict.answer is Answer.ASK and need is not None:
        people = "somebody else" if need.distinct else "anybody"
        told = f"ask {','.join(sorted(need.roles))} ({need.quorum}, {people}, {need.lifetime_s} s)"
    return f"{told:<44} {', '.join(verdict.policies) or verdict.reason}"
