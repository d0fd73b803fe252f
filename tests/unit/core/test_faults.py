"""Failed is said only where it is known; the golden file shows what each fault of each effect class comes to."""

import pytest

from interlock.core.effect import Effect
from interlock.core.faults import SAYS_NOTHING, honest
from interlock.core.outcome import Failed, Succeeded, Unknown
from interlock.core.refusals import Code

EFFECTS = [each for each in Effect if each.is_effect]


@pytest.mark.requirement("IDEM-3")
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("code", sorted(SAYS_NOTHING))
def test_an_effect_that_may_have_happened_is_unknown_and_not_failed(effect: Effect, code: Code) -> None:
    assert honest(Failed(code, "gone", attempts=2), effect=effect) == Unknown("gone", None, 2)
    proved = Failed(code, "gone", nothing_happened=True)
    assert honest(proved, effect=effect) is proved


def test_an_error_that_the_contract_declares_is_an_answer_and_one_without_a_code_is_none() -> None:
    declared = Failed(Code.TOOL_ERROR, "no such draft", tool_code="NOT_FOUND")
    assert honest(declared, effect=Effect.WRITE) is declared
    assert isinstance(honest(Failed(Code.TOOL_ERROR, "500"), effect=Effect.WRITE), Unknown)


def test_a_read_that_fails_has_failed_and_a_withheld_result_was_executed() -> None:
    slow, withheld, done = Failed(Code.TOOL_TIMEOUT, ""), Failed(Code.OUTPUT_INVALID, ""), Succeeded(b"1")
    assert honest(slow, effect=Effect.READ) is slow
    assert honest(withheld, effect=Effect.DESTRUCTIVE) is withheld
    assert honest(done, effect=Effect.DESTRUCTIVE) is done
