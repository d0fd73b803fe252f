"""Evidence: what a result without sources of its own may be used for is what its tool declares."""

from dataclasses import fields

from interlock.core.evidence import STATUS_ONLY, Evidence, EvidenceKind, EvidenceRule


def test_a_result_without_sources_is_evidence_of_just_what_its_tool_declares() -> None:
    rule = EvidenceRule(EvidenceKind.AUTHORITATIVE, quotable=True, reportable=True, confirm=True, scope="prices")
    assert {each.name: getattr(rule.plain, each.name) for each in fields(rule)} == {
        each.name: getattr(rule, each.name) for each in fields(rule)
    }
    assert (rule.plain.sources, rule.plain.data_time_us, rule.plain.data_version) == ((), None, "")
    assert STATUS_ONLY.plain == Evidence(EvidenceKind.STATUS)
