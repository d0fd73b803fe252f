"""Tools that are alike in name, words and schema are found, and it is said in what they are."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.core.effect import Effect
from interlock.core.review_likeness import NEIGHBOURS_MAX, PAIRS_MAX, alike, instead_of, marks_of, words_of
from interlock.core.tool import Document, ToolSpec
from tests.unit.core.compatibility_cases import NUMBER, TEXT, closed, spec

WORDS = "Find the notes of a customer by words in them, newest first."


def named(name: str, words: str = WORDS, **members: object) -> ToolSpec:
    schema = closed("query", query=TEXT, **(members or {"limit": NUMBER}))  # type: ignore[arg-type]
    return replace(spec(schema=schema), name=name, description=words)


@pytest.mark.requirement("REG-11")
def test_two_tools_that_say_the_same_are_a_pair_and_it_is_said_what_is_alike() -> None:
    mail = named("send_mail", "Send an e-mail to one person.", to=TEXT)
    found = alike([named("find_notes"), named("findNotes2"), mail], percent=70)
    (pair,) = found
    assert (pair.one, pair.other, pair.instead, pair.same_effect) == ("find_notes", "findNotes2", "both", True)
    assert pair.fields["words"] == pair.fields["schema"] == 100 > pair.percent >= 70
    assert {"newest", "query:string"} <= set(pair.shared)


@pytest.mark.requirement("REG-11")
def test_which_of_two_does_for_the_other_is_known_from_their_schemas() -> None:
    narrow, wide = named("a", limit=NUMBER), named("b", limit=NUMBER, more=TEXT)
    assert instead_of(narrow, wide) == "other"
    assert instead_of(wide, narrow) == "one"
    assert instead_of(narrow, named("c", limit=TEXT)) == "neither"
    assert instead_of(narrow, narrow) == "both"


@pytest.mark.requirement("REG-11")
def test_tools_of_different_effect_are_told_apart() -> None:
    writes = replace(named("find_note"), effect=Effect.DESTRUCTIVE)
    (pair,) = alike([named("find_notes"), writes], percent=50)
    assert not pair.same_effect


NAMES = st.sampled_from(["find_note", "find_notes", "get_note", "note", "send"])
TEXTS = st.lists(st.sampled_from("find send note mail newest customer words first".split()), min_size=1, max_size=6)


@settings(max_examples=60)
@given(st.lists(st.tuples(NAMES, TEXTS), min_size=2, max_size=12), st.sampled_from([30, 50, 70, 100]))
def test_every_pair_that_shares_enough_is_found_and_no_other(tools: list[tuple[str, list[str]]], percent: int) -> None:
    specs = [named(name, " ".join(words)) for name, words in tools]
    sets = [{f"{field} {mark}" for field, marks in marks_of(each).items() for mark in marks} for each in specs]
    wanted = sum(len(one & other) / len(one | other) >= percent / 100 for one, other in combinations(sets, 2))
    found = alike(specs, percent=percent)
    assert len(found) == min(wanted, PAIRS_MAX)
    assert all(each.percent >= percent for each in found)


def test_a_thousand_tools_that_are_all_alike_cost_no_square() -> None:
    specs = [named(f"find_notes_{number}") for number in range(1_000)]
    assert len(alike(specs, percent=70)) == PAIRS_MAX
    assert NEIGHBOURS_MAX * len(specs) < len(specs) ** 2 / 10


def test_words_of_scripts_without_spaces_are_compared_by_pairs_of_letters() -> None:
    assert words_of("查找客户") == {"查找", "找客", "客户"}
    assert words_of("Größe of the Maße") == {"grösse", "masse"}
    assert marks_of(named("查找"))["name"] == {"查找"}


def test_parameters_within_others_are_compared_by_their_paths() -> None:
    inner = {"type": "object", "properties": {"street": TEXT}}
    marks = marks_of(
        replace(named("a"), input_schema=Document.of(closed(to=inner, many={"type": "array", "items": inner})))
    )
    assert marks["schema"] == {"to:object", "to.street:string", "many:array", "many[].street:string"}
