"""The options that every kind of declaration shares become the same fields of its spec."""

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.tool import ErrorContract, IdempotencyRule, ResourceRule
from interlock.declare.contract import contract, json_object


def test_options_become_the_fields_that_they_say() -> None:
    found = contract(
        {
            "effect": "write",
            "owner": "eng",
            "key": ["order"],
            "key_lifetime_s": 60,
            "resource": ("Order", "order"),
            "errors": [ErrorContract("STALE")],
            "evidence": EvidenceKind.CANDIDATE,
        },
        name="place",
    )
    assert (found["effect"], found["owner"]) == (Effect.WRITE, "eng")
    assert found["idempotency"] == IdempotencyRule(("order",), False, 60)
    assert (found["resource"], found["errors"]) == (ResourceRule("Order", "order"), (ErrorContract("STALE"),))
    assert found["evidence"] == EvidenceRule(EvidenceKind.CANDIDATE)
    assert not {"input_schema", "handler", "parameters", "version"} & found.keys()


@pytest.mark.parametrize("options", [{}, {"effect": "writes"}])
def test_an_effect_must_be_said(options: dict[str, str]) -> None:
    with pytest.raises(SpecInvalid, match=r"place: .*idempotent_write"):
        contract(options, name="place")  # type: ignore[arg-type]


def test_a_document_is_kept_as_it_was_written() -> None:
    assert json_object({"b": 1, "a": [None]}) == {"b": 1, "a": [None]}
