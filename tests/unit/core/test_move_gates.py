"""Each need of a gate: met, waived by name with a reason where that is allowed, or lacking; never passed over."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.errors import MoveRefused
from interlock.core.evidence import EvidenceKind, EvidenceRule
from interlock.core.example import ExampleKind
from interlock.core.labels import Confidentiality, Labels
from interlock.core.lifecycle import MOVES, RELEASE, REVIEWED, Lifecycle, Need
from interlock.core.move_gates import (
    EFFECT_KINDS,
    WORDS_CHARS_MAX,
    Case,
    Grounds,
    Halt,
    Standing,
    excused,
    read_day,
    refuse_lacking,
    refuse_wordless,
    weigh,
)
from interlock.core.readiness import Readiness, Tally
from interlock.core.retirement import Retirement
from interlock.core.tool import Document, ErrorContract, IdempotencyRule, ResourceRule
from tests.unit.core.call_cases import spec

pytestmark = pytest.mark.requirement("REG-2")

READY = Readiness(tool="save_draft", version="1", digest="d", passed=dict.fromkeys(EFFECT_KINDS, 1), at_us=1)
WHOLE = spec(
    owner="eng",
    output_schema=Document.of({"type": "object"}),
    idempotency=IdempotencyRule(("draft_id",)),
    reconcile=True,
    errors=(ErrorContract("BUSY"),),
    labels=Labels(Confidentiality.INTERNAL),
    resource=ResourceRule("Draft", "draft_id"),
)
CASE = Case(
    spec=WHOLE,
    digest="d",
    grounds=Grounds(reason="it is tried"),
    by="olga",
    now_us=100,
    to=Lifecycle.AVAILABLE,
    submitter="dev",
    reviewers=("rita",),
    readiness=READY,
    rollback="version 0",
)
AT = Halt("save_draft", "1", Lifecycle.RESTRICTED, Lifecycle.AVAILABLE)


def lacking(case: Case, gate: Any = RELEASE) -> list[Need]:
    return [each.need for each in weigh(gate, case) if each.stands is Standing.LACKING]


def test_a_version_that_has_all_that_its_gate_asks_for_lacks_nothing() -> None:
    assert lacking(CASE) == []
    assert {each.stands for each in weigh(RELEASE, CASE)} == {Standing.MET}


@pytest.mark.parametrize(
    ("need", "changed"),
    [
        (Need.OWNER, {"spec": replace(WHOLE, owner=" ")}),
        (Need.SCHEMAS, {"spec": replace(WHOLE, output_schema=None)}),
        (Need.IDEMPOTENCY, {"spec": replace(WHOLE, idempotency=IdempotencyRule())}),
        (Need.CANCELLATION, {"spec": replace(WHOLE, reconcile=False)}),
        (Need.ERRORS, {"spec": replace(WHOLE, errors=())}),
        (Need.AUDIT_FIELDS, {"spec": replace(WHOLE, labels=Labels())}),
        (Need.AUDIT_FIELDS, {"spec": replace(WHOLE, resource=None)}),
        (Need.EXAMPLES, {"readiness": None}),
        (Need.EXAMPLES, {"readiness": replace(READY, digest="of another version")}),
        (Need.EXAMPLES, {"readiness": replace(READY, failing=("a",))}),
        (Need.EXAMPLES, {"readiness": replace(READY, passed={ExampleKind.TYPICAL: 9})}),
        (Need.EXAMPLES, {"readiness": replace(READY, risk=Tally(failed=1))}),
        (Need.REVIEW, {"reviewers": ()}),
        (Need.REVIEW, {"reviewers": ("olga", "dev")}),
        (Need.ROLLBACK, {"rollback": ""}),
    ],
)
def test_what_is_missing_is_lacking_alone_and_may_be_waived_where_the_gate_allows_it(
    need: Need, changed: dict[str, Any]
) -> None:
    case = replace(CASE, **changed)
    assert lacking(case) == [need]
    waived = replace(case, grounds=Grounds(reason="it is tried", waive={need: "urgent"}))
    if need in RELEASE.firm:
        with pytest.raises(MoveRefused, match="cannot be waived"):
            weigh(RELEASE, waived)
        return
    (found,) = [each for each in weigh(RELEASE, waived) if each.need is need]
    assert (found.stands, found.says, found.by) == (Standing.WAIVED, "urgent", "olga")
    with pytest.raises(MoveRefused, match="without a reason"):
        weigh(RELEASE, replace(case, grounds=Grounds(reason="it is tried", waive={need: " "})))
    with pytest.raises(MoveRefused, match=need.value):
        refuse_lacking(weigh(RELEASE, case), at=AT)


def test_a_read_needs_no_key_no_way_to_cancel_and_no_resource_but_says_what_it_is_evidence_of() -> None:
    read = replace(
        spec("find"), effect=spec("x").effect.READ, owner="eng", output_schema=Document.of({}), errors=WHOLE.errors
    )
    assert lacking(replace(CASE, spec=read)) == [Need.AUDIT_FIELDS]
    told = replace(read, evidence=EvidenceRule(EvidenceKind.AUTHORITATIVE), labels=Labels(Confidentiality.INTERNAL))
    assert lacking(replace(CASE, spec=told)) == []


def test_what_was_frozen_goes_back_for_a_reason_and_a_review_and_not_further() -> None:
    bare = replace(CASE, readiness=None, rollback="", was=Lifecycle.AVAILABLE)
    assert lacking(bare, MOVES[Lifecycle.FROZEN][Lifecycle.AVAILABLE]) == []
    assert lacking(replace(bare, was=Lifecycle.RESTRICTED)) == [Need.EXAMPLES, Need.ROLLBACK]
    assert lacking(replace(bare, reviewers=())) == [Need.REVIEW]


def test_what_is_quarantined_is_opened_by_nobody_alone() -> None:
    alone = replace(CASE, reviewers=("olga",), grounds=Grounds(reason="fine", waive={Need.REVIEW: "sure"}))
    with pytest.raises(MoveRefused, match="cannot be waived"):
        weigh(REVIEWED, alone)


def test_a_retirement_needs_its_day_and_a_word_for_the_owner() -> None:
    gate = MOVES[Lifecycle.AVAILABLE][Lifecycle.RETIRED]
    assert lacking(CASE, gate) == [Need.NOTICE, Need.CONFIRMATION]
    early = replace(CASE, retirement=Retirement(1, 101, confirmed_by="eve"))
    assert lacking(early, gate) == [Need.NOTICE]
    assert lacking(replace(early, now_us=101), gate) == []


def test_where_gates_are_not_held_to_what_is_lacking_is_said_and_not_asked_for() -> None:
    bare = replace(CASE, readiness=None)
    found = excused(weigh(RELEASE, bare), bare)
    assert [(each.need, each.says) for each in found if each.stands is Standing.NOT_ASKED] == [
        (Need.EXAMPLES, "its examples have not run")
    ]
    refuse_lacking(found, at=AT)


def test_a_day_that_was_announced_is_kept_also_where_gates_are_not_held_to() -> None:
    gate = MOVES[Lifecycle.AVAILABLE][Lifecycle.RETIRED]
    early = replace(CASE, retirement=Retirement(1, 101))
    halt = replace(AT, state=Lifecycle.AVAILABLE, to=Lifecycle.RETIRED)
    with pytest.raises(MoveRefused, match="save_draft 1 cannot become retired: it lacks notice: it was announced for"):
        refuse_lacking(excused(weigh(gate, early), early), at=halt)
    for case in (CASE, replace(early, now_us=101)):  # nothing announced, or the day has come
        refuse_lacking(excused(weigh(gate, case), case), at=halt)
    waived = replace(early, grounds=Grounds(reason="a leak", waive={Need.NOTICE: "a leak"}))
    refuse_lacking(excused(weigh(gate, waived), waived), at=halt)


@pytest.mark.parametrize(
    "grounds",
    [
        Grounds(reason=""),
        Grounds(reason=" \n"),
        Grounds(reason="x" * (WORDS_CHARS_MAX + 1)),
        Grounds(reason="fine\u202e"),
        Grounds(reason="fine", samples=("a\x00b",)),
        Grounds(reason="fine", withdraw_when=("\u200b",)),
        Grounds(reason="fine", review_on="soon"),
    ],
)
def test_words_that_say_nothing_too_much_or_what_cannot_be_seen_are_refused(grounds: Grounds) -> None:
    with pytest.raises(MoveRefused):
        refuse_wordless(grounds)


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert read_day("1970-01-02") == 86_400_000_000
