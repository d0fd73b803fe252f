"""Lineage: what something was made from is told whole, and what is no fact never passes for one."""

from itertools import pairwise

import pytest

from interlock.core.chain import Head
from interlock.core.evidence import Evidence, EvidenceKind, Source
from interlock.core.lineage import SAID, Standing, lineage_of, standing_of
from interlock.core.observation import Observation, Problem, Status, from_bytes, to_bytes
from interlock.core.refusals import Code

FACT = Evidence(EvidenceKind.AUTHORITATIVE, quotable=True, reportable=True)


def seen(call_id: str, evidence: Evidence | None = FACT, **rest: object) -> Observation:
    return Observation(call_id, "query", "1", **{"status": Status.OK, "evidence": evidence, **rest})  # type: ignore[arg-type]


@pytest.mark.requirement("OBS-8")
@pytest.mark.parametrize(
    ("evidence", "standing"),
    [
        (FACT, Standing.FACT),
        (Evidence(EvidenceKind.AUTHORITATIVE, reportable=True, confirm=True), Standing.CONFIRM),
        (Evidence(EvidenceKind.AUTHORITATIVE, quotable=True), Standing.INTERNAL),
        (Evidence(EvidenceKind.CANDIDATE, quotable=True, reportable=True), Standing.CANDIDATE),
        (Evidence(EvidenceKind.STATUS, quotable=True, reportable=True), Standing.STATUS),
        (None, Standing.STATUS),
    ],
)
def test_only_what_is_authoritative_and_may_be_reported_is_a_fact(
    evidence: Evidence | None, standing: Standing
) -> None:
    assert standing_of(seen("a", evidence)) is standing
    shown = lineage_of("r", [seen("a", evidence)]).traced[0].presented("12 sold")
    assert (shown == "12 sold") is (standing is Standing.FACT)
    assert SAID[standing] in shown


@pytest.mark.requirement("OBS-8", "OBS-7")
@pytest.mark.parametrize("status", [each for each in Status if each not in (Status.OK, Status.PARTIAL)])
def test_what_did_not_end_well_says_only_how_the_work_stands(status: Status) -> None:
    error = Problem(Code.TOOL_ERROR, "no")
    assert standing_of(seen("a", status=status, error=error)) is Standing.STATUS


@pytest.mark.requirement("OBS-8")
def test_a_lineage_tells_sources_times_operation_and_proof_of_every_observation_in_order() -> None:
    source = Source("sqlite:sales", "Sales", 1, 5)
    evidence = Evidence(EvidenceKind.AUTHORITATIVE, True, True, scope="acme", sources=(source,), data_time_us=7)
    first = seen("a", evidence, operation_id="op1", receipt=Head("main", 3, "ff"), executed_at_us=9, truncated=80)
    kept = from_bytes(to_bytes(first))
    found = lineage_of("r", [kept, seen("b"), kept])
    assert [each.call_id for each in found.traced] == ["a", "b"]
    told = found.to_json()
    assert told["run"] == "r"
    (one, _) = told["traced"]  # type: ignore[misc]
    assert one["sources"] == [{"uri": "sqlite:sales", "title": "Sales", "line_first": 1, "line_last": 5}]
    assert (one["data_time_us"], one["operation_id"], one["executed_at_us"]) == (7, "op1", 9)
    assert (one["receipt"]["chain"], one["receipt"]["sequence"], one["shortened"]) == ("main", 3, True)
    assert (one["kind"], one["standing"], one["scope"]) == ("authoritative", "fact", "acme")
    assert found.sources == (source,)


@pytest.mark.requirement("OBS-8")
def test_of_a_call_that_waited_counts_what_it_came_to() -> None:
    found = lineage_of("r", [seen("a", None, status=Status.WAITING, approval_id="p"), seen("b"), seen("a")])
    assert [(each.call_id, each.standing) for each in found.traced] == [("a", Standing.FACT), ("b", Standing.FACT)]


@pytest.mark.requirement("OBS-8")
def test_what_rests_on_several_results_is_worth_as_much_as_the_weakest_and_on_none_nothing() -> None:
    weak = Evidence(EvidenceKind.CANDIDATE)
    found = lineage_of("r", [seen("a"), seen("b", weak), seen("c", None)])
    assert found.of(["a"]).standing is Standing.FACT
    assert found.of(["b", "a"]).standing is Standing.CANDIDATE
    assert found.standing is Standing.STATUS
    assert found.of([]).standing is Standing.STATUS
    assert [each.call_id for each in found.facts] == ["a"]
    with pytest.raises(KeyError):
        found.of(["d"])


def test_every_standing_but_a_fact_has_words_of_its_own() -> None:
    words = [SAID[each] for each in Standing]
    assert words[0] == ""
    assert all(first != second for first, second in pairwise(sorted(words)))
