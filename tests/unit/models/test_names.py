"""Tool names are spelled in the letters a provider allows, and read back without guessing."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models import names as spelling_rules
from interlock.models.names import GEMINI_NAMES, LONG_NAMES, PLAIN_NAMES, NameRules, spell

ALLOWED = {
    PLAIN_NAMES: re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    LONG_NAMES: re.compile(r"[a-zA-Z0-9_-]{1,128}"),
    GEMINI_NAMES: re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"),
}
pytestmark = pytest.mark.requirement("REG-12")

EVERY_RULE = pytest.mark.parametrize("rules", ALLOWED)


@EVERY_RULE
def test_a_name_that_fits_is_sent_as_it_is(rules: NameRules) -> None:
    assert spell(["save_draft", "a-b"], rules=rules).to_wire == {"save_draft": "save_draft", "a-b": "a-b"}


def test_a_name_with_foreign_characters_stays_readable() -> None:
    assert spell(["files.read"]).to_wire["files.read"].startswith("files_read_")
    assert spell(["files.read"], rules=GEMINI_NAMES).to_wire == {"files.read": "files.read"}


def test_names_that_differ_only_in_foreign_characters_or_far_at_the_end_stay_apart() -> None:
    names = ["a.b", "a/b", "a_b", "x" * 65, "x" * 66]
    spelling = spell(names)
    assert len(set(spelling.to_wire.values())) == len(names)


def test_a_first_digit_is_replaced_where_it_may_not_stand() -> None:
    assert spell(["2fa"]).to_wire == {"2fa": "2fa"}
    assert spell(["2fa"], rules=GEMINI_NAMES).to_wire["2fa"].startswith("_fa_")
    assert spell(["-a"], rules=GEMINI_NAMES).to_wire["-a"].startswith("_a_")


def test_a_name_that_was_not_offered_is_not_guessed() -> None:
    spelling = spell(["search", "files.read"])
    for wire_name in ("Search", "search ", "files.read", "files_read", ""):
        assert spelling.original(wire_name) is None


def test_a_name_cannot_take_the_spelling_of_another() -> None:
    taken = spell(["a.b"]).to_wire["a.b"]
    again = spell([taken]).to_wire[taken]
    assert set(spell(["a.b", taken, again]).from_wire.values()) == {"a.b", taken, again}


def test_a_reserved_name_is_spelled_another_way() -> None:
    spelling = spell(["web_search", "save"], reserved={"web_search"})
    assert spelling.original("web_search") is None
    assert spelling.to_wire["save"] == "save"


def test_two_names_with_one_spelling_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling_rules, "_DIGEST_CHARACTERS", 0)
    with pytest.raises(ValueError, match="one spelling"):
        spell(["a.b", "a/b"])


def test_a_spelling_never_changes() -> None:
    assert spell(["files.read"]).to_wire["files.read"] == "files_read_601e4eb608"
    assert spell(["öffne"], rules=GEMINI_NAMES).to_wire["öffne"] == "_ffne_edf0b41342"


@EVERY_RULE
@pytest.mark.requirement("TOOL-7")
def test_names_that_servers_publish_are_spelled_for_every_provider(
    trouble_case: Callable[[str], Mapping[str, Any]], rules: NameRules
) -> None:
    published = [tool["name"] for tool in trouble_case("REG-01")["input"]["tools_list"]]
    spelling = spell(published, rules=rules)
    assert all(ALLOWED[rules].fullmatch(wire_name) for wire_name in spelling.from_wire)
    assert [spelling.original(spelling.to_wire[name]) for name in published] == published


@EVERY_RULE
@given(names=st.sets(st.text(max_size=140) | st.from_regex(r"[a-z]{1,3}_[0-9a-f]{10}", fullmatch=True), max_size=5))
def test_every_spelling_is_allowed_and_leads_back(rules: NameRules, names: set[str]) -> None:
    spelling = spell(names, rules=rules)
    for name in names:
        assert ALLOWED[rules].fullmatch(spelling.to_wire[name])
        assert spelling.original(spelling.to_wire[name]) == name
