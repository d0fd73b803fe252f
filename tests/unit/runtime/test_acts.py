"""Acts of the control plane are for operators, and say who really sat there."""

import pytest

from interlock.core.call import Principal
from interlock.core.errors import ActRefused
from interlock.core.policy import PolicySource
from interlock.runtime.acts import only_operators, signed_by
from tests.gates import ALICE, ALL, OPERATOR, Shelf, opened, records


@pytest.mark.requirement("AUD-6")
def test_an_act_is_signed_with_who_acts_for_whom_and_who_sat_there() -> None:
    robot = Principal("acme", "robot", acting_for="olga", actor="root")
    assert signed_by(robot) == {"principal": "robot", "on_behalf_of": "olga", "actor": "root"}


def test_whoever_is_no_operator_is_refused_by_name() -> None:
    only_operators(OPERATOR, "Anything")
    with pytest.raises(ActRefused, match="alice"):
        only_operators(ALICE, "Anything")


@pytest.mark.requirement("AUD-6", "POL-1")
async def test_only_an_operator_changes_policies_and_saving_the_same_again_changes_nothing() -> None:
    async with opened(":memory:", Shelf().tools, ALL) as gate:
        with pytest.raises(ActRefused):
            await gate.policies.save([PolicySource("test", "")], by=ALICE)
        before = len(await records(gate, kind="policy.saved"))
        await gate.policies.save(await gate.policies.sources(), by=OPERATOR)
        assert len(await records(gate, kind="policy.saved")) == before
