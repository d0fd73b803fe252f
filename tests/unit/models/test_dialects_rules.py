"""The tables of dialects are whole and do not contradict themselves."""

import pytest

from interlock.models.dialects_rules import ALL_KEYWORDS, RULES, SILENT, Dialect


@pytest.mark.parametrize("dialect", Dialect)
def test_every_dialect_has_rules_that_hold_together(dialect: Dialect) -> None:
    rules = RULES[dialect]
    assert rules.keywords <= ALL_KEYWORDS
    assert not rules.all_required or rules.closed
    assert not rules.openapi or (rules.typed and rules.inline)
    assert rules.closed is (rules.relaxed is not None) is dialect.endswith("strict")


def test_a_strict_dialect_gives_way_to_the_same_providers_own() -> None:
    strict = {dialect: rules.relaxed for dialect, rules in RULES.items() if rules.relaxed}
    assert all(dialect == f"{relaxed}-strict" for dialect, relaxed in strict.items())


def test_what_is_left_out_silently_constrains_nothing() -> None:
    assert SILENT.isdisjoint({"type", "properties", "required", "enum", "const", "pattern", "default"})
