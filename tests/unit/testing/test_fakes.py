"""The fakes that users test with hold the contracts of the ports that they stand for."""

import asyncio

from interlock.core.call import Principal
from interlock.ports import Clock, Entropy, FactSource, Principals, Secrets
from interlock.testing.fakes import FakeClock, FakeFacts, FakePrincipals, FakeSecrets, SeededEntropy
from tests.execution import operation_of
from tests.gates import Shelf

ALICE = Principal("acme", "alice")


async def test_the_clock_stands_still_until_it_is_moved_and_sleeping_moves_it() -> None:
    clock: Clock = (fake := FakeClock(1_000))
    assert (clock.now_us(), clock.now_us()) == (1_000, 1_000)
    before_s = clock.monotonic_s()
    fake.advance(2.5)
    wait = clock.sleep
    await wait(60)
    assert clock.now_us() == 1_000 + 62_500_000
    assert clock.monotonic_s() - before_s >= 62.5


def test_randomness_is_the_same_for_a_seed_and_never_twice_in_a_row() -> None:
    one: Entropy = SeededEntropy("a")
    drawn = [one.bytes(16) for _ in range(3)]
    assert len({*drawn}) == 3
    again = SeededEntropy("a")
    assert drawn == [again.bytes(16) for _ in range(3)]
    assert len(one.bytes(100)) == 100
    assert SeededEntropy("b").bytes(16) != drawn[0]


async def test_a_principal_is_who_was_asked_for_until_somebody_says_otherwise() -> None:
    people: Principals = (fake := FakePrincipals())
    assert await people.current(ALICE) == ALICE
    fake.today["alice"] = None
    assert await people.current(ALICE) is None


async def test_only_secrets_that_were_asked_for_are_given_and_it_is_known_for_whom() -> None:
    secrets: Secrets = (fake := FakeSecrets({"token": "t-123456", "other": "o-123456"}))
    assert await secrets.fetch(("token", "missing"), ALICE) == {"token": "t-123456"}
    assert fake.asked == [("token", "alice"), ("missing", "alice")]


async def test_facts_arrive_as_they_are_now_or_late() -> None:
    facts: FactSource = (fake := FakeFacts({"score": 1, "other": 2}))
    operation = operation_of(Shelf().search, {"query": "x"})
    assert await facts.fetch(frozenset({"score"}), operation) == {"score": 1}
    fake.late = asyncio.Event()
    waiting = asyncio.ensure_future(facts.fetch(frozenset({"score"}), operation))
    done, _ = await asyncio.wait([waiting], timeout=0)
    assert not done
    fake.late.set()
    assert await waiting == {"score": 1}
