"""The table of refusals: every code has a row, and the row agrees with what the code proves."""

import re

import pytest

from interlock.core.refusals import AFTER_DISPATCH, BEFORE_DISPATCH, REFUSALS, Code, Row
from tests.golden import check_golden

DONE_IN_TRUTH = {Code.OUTPUT_INVALID}
NOT_ENDED = {Code.APPROVAL_REQUIRED, Code.IDEMPOTENCY_IN_PROGRESS}


def test_the_table_is_the_one_a_reviewer_has_seen() -> None:
    check_golden("refusals.txt", "\n".join(_rendered(code, REFUSALS[code]) for code in Code))


def test_every_code_has_a_row_in_the_order_of_the_codes() -> None:
    assert list(REFUSALS) == list(Code)
    assert {*BEFORE_DISPATCH} | {*AFTER_DISPATCH} == {*Code}
    assert not BEFORE_DISPATCH & AFTER_DISPATCH


@pytest.mark.parametrize("code", Code)
def test_a_row_says_something_to_everyone_and_answers_with_a_status_of_its_kind(code: Code) -> None:
    row = REFUSALS[code]
    assert all(text.endswith(".") and text[0].isupper() for text in (row.says, row.next_step, row.user))
    assert row.http == 202 if code is Code.APPROVAL_REQUIRED else 400 <= row.http < 600


@pytest.mark.requirement("OBS-7")
@pytest.mark.parametrize("code", sorted(BEFORE_DISPATCH - NOT_ENDED))
def test_a_refusal_before_dispatch_tells_the_user_that_nothing_was_done(code: Code) -> None:
    assert "nothing was done" in REFUSALS[code].user


@pytest.mark.requirement("OBS-7")
@pytest.mark.parametrize("code", sorted(AFTER_DISPATCH | {Code.IDEMPOTENCY_IN_PROGRESS}))
def test_an_end_after_dispatch_never_says_that_nothing_was_done(code: Code) -> None:
    row = REFUSALS[code]
    assert not re.search(r"nothing|not been (done|executed)|was not done", f"{row.says} {row.user}".lower())


@pytest.mark.requirement("OBS-7", "OBS-2")
def test_only_a_withheld_result_is_said_to_be_executed() -> None:
    assert {code for code in Code if "was executed" in REFUSALS[code].user} == DONE_IN_TRUTH
    assert "not known" in REFUSALS[Code.OUTCOME_UNKNOWN].says


def test_a_synonym_is_no_code_and_stands_for_one_code_only() -> None:
    synonyms = [each for row in REFUSALS.values() for each in row.synonyms]
    assert len(synonyms) == len({*synonyms})
    assert not {*synonyms} & {code.value for code in Code}
    assert {"UNKNOWN_TOOL", "INVALID_ARGS"} <= {*synonyms}


def _rendered(code: Code, row: Row) -> str:
    return "\n".join(
        [
            f"{code}  {row.http}{'  retryable' if row.retryable else ''}{'' if code in BEFORE_DISPATCH else '  after'}",
            f"  says  {row.says}",
            f"  next  {row.next_step}",
            f"  user  {row.user}",
            *([f"  also  {' '.join(row.synonyms)}"] if row.synonyms else []),
            "",
        ]
    )
