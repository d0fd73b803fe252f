"""What was seen in passing is the last that was seen, and bounded; a guess says no more than that."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts, Usage
from interlock.core.run import RunFacts
from interlock.ports import Seen
from interlock.store import postgres_glimpses
from interlock.store.books import UNUSED
from interlock.store.postgres_glimpses import Glimpses
from interlock.store.postgres_rows import place_of
from interlock.testing.store_values import RUN, SCOPE, TENANT, Values

FOUR = Usage(Amounts(calls=4))


def test_the_last_look_counts() -> None:
    seen = Glimpses()
    seen.keys({b"a", b"b"}, taken={b"b"})
    assert seen.taken == {b"b"}
    seen.keys({b"a", b"b"}, taken={b"a"})
    assert seen.taken == {b"a"}
    seen.run(("t", "r"), None)
    seen.run(("t", "r"), RunFacts("r", 2))
    assert seen.runs == {("t", "r"): RunFacts("r", 2)}
    seen.used({SCOPE: UNUSED})
    seen.used({SCOPE: FOUR})
    assert seen.usage == {SCOPE: FOUR}


def test_no_more_is_remembered_than_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_glimpses, "GLIMPSES_MAX", 2)
    monkeypatch.setattr(postgres_glimpses, "KEYS_MAX", 2)
    seen = Glimpses()
    for number in range(5):
        seen.take([bytes([number])])
        seen.run(("t", str(number)), None)
        seen.used({SCOPE._replace(id=str(number)): UNUSED})
    assert (len(seen.taken), len(seen.runs), len(seen.usage)) == (1, 1, 1)


def test_a_guess_is_what_was_seen_last_and_says_so() -> None:
    seen, look = Glimpses(), Values().look("k")
    assert seen.guess(look) is None
    seen.run((TENANT, RUN), None)
    assert seen.guess(look) == Seen(None, RunFacts(RUN), (UNUSED,), guessed=True)
    seen.run((TENANT, RUN), RunFacts(RUN, 3))
    seen.used({SCOPE: FOUR})
    assert seen.guess(look) == Seen(None, RunFacts(RUN, 3), (FOUR,), guessed=True)
    assert seen.guess(replace(look, run=None)) == Seen(None, None, (FOUR,), guessed=True)


def test_what_is_known_of_a_key_is_not_guessed() -> None:
    seen, look = Glimpses(), replace(Values().look("k"), run=None)
    seen.take([place_of(TENANT, "k")])
    assert seen.guess(look) is None
    assert seen.guess(replace(look, key="other")) is not None
