"""What is listed of a stored spec is what the whole spec says; what cannot be read is listed as what may do most."""

from dataclasses import replace

import pytest

from interlock.core.canonical import decode, kept
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.listed import NO_ARGUMENTS, Listed, listed, spec_in, uses_of, whole
from interlock.core.tool import CacheRule, ToolSpec, spec_digest, spec_to_json
from tests.unit.core.policy_cases import CATALOGUE, SEARCH

CACHED = replace(SEARCH, cache=CacheRule(60, ("Note",)), fallback="other", depends_on=("one", "two"), facts=("risk",))


def of(spec: ToolSpec, text: bytes | None = None) -> Listed:
    text = kept(spec_to_json(spec)) if text is None else text
    return listed(spec.identity, digest=spec_digest(spec), text=text)


@pytest.mark.parametrize("spec", [*CATALOGUE, CACHED])
def test_what_policies_and_others_need_is_as_in_the_whole_spec(spec: ToolSpec) -> None:
    found = of(spec)
    assert (found.tenant, found.name, found.version, found.identity) == (
        spec.tenant,
        spec.name,
        spec.version,
        spec.identity,
    )
    assert (found.effect, found.resource, found.facts, found.cache) == (
        spec.effect,
        spec.resource,
        spec.facts,
        spec.cache,
    )
    assert (found.input_schema, found.uses) == (spec.input_schema, uses_of(spec))
    assert spec_in(found.text, name=spec.name, version=spec.version) == spec


def spoilt(name: str, value: object) -> bytes:
    members = decode(kept(spec_to_json(SEARCH)))
    assert isinstance(members, dict)
    return kept({**members, name: value})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"nonsense",
        b"[]",
        b"{}",
        spoilt("effect", "reads"),
        spoilt("effect", None),
        spoilt("name", "another"),
        spoilt("tenant", "acme"),
        spoilt("facts", [1]),
        spoilt("resource", {"type": 1}),
        spoilt("depends_on", "x"),
    ],
)
def test_what_cannot_be_read_is_listed_as_what_may_do_most(text: bytes) -> None:
    found = of(SEARCH, text)
    assert (found.is_read, found.effect, found.input_schema, found.uses) == (
        False,
        Effect.DESTRUCTIVE,
        NO_ARGUMENTS,
        (),
    )
    assert found.identity == SEARCH.identity


def test_a_schema_that_is_none_is_one_without_arguments() -> None:
    assert of(SEARCH, spoilt("input_schema", 3)).input_schema == NO_ARGUMENTS


def test_whoever_needs_all_of_a_spec_that_cannot_be_read_is_told_which() -> None:
    with pytest.raises(SpecInvalid, match=r"stored spec of search 1 cannot be read"):
        spec_in(spoilt("timeout_ms", "long"), name="search", version="1")
    with pytest.raises(SpecInvalid, match=r"stored spec of search 1 cannot be read"):
        spec_in(b"nonsense", name="search", version="1")
    assert (whole(of(SEARCH)), whole(SEARCH), whole(of(SEARCH, b"nonsense"))) == (SEARCH, SEARCH, None)
