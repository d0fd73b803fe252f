"""The options that every kind of declaration shares become the same fields of its spec."""

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.tool import ErrorContract, IdempotencyRule, ResourceRule
from interlock.declare.contract import check_waits, contract, json_object, one_meaning


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


def test_one_code_means_one_thing() -> None:
    one = ErrorContract("GONE")
    assert one_meaning((one, one)) == (one,)
    with pytest.raises(SpecInvalid, match="two things"):
        one_meaning((one, ErrorContract("GONE", nothing_happened=True)))


@pytest.mark.parametrize("wait_ms", [0, -1, 86_400_001])
def test_a_wait_is_longer_than_nothing_and_at_most_a_day(wait_ms: int) -> None:
    check_waits(1, 86_400_000)
    with pytest.raises(SpecInvalid, match="86400000"):
        check_waits(1, wait_ms)
