"""Who looks on is told how far a call is: what is progress, seldom enough, and in words that give nothing away."""

import logging
import math

import pytest

from interlock import tool
from interlock.core.redaction import Redactor
from interlock.ports import Progressed
from interlock.runners.onlooker import PAUSE_S, WORDS_MAX, Telling
from tests.execution import VirtualLoop, invocation_of, passing


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, object]]:
    """A loop that needs no time."""
    return "asyncio", {"loop_factory": VirtualLoop}


@tool(effect="read", owner="eng", name="look")
async def look(query: str) -> str:
    """Look something up."""
    return query


class Seen:
    """Keeps what it is told, or fails."""

    def __init__(self, *, fails: bool = False) -> None:
        self.told: list[Progressed] = []
        self._fails = fails

    def progressed(self, made: Progressed) -> None:
        self.told.append(made)
        if self._fails:
            raise ValueError("no")


async def test_what_is_progress_is_told_and_not_oftener_than_may_be() -> None:
    seen = Seen()
    told = Telling(seen, Redactor()).of(invocation_of(look, {"query": "x"}))
    assert told is not None
    for done in (1, 2):
        await told(done, 10, None)
    for done in (1, 1, math.nan, math.inf, 3):
        await passing(PAUSE_S)
        await told(done, math.inf, "on")
    assert [(each.done, each.total, each.words) for each in seen.told] == [(1, 10, ""), (3, None, "on")]
    assert {(each.tenant, each.tool, each.call_id, each.operation_id) for each in seen.told} == {
        ("acme", "look", "c1", "op-1")
    }


async def test_its_words_are_cleaned_redacted_and_cut() -> None:
    seen = Seen()
    told = Telling(seen, Redactor()).of(invocation_of(look, {"query": "x"}, secrets={"token": "s3cret-value"}))
    assert told is not None
    await told(1, None, "a\u200bb s3cret-value " + "x" * 10_000)
    (made,) = seen.told
    assert made.words.startswith("ab ")
    assert "s3cret" not in made.words
    assert len(made.words) <= WORDS_MAX


async def test_where_nobody_looks_on_nothing_is_asked_for() -> None:
    assert Telling(None, Redactor()).of(invocation_of(look, {"query": "x"})) is None


async def test_a_fault_of_who_looks_on_ends_its_words_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen(fails=True)
    told = Telling(seen, Redactor()).of(invocation_of(look, {"query": "x"}))
    assert told is not None
    with caplog.at_level(logging.WARNING):
        for done in range(3):
            await passing(PAUSE_S)
            await told(done, None, None)
    assert len(seen.told) == 1
    assert "could not be told" in caplog.text


@pytest.mark.requirement("EXEC-8")
async def test_no_secret_in_a_fault_of_who_looks_on_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    known, unknown = "s3cret-value", f"sk-ant-api03-{'a' * 40}"

    class Talks:
        def progressed(self, made: Progressed) -> None:
            raise ValueError(f"no connection with token {known} and {unknown}")

    told = Telling(Talks(), Redactor()).of(invocation_of(look, {"query": "x"}, secrets={"token": known}))
    assert told is not None
    await told(1, None, None)
    assert "ValueError: no connection with token [redacted] and [redacted]" in caplog.text
    assert known not in caplog.text
    assert unknown not in caplog.text
