"""Acts of the control plane are for operators, and say who really sat there."""

from dataclasses import replace

import pytest

from interlock.core.call import Principal
from interlock.core.errors import ActRefused
from interlock.core.policy import PolicySource
from interlock.core.tool import SHARED
from interlock.runtime.acts import only_auditors, only_operators, signed_by
from tests.gates import ALICE, ALL, AUDITOR, OPERATOR, Shelf, opened, records


@pytest.mark.requirement("AUD-6")
def test_an_act_is_signed_with_who_acts_for_whom_and_who_sat_there() -> None:
    robot = Principal("acme", "robot", acting_for="olga", actor="root")
    assert signed_by(robot) == {"principal": "robot", "on_behalf_of": "olga", "actor": "root"}


def test_whoever_is_no_operator_is_refused_by_name() -> None:
    only_operators(OPERATOR, "Anything", tenants=["acme"], home="acme")
    with pytest.raises(ActRefused, match="alice"):
        only_operators(ALICE, "Anything", tenants=["acme"], home="acme")


@pytest.mark.requirement("POL-1")
def test_what_is_not_their_tenants_own_takes_an_operator_of_the_installations_own_tenant() -> None:
    other = replace(OPERATOR, tenant="globex")
    only_operators(other, "Anything", tenants=["globex"], home="acme")
    only_operators(OPERATOR, "Anything", tenants=["globex", SHARED], home="acme")
    for tenants in (["*"], ["acme"], ["globex", "*"], ["globex", "initech"]):
        with pytest.raises(ActRefused, match="an operator of the tenant acme"):
            only_operators(other, "Anything", tenants=tenants, home="acme")
    with pytest.raises(ActRefused):
        only_operators(replace(OPERATOR, tenant=SHARED), "Anything", tenants=[SHARED], home="acme")


def test_what_is_kept_of_a_tenant_is_read_by_who_may_read_its_log() -> None:
    for by in (AUDITOR, OPERATOR):
        only_auditors(by, "Reading", tenants=["acme", SHARED])
        with pytest.raises(ActRefused, match=f"operator of globex; {by.id} is none"):
            only_auditors(by, "Reading", tenants=["globex", SHARED])
    with pytest.raises(ActRefused, match="alice"):
        only_auditors(ALICE, "Reading", tenants=["acme"])


@pytest.mark.requirement("AUD-6", "POL-1")
async def test_only_an_operator_changes_policies_and_saving_the_same_again_changes_nothing() -> None:
    async with opened(":memory:", Shelf().tools, ALL) as gate:
        with pytest.raises(ActRefused):
            await gate.policies.save([PolicySource("test", "")], by=ALICE)
        before = len(await records(gate, kind="policy.saved"))
        await gate.policies.save(await gate.policies.sources(), by=OPERATOR)
        assert len(await records(gate, kind="policy.saved")) == before
