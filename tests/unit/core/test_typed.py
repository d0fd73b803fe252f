"""Reading specs back: exactly what was written, and nothing that does not fit its type."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core.call import Principal, PrincipalKind
from interlock.core.canonical import Json, canonical, decode
from interlock.core.effect import Effect
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.tool import (
    ApprovalFloor,
    Cost,
    Document,
    Entrypoint,
    ErrorContract,
    Example,
    IdempotencyRule,
    Localized,
    OutputCheck,
    Parameter,
    ParameterSource,
    ResourceRule,
    Risk,
    ToolSpec,
    spec_to_json,
)
from interlock.core.typed import from_json
from tests.unit.core.call_cases import spec

TEXTS = st.text(max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
SPECS = st.builds(
    ToolSpec,
    name=TEXTS,
    description=TEXTS,
    input_schema=st.builds(Document.of, JSON),
    handler=st.builds(Entrypoint, TEXTS, TEXTS, TEXTS),
    effect=st.sampled_from(Effect),
    localized=st.dictionaries(TEXTS, st.builds(Localized, TEXTS), max_size=2),
    parameters=st.tuples(st.builds(Parameter, TEXTS, source=st.sampled_from(ParameterSource))),
    output_schema=st.none() | st.builds(Document.of, JSON.filter(lambda value: value is not None)),
    output_check=st.sampled_from(OutputCheck),
    errors=st.lists(st.builds(ErrorContract, TEXTS, retryable=st.booleans()), max_size=2).map(tuple),
    external=st.booleans(),
    risk=st.sampled_from(Risk),
    roles=st.frozensets(TEXTS, max_size=2),
    labels=st.builds(
        Labels, st.sampled_from(Confidentiality), st.sampled_from(Trust), st.frozensets(TEXTS, max_size=2)
    ),
    cost=st.builds(Cost, st.integers(0, 2**60), tags=st.tuples(TEXTS, TEXTS)),
    timeout_ms=st.integers(1, 10**9),
    idempotency=st.builds(IdempotencyRule, st.tuples(TEXTS), st.booleans()),
    evidence=st.builds(EvidenceRule, st.sampled_from(EvidenceKind), st.booleans()),
    resource=st.none() | st.builds(ResourceRule, TEXTS, TEXTS, st.booleans()),
    approval_floor=st.none() | st.builds(ApprovalFloor, st.frozensets(TEXTS, max_size=2), st.integers(1, 5)),
    promises=st.dictionaries(TEXTS, TEXTS, max_size=2),
    examples=st.lists(st.builds(Example, TEXTS, st.builds(Document.of, JSON)), max_size=2).map(tuple),
)


@pytest.mark.requirement("TOOL-1", "TOOL-3")
@settings(max_examples=60)
@given(SPECS)
def test_a_spec_survives_being_stored(written: ToolSpec) -> None:
    stored = canonical(spec_to_json(written))
    assert from_json(ToolSpec, decode(stored)) == written


def test_fields_that_are_absent_take_their_defaults() -> None:
    told = spec_to_json(spec())
    assert isinstance(told, dict)
    assert from_json(ToolSpec, {name: told[name] for name in told if name != "timeout_ms"}) == spec()


@pytest.mark.parametrize(
    "change",
    [
        {"effect": "sometimes"},
        {"effect": 1},
        {"effect": ["read"]},
        {"risk": 2},
        {"risk": "extreme"},
        {"external": 1},
        {"external": "true"},
        {"timeout_ms": True},
        {"timeout_ms": "1000"},
        {"timeout_ms": 1.5},
        {"name": None},
        {"roles": "admin"},
        {"roles": [1]},
        {"promises": ["ok"]},
        {"handler": {"kind": "python"}},
        {"handler": "python"},
        {"timeout": 5},
        {"resource": {"type": "Draft", "id": "x", "extra": 1}},
    ],
)
def test_a_value_of_another_type_is_refused(change: dict[str, object]) -> None:
    told = spec_to_json(spec())
    assert isinstance(told, dict)
    with pytest.raises(ValueError, match=r"expected|has no|lacks|fits none|is not a valid"):
        from_json(ToolSpec, {**told, **change})  # type: ignore[dict-item]


def test_a_claim_keeps_its_type() -> None:
    written = Principal("acme", "bot", PrincipalKind.AGENT, claims={"n": 1, "yes": True, "text": "1"})
    read = from_json(Principal, spec_to_json(written))
    assert read == written
    assert [type(each) for each in read.claims.values()] == [int, bool, str]


@dataclass(frozen=True, slots=True)
class Wide:
    """Takes any name."""

    name: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Narrow:
    """Takes any name, and nothing else."""

    name: str


@dataclass(frozen=True, slots=True)
class Either:
    """Two fields of equal types, which are tried in another order, and one of its own."""

    one: Wide | Narrow
    other: Narrow | Wide
    within: "Either | None" = None


def test_of_several_types_the_first_that_fits_is_read_in_the_order_that_each_field_names_them() -> None:
    plain: Json = {"name": "a"}
    found = from_json(Either, {"one": plain, "other": plain, "within": {"one": plain, "other": plain}})
    assert found == Either(Wide("a"), Narrow("a"), Either(Wide("a"), Narrow("a")))
