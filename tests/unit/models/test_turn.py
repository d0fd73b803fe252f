"""Only a turn that ended in a way that allows calls hands any out."""

import pytest

from interlock.models.turn import Ended, Proposed, Turn


@pytest.mark.requirement("LOOP-3")
@pytest.mark.parametrize("ended", list(Ended))
def test_calls_may_run_only_from_a_turn_that_allows_them(ended: Ended) -> None:
    calls = (Proposed(position=0, wire_id="c1", reply_id="c1", name="search", arguments_raw="{}"),)
    turn = Turn(text="", calls=calls, ended=ended)
    assert turn.runnable == (calls if ended is Ended.CALLS_ALLOWED else ())
    assert turn.calls == calls
