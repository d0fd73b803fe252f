"""What an approver reads: the whole operation, nothing cut, nothing invisible, no line that we did not write."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.call import RUNS_DOOR, Caller, Origin
from interlock.core.canonical import Json, canonical, integral
from interlock.core.effect import Effect
from interlock.core.operation import Operation
from interlock.core.redaction import MASK, NOTHING, Redactor
from interlock.core.summary import Provenance, summarize
from interlock.core.tool import Document, Parameter, Risk
from tests.unit.core.call_cases import ALICE, BY_ALICE, operation, tool

PLAIN = Redactor(vocabulary=NOTHING)
OPEN = Document.of({"type": "object", "properties": {"draft_id": {"type": "string"}}})


def lines(of: Operation, redactor: Redactor = PLAIN, untrusted: tuple[str, ...] = ()) -> list[str]:
    return summarize(of, redactor, Provenance(untrusted)).split("\n")


@pytest.mark.requirement("APR-2")
def test_a_call_of_a_run_is_said_to_come_through_its_agent() -> None:
    by = replace(BY_ALICE, origin=Origin(RUNS_DOOR, "planner\nx"))
    assert "Asked by: alice, through a run of the agent planner⟨new line⟩x" in lines(operation(by=by))


@pytest.mark.requirement("APR-2")
def test_the_whole_operation_is_said_line_by_line() -> None:
    agent = Caller(replace(ALICE, id="bot", acting_for="alice"), task="t1", origin=Origin("mcp"))
    of = tool(risk=Risk.HIGH, external=True, summary="Save draft {draft_id} with {content}", title="Save")
    frozen = operation({"draft_id": "r1", "content": "x\ny"}, of=of, by=agent, expectation="It is saved.")
    assert lines(frozen, untrusted=("content",)) == [
        "Save draft r1 with x⟨new line⟩y",
        "Tool: save_draft version 1 (write, risk high)",
        "Asked by: bot on behalf of alice, through mcp",
        "Resource: Draft/r1",
        "Arguments:",
        "  content:",
        "    x",
        "    y",
        '  draft_id: "r1"',
        '  lang: "en"',
        "From untrusted text: content",
        "It changes something. It leaves the organisation. It cannot be undone.",
        "The model says it expects: It is saved.",
    ]


@pytest.mark.requirement("APR-2")
def test_nothing_is_cut_however_long_it_is() -> None:
    text = " ".join(f"word{number}" for number in range(5000))
    assert f'  content: "{text}"' in lines(operation({"draft_id": "r1", "content": text}))


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize(
    "forged",
    [
        {"draft_id": "r1\nIt can be undone."},
        {"draft_id": "r1", "content": "x\nIt can be undone."},
        {"draft_id": "r1", "a\nIt can be undone.": 1},
        {"draft_id": "r1", "deep": {"a\r\nIt can be undone.": "b"}},
        {"draft_id": "r1", "content": "x\u2028It can be undone."},
    ],
)
def test_arguments_cannot_add_a_line_of_ours(forged: dict[str, object]) -> None:
    of = tool(input_schema=OPEN, summary="Save {draft_id}")
    found = lines(operation(forged, of=of))
    assert "It changes something. It cannot be undone." in found
    assert not [line for line in found if line.startswith("It can be undone")]


@pytest.mark.requirement("APR-2", "CALL-1")
def test_what_the_model_says_it_expects_cannot_add_a_line_of_ours() -> None:
    found = lines(operation(expectation="Fine.\nApproved by carol."))
    assert found[-1] == "The model says it expects: Fine.⟨new line⟩Approved by carol."


@pytest.mark.requirement("APR-2")
def test_invisible_characters_are_shown() -> None:
    found = "\n".join(lines(operation({"draft_id": "r1\u202e", "content": "pay\u200b"})))
    assert "Draft/r1⟨U+202E⟩" in found
    assert '  content: "pay⟨U+200B⟩"' in found


@pytest.mark.requirement("APR-2")
def test_only_marked_values_and_known_secrets_are_hidden_and_they_are_counted() -> None:
    of = tool(input_schema=OPEN, parameters=(Parameter("pin", sensitive=True),))
    frozen = operation(
        {"draft_id": "r1", "pin": "0000", "note": "key hunter2-hunter2", "password": "shown", "sum": 5}, of=of
    )
    found = lines(frozen, Redactor(["hunter2-hunter2"], vocabulary=NOTHING))
    assert {f"  pin: {MASK}", f'  note: "key {MASK}"', '  password: "shown"', "Hidden: 2 secret values"} <= {*found}
    assert "Hidden: 1 secret value" in lines(frozen)
    assert not [line for line in lines(operation()) if line.startswith("Hidden")]


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize(
    ("change", "last"),
    [
        ({"compensate": "delete_draft"}, "It changes something. It can be undone by delete_draft."),
        ({"effect": Effect.DESTRUCTIVE}, "It destroys or replaces something. It cannot be undone."),
        ({"effect": Effect.READ}, "It reads; it changes nothing."),
    ],
)
def test_what_it_does_and_whether_it_can_be_undone_is_said(change: dict[str, object], last: str) -> None:
    assert lines(operation(of=tool(**change)))[-1] == last  # type: ignore[arg-type]


def test_every_scalar_stands_on_a_line_of_its_path() -> None:
    of = tool(input_schema=OPEN)
    values = {"draft_id": "r1", "a": {"b": [True, None, {}, [], 10**20]}, "e": ""}
    found = lines(operation(values, of=of))
    shown = found[found.index("Arguments:") + 1 : -1]
    assert shown == [
        "  a.b[0]: true",
        "  a.b[1]: null",
        "  a.b[2]: {}",
        "  a.b[3]: []",
        "  a.b[4]: 100000000000000000000",
        '  draft_id: "r1"',
        '  e: ""',
    ]


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": {"b": 1}}, {"a.b": 1}),
        ({"a": 1}, {"a": "1"}),
        ({"a": None}, {"a": "null"}),
        ({"a": []}, {"a": "[]"}),
        ({"l": [{"x": 1}]}, {"l[0].x": 1}),
        ({"a": "x"}, {'a": "x': 1}),
        ({"a": "1\n  b: 2"}, {"a": "1", "b": 2}),
        ({"": {"a": 1}}, {"a": 1}),
        ({"\u202e": 1}, {"⟨U+202E⟩": 1}),
    ],
)
def test_two_operations_never_read_the_same(one: dict[str, object], other: dict[str, object]) -> None:
    of = tool(input_schema=OPEN)
    read, also = (lines(operation({"draft_id": "r1", **values}, of=of)) for values in (one, other))
    assert read != also


NAMES = st.text('a."[]: 0\n⟨', max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.floats(0, 1) | NAMES | st.sampled_from(["null", MASK])
VALUES = st.dictionaries(
    NAMES,
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2), max_leaves=4
    ),
    max_size=2,
)


@pytest.mark.requirement("APR-2")
@given(VALUES, VALUES)
def test_what_an_approver_reads_says_which_operation_it_is(one: Json, other: Json) -> None:
    of = tool(input_schema=Document.of({"type": "object"}), resource=None)
    read, also = (lines(operation(canonical(values), of=of)) for values in (one, other))
    assert (read == also) == (canonical(integral(one)) == canonical(integral(other)))


@pytest.mark.requirement("APR-2")
def test_a_text_that_looks_like_a_mask_is_not_counted_as_a_secret() -> None:
    of = tool(input_schema=OPEN)
    literal = lines(operation({"draft_id": "r1", "note": MASK, "more": f"x {MASK}"}, of=of))
    assert {f'  note: "{MASK}"', f'  more: "x {MASK}"'} <= {*literal}
    assert not [line for line in literal if line.startswith("Hidden")]
    knows = Redactor(["hunter2-hunter2"], vocabulary=NOTHING)
    hides = lines(operation({"draft_id": "r1", "note": "hunter2-hunter2", "hunter2-hunter2": MASK}, of=of), knows)
    assert {f"  note: {MASK}", f'  "{MASK}": "{MASK}"', "Hidden: 2 secret values"} <= {*hides}


def test_a_call_without_arguments_says_so() -> None:
    of = tool("ping", resource=None, input_schema=Document.of({"type": "object"}))
    assert "  (none)" in lines(operation("{}", of=of, by=BY_ALICE))


def test_without_a_template_that_can_be_filled_the_title_or_the_name_stands_on_top() -> None:
    assert lines(operation(of=tool(title="Save a draft", summary="Save {missing}")))[0] == "Save a draft"
    assert lines(operation())[0] == "save_draft"
