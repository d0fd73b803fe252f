"""What was seen in passing is the last that was seen, and bounded."""

import pytest

from interlock.core.run import RunFacts
from interlock.store import postgres_glimpses
from interlock.store.postgres_glimpses import Glimpses


def test_the_last_look_counts() -> None:
    seen = Glimpses()
    seen.keys({b"a", b"b"}, taken={b"b"})
    assert seen.free == {b"a"}
    seen.keys({b"a"}, taken={b"a"})
    assert seen.free == set()
    seen.run(("t", "r"), None)
    seen.run(("t", "r"), RunFacts("r", 2))
    assert seen.runs == {("t", "r"): RunFacts("r", 2)}


def test_no_more_is_remembered_than_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_glimpses, "GLIMPSES_MAX", 2)
    seen = Glimpses()
    for number in range(5):
        seen.keys({bytes([number])}, taken=())
        seen.run(("t", str(number)), None)
    assert (len(seen.free), len(seen.runs)) == (1, 1)
