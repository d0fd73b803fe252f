"""What the decorator is given is what its options say, or it is refused by name: nothing is swallowed."""

from typing import Any

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.labels import Confidentiality, Labels
from interlock.core.tool import ApprovalFloor, ChosenBy, Cost, OutputCheck, Risk, ToolSpec
from interlock.declare import ToolOptions, tool


def act(word: str) -> str:
    """Act."""
    return word


def spec_of(**options: Any) -> ToolSpec:
    return tool(**{"effect": "write", **options})(act).spec()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("extrenal", "there is no 'extrenal'; is it 'external'"),
        ("approvalfloor", "is it 'approval_floor'"),
        ("zzz", "the options of act: there is no 'zzz'"),
        ("idempotency", "there is no 'idempotency'"),
    ],
)
def test_an_option_that_there_is_not_is_refused_with_the_nearest(name: str, says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        spec_of(**{name: True})


def test_the_docstring_names_every_option() -> None:
    told = tool.__doc__ or ""
    assert [name for name in ToolOptions.__annotations__ if f"`{name}`" not in told] == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"approval_floor": 3}, "approval_floor: it must be ApprovalFloor"),
        ({"approval_floor": ApprovalFloor(roles="lead")}, "approval_floor.roles: it must be a list"),  # type: ignore[arg-type]
        ({"roles": "writer"}, "roles: it must be a list"),
        ({"key": "word"}, "key: it must be a list"),
        ({"secrets": {"token"}}, "secrets: it must be a list"),
        ({"external": "no"}, "external: it must be true or false"),
        ({"timeout_ms": "5"}, "timeout_ms: it must be a whole number"),
        ({"risk": "hgih"}, "risk: it must be one of low, medium, high, critical"),
        ({"labels": "confidential"}, "labels: it must be Labels"),
        ({"errors": ["STALE"]}, r"errors\[0\]: it must be ErrorContract"),
        ({"owner": None}, "owner: it must be text"),
        ({"resource": "Draft"}, "resource: it must be a list"),
        ({"resource": ("Draft",)}, "resource: it must be a type and an argument"),
        ({"reconcile": "find"}, "reconcile: it must be a function"),
        ({"compensate": 3}, "compensate: it must be a function or a tool's name"),
        ({"input_schema": "{}"}, "input_schema: it must be a JSON Schema"),
        ({"evidence": "certain"}, "evidence: it must be one of authoritative"),
        ({"examples": [{"word": "x"}]}, "examples: it must be a mapping"),
    ],
)
def test_an_option_of_another_type_is_refused_by_name(options: dict[str, object], says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        spec_of(**options)


def test_enums_may_be_given_as_text_and_collections_as_lists() -> None:
    labels = Labels("confidential", origins=["crm"])  # type: ignore[arg-type]
    spec = spec_of(
        risk="high",
        chosen_by="user",
        output_check="warn",
        evidence="candidate",
        labels=labels,
        roles={"writer"},
        cost=Cost(5, tags=["mail"]),  # type: ignore[arg-type]
    )
    assert (spec.risk, spec.chosen_by, spec.output_check) == (Risk.HIGH, ChosenBy.USER, OutputCheck.WARN)
    assert spec.evidence == EvidenceRule(EvidenceKind.CANDIDATE)
    assert spec.labels == Labels(Confidentiality.CONFIDENTIAL, origins=frozenset({"crm"}))
    assert (spec.roles, spec.cost.tags) == (frozenset({"writer"}), ("mail",))
