"""A model reads what a tool is for, what it does and how it fails, and nothing of how it is controlled."""

import pytest

from interlock.core.effect import Effect
from interlock.core.model_text import model_text
from interlock.core.tool import ApprovalFloor, Document, ErrorContract, Example, Risk
from tests.unit.core.call_cases import spec

RISKY = "Much depends on it: a person may have to approve each call."


@pytest.mark.requirement("TOOL-4")
def test_it_says_what_for_what_it_does_how_it_fails_and_shows_examples() -> None:
    text = model_text(
        spec(
            effect=Effect.DESTRUCTIVE,
            description="Remove a draft.",
            use_when="a draft is not wanted any more",
            not_for="published pages",
            external=True,
            risk=Risk.HIGH,
            errors=(ErrorContract("LOCKED", description="Somebody is editing it."), ErrorContract("GONE")),
            examples=(Example("the usual", Document.of({"draft_id": "r1"})),),
        )
    )
    assert text.splitlines() == [
        "Remove a draft.",
        "Use it when: a draft is not wanted any more",
        "Not for: published pages",
        f"It destroys or replaces something. It reaches outside the organisation. {RISKY}",
        "It may report LOCKED: Somebody is editing it.",
        "It may report GONE.",
        'Example, the usual: {"draft_id":"r1"}',
    ]


@pytest.mark.requirement("TOOL-4")
def test_it_says_nothing_of_permissions_keys_limits_or_secrets() -> None:
    quiet = spec(
        description="Save.",
        roles=frozenset({"treasurer"}),
        secrets=("bank_token",),
        owner="finance",
        approval_floor=ApprovalFloor(frozenset({"cfo"})),
        timeout_ms=1_234,
    )
    for hidden in ("treasurer", "bank_token", "finance", "cfo", "1234", "key"):
        assert hidden not in model_text(quiet)
