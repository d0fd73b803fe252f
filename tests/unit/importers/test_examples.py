"""Examples as YAML: nothing is lost on the way, and what nothing reads is refused with the nearest word."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.call import PrincipalKind
from interlock.core.errors import SpecInvalid
from interlock.core.evidence import Source
from interlock.core.example import (
    EXPECTS,
    Answer,
    ExampleCaller,
    ExampleHealth,
    ExampleKind,
    ExampleWorld,
    Expected,
    Reviewed,
    ToolExample,
)
from interlock.core.selection import CaseKind, SelectionCase
from interlock.core.tool import Document
from interlock.importers.examples import Library, load_examples, read_examples, write_examples

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(TEXT, each, max_size=3),
    max_leaves=6,
)
DOCUMENTS = JSON.map(Document.of)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3).map(Document.of)
ANSWERS = st.lists(
    st.builds(
        Answer,
        gives=DOCUMENTS,
        fails=TEXT,
        says=TEXT,
        takes_ms=st.integers(0, 9_999),
        open_items=st.lists(TEXT, max_size=2).map(tuple),
        sources=st.lists(st.builds(Source, TEXT, TEXT), max_size=2).map(tuple),
    ),
    max_size=2,
).map(tuple)


@st.composite
def examples(draw: st.DrawFn) -> ToolExample:
    kind = draw(st.sampled_from(ExampleKind))
    data = draw(st.none() | DOCUMENTS.filter(lambda each: each.value is not None))
    return ToolExample(
        name=draw(TEXT),
        tool=draw(TEXT),
        kind=kind,
        version=draw(TEXT),
        unsuitable=tuple(draw(st.lists(TEXT, max_size=2))),
        domain=draw(TEXT),
        reviewed=draw(st.none() | st.builds(Reviewed, by=TEXT, why=TEXT)),
        caller=draw(
            st.builds(
                ExampleCaller, id=TEXT, kind=st.sampled_from(PrincipalKind), groups=st.frozensets(TEXT), claims=OBJECTS
            )
        ),
        arguments=draw(OBJECTS),
        world=draw(
            st.builds(
                ExampleWorld,
                answers=ANSWERS,
                others=st.dictionaries(TEXT, ANSWERS, max_size=2),
                found=DOCUMENTS,
                health=st.sampled_from(ExampleHealth),
                facts=OBJECTS,
            )
        ),
        approve=draw(st.booleans()),
        expected=Expected(
            status=draw(st.sampled_from(sorted(EXPECTS[kind]))),
            data=data,
            effects=draw(st.none() | st.integers(0, 9)),
            roles=draw(st.none() | st.lists(TEXT, max_size=2).map(tuple)),
            replayed=draw(st.none() | st.booleans()),
        ),
        expires=draw(st.sampled_from(["", "2027-06-30"])),
        watch=draw(st.dictionaries(TEXT, OBJECTS, max_size=2)),
        remarks=tuple(draw(st.lists(TEXT, max_size=2))),
    )


CASES = st.builds(
    SelectionCase,
    words=TEXT.filter(str.strip),
    tool=TEXT,
    kind=st.sampled_from(CaseKind),
    chooses=st.none() | TEXT,
    never=st.lists(TEXT, max_size=2).map(tuple),
)


@pytest.mark.requirement("REG-8")
@given(examples(), CASES)
def test_an_example_that_is_written_and_read_again_has_lost_nothing(example: ToolExample, case: SelectionCase) -> None:
    back = read_examples(write_examples(Library([example], [case])))
    assert back.examples == (example,)
    assert back.selection == (case,)


ONE = """
examples:
  - name: one
    tool: look
    kind: typical
    {line}
    expected: {{status: ok}}
"""


@pytest.mark.requirement("REG-8")
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("argumets: {a: 1}", "is it 'arguments'?"),
        ("world: {answer: []}", "is it 'answers'?"),
        ("caller: {group: [a]}", "is it 'groups'?"),
        ("expires: soon", "a date such as 2027-06-30"),
        ("world: {now: noon}", "a time such as"),
        ("arguments: {day: 2026-01-01}", "quote it"),
        ("every: 1h", "say probe: true"),
        ("world: {real: true, fixture: m:f}", "is real and says"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(line: str, says: str) -> None:
    with pytest.raises(SpecInvalid, match=r"examples|line") as refused:
        read_examples(ONE.format(line=line))
    assert says in str(refused.value)


def test_a_schedule_is_a_number_of_seconds_minutes_hours_or_days() -> None:
    with pytest.raises(SpecInvalid, match="such as 30m"):
        read_examples(ONE.format(line="probe: true\n    every: often"))
    assert read_examples(ONE.format(line="probe: true\n    every: 6h")).examples[0].every == "6h"


def test_a_result_that_has_to_be_null_is_said_by_a_schema() -> None:
    with pytest.raises(SpecInvalid, match="data_schema"):
        read_examples(ONE.format(line="").replace("{status: ok}", "{status: ok, data: null}"))


def test_dates_stay_the_texts_that_they_look_like() -> None:
    found = read_examples(ONE.format(line="expires: 2027-06-30")).examples[0]
    assert found.expires == "2027-06-30"


def test_two_examples_of_a_tool_have_two_names_in_all_files_together(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(ONE.format(line=""), encoding="utf-8")
    with pytest.raises(SpecInvalid, match="have the name 'one'"):
        load_examples(sorted(tmp_path.glob("*.yaml")))
    assert len(load_examples([tmp_path / "a.yaml"]).examples) == 1


def test_a_fault_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("exmples: []", encoding="utf-8")
    with pytest.raises(SpecInvalid, match=r"broken\.yaml: the file: there is no 'exmples'; is it 'examples'\?"):
        load_examples([tmp_path / "broken.yaml"])


def test_words_that_are_empty_are_no_case() -> None:
    with pytest.raises(SpecInvalid, match="what a user says"):
        read_examples("selection: [{words: ' ', tool: look}]")
