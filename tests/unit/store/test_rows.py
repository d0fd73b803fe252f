"""What a row holds comes back as it was."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.approval import ApprovalState, Vote
from interlock.core.chain import genesis
from interlock.core.checkpoint import BEGINNING, draw_up, signed
from interlock.core.journal import Payload
from interlock.core.labels import NO_LABELS, Confidentiality, Labels, Trust
from interlock.core.run import RunFacts
from interlock.store import rows
from interlock.testing.store_values import Values, reserve

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
payloads = st.lists(st.builds(Payload, name=texts, salt=st.binary(max_size=16), data=st.binary(max_size=100)))
labels = st.builds(
    Labels,
    confidentiality=st.sampled_from(Confidentiality),
    trust=st.sampled_from(Trust),
    origins=st.frozensets(texts),
)


@given(payloads)
def test_payloads(found: list[Payload]) -> None:
    assert rows.unframe(rows.frame(found)) == tuple(found)


@given(labels)
def test_labels(found: Labels) -> None:
    assert rows.read_labels(rows.write_labels(found)) == found


def test_no_labels_take_no_room() -> None:
    assert rows.write_labels(NO_LABELS) is None


@given(labels, st.frozensets(texts), st.frozensets(texts))
def test_runs(read: Labels, tools: frozenset[str], denied: frozenset[str]) -> None:
    run = RunFacts("r", 7, read, tools, denied, "done")
    assert rows.read_run("r", version=7, facts=rows.write_run(run), ended="done") == run


def test_holds_come_back_without_their_limits() -> None:
    holds = reserve(5, cost_micros=3) + reserve(None)
    assert rows.read_holds(rows.write_holds(holds)) == tuple(each._replace(limits=()) for each in holds)
    assert rows.write_holds(()) is None
    assert rows.read_holds(None) == ()


@given(texts, texts)
def test_approvals_in_the_state_of_their_row(summary: str, note: str) -> None:
    vote = Vote("bob", frozenset({"a", "b"}), approve=True, at_us=1, note=note)
    approval = replace(Values().asking("k").approval, summary=summary, votes=(vote,), replaces="old", expectation=note)
    assert rows.read_approval(rows.write_approval(approval), state="pending") == approval
    granted = replace(approval, state=ApprovalState.GRANTED)
    assert rows.read_approval(rows.write_approval(granted), state="used") == replace(approval, state=ApprovalState.USED)


@pytest.mark.requirement("APR-2")
@pytest.mark.parametrize("written", ApprovalState)
@pytest.mark.parametrize("row", ApprovalState)
def test_a_state_to_which_no_claim_takes_a_row_is_not_believed(written: ApprovalState, row: ApprovalState) -> None:
    approval = replace(Values().asking("k").approval, state=written)
    read = rows.read_approval(rows.write_approval(approval), state=row)
    by_a_claim = (written, row) in {(ApprovalState.GRANTED, ApprovalState.USED), (ApprovalState.PENDING, row.VOID)}
    assert read.state is (row if row is written or by_a_claim else ApprovalState.VOID)


@given(st.binary(max_size=50), texts)
def test_operations(sealed: bytes, text: str) -> None:
    operation = replace(Values().operation("k", sealed=sealed), principal=text, repeatable=True)
    assert rows.read_operation(rows.write_operation(operation)) == operation


def test_a_row_holds_only_what_it_knows_how_to_write() -> None:
    broken = replace(Values().asking().approval, summary=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        rows.write_approval(broken)


def test_checkpoints() -> None:
    drawn = draw_up([genesis("a"), genesis("b")], after=BEGINNING, time_us=5, key_fingerprint="f")
    checkpoint = signed(drawn, signature=bytes(range(64)))
    assert rows.read_checkpoint(rows.write_checkpoint(checkpoint)) == checkpoint
