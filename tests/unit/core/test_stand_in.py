"""What may do instead of a tool that does not work: what its spec names, and never what may do more."""

import pytest

from interlock.core.effect import Effect
from interlock.core.stand_in import may_stand_in, offered
from interlock.core.tool import ToolSpec
from tests.unit.core.call_cases import spec

READS = spec("fast", Effect.READ, fallback="slow")
SLOW = spec("slow", Effect.READ, standby=True)


@pytest.mark.requirement("EXEC-3")
@pytest.mark.parametrize(
    ("other", "of", "may"),
    [
        (SLOW, READS, True),
        (spec("other", Effect.READ), READS, False),
        (spec("slow", Effect.WRITE), READS, False),
        (spec("slow", Effect.READ, external=True), READS, False),
        (spec("slow", Effect.READ, external=True), spec("fast", Effect.READ, fallback="slow", external=True), True),
        (spec("slow", Effect.IDEMPOTENT_WRITE), spec("fast", Effect.WRITE, fallback="slow"), True),
        (spec("slow", Effect.DESTRUCTIVE), spec("fast", Effect.WRITE, fallback="slow"), False),
    ],
)
def test_only_what_is_named_and_does_no_more_stands_in(other: ToolSpec, of: ToolSpec, may: bool) -> None:
    assert may_stand_in(other, of) is may


@pytest.mark.requirement("EXEC-3")
def test_a_standby_is_offered_only_while_what_it_stands_in_for_does_not_work() -> None:
    plain = spec("plain", Effect.READ)
    assert offered([READS, SLOW, plain], working=[READS, SLOW, plain]) == (READS, plain)
    assert offered([READS, SLOW, plain], working=[SLOW, plain]) == (SLOW, plain)
    assert offered([SLOW, plain], working=[SLOW, plain]) == (plain,)
