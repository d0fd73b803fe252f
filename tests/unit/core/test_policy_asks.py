"""Annotations: what is understood becomes a requirement, what is not is refused."""

import pytest

from interlock.core.approval import Requirement
from interlock.core.errors import PolicyInvalid
from interlock.core.policy_asks import terms_of


@pytest.mark.requirement("POL-3", "APR-3")
def test_an_ask_says_role_quorum_lifetime_and_reason() -> None:
    terms = terms_of({"approval": "lead, 审批人", "quorum": "2", "lifetime": "8h", "reason": "Because."}, permit=True)
    assert terms.requirement == Requirement(frozenset({"lead", "审批人"}), 2, 8 * 3600, ("Because.",), distinct=True)


def test_an_empty_role_means_anyone_else() -> None:
    assert terms_of({"approval": ""}, permit=True).requirement == Requirement()


@pytest.mark.requirement("APR-3")
def test_only_self_approval_allowed_lets_the_requester_approve() -> None:
    terms = terms_of({"approval": "", "self_approval": "allowed"}, permit=True)
    assert terms.requirement is not None
    assert not terms.requirement.distinct


@pytest.mark.requirement("POL-6")
def test_fields_to_redact_are_named_with_commas() -> None:
    assert terms_of({"redact": "iban, customer.name"}, permit=True).redact == {"iban", "customer.name"}


@pytest.mark.requirement("POL-3")
@pytest.mark.parametrize(
    ("annotations", "says"),
    [
        ({"aproval": "lead"}, "did you mean @approval"),
        ({"zzz": ""}, "known are @id"),
        ({"approval": "lead", "quorum": "two"}, "1 to 99"),
        ({"approval": "lead", "quorum": "0"}, "1 to 99"),
        ({"approval": "lead", "lifetime": "8"}, "30m, 8h or 2d"),
        ({"approval": "lead", "lifetime": "91d"}, "at most 90d"),
        ({"approval": "lead", "self_approval": "no"}, 'the only value is "allowed"'),
        ({"approval": "lead,"}, "commas"),
        ({"redact": ""}, "commas"),
        ({"quorum": "2"}, "nothing asks"),
        ({"id": "a b"}, "letters"),
        ({"id": ""}, "letters"),
    ],
)
def test_an_annotation_that_is_not_understood_is_refused(annotations: dict[str, str], says: str) -> None:
    with pytest.raises(PolicyInvalid, match=says.replace("(", r"\(")):
        terms_of(annotations, permit=True)


@pytest.mark.parametrize("name", ["approval", "redact"])
def test_a_forbid_neither_asks_nor_redacts(name: str) -> None:
    with pytest.raises(PolicyInvalid, match="belongs to a permit"):
        terms_of({name: "a"}, permit=False)
