"""On PostgreSQL every process finds what another has kept about tools: examples, how they stand, probes, choices."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from interlock import Gate, PolicySource
from interlock.core.errors import DocumentChanged
from interlock.core.example import ExampleKind
from interlock.core.readiness import Readiness, Tally
from interlock.core.selection import Choice, SelectionCase
from tests.gates import OPERATOR, opened, records
from tests.unit.runtime.test_probes import PROBED, Counter, probe

pytestmark = pytest.mark.requirement("REG-8", "REG-13", "REG-14")

CASE = SelectionCase(words="look at a note", tool="peek")


@pytest.fixture(autouse=True)
def _keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of an installation share a folder with its key."""
    monkeypatch.chdir(tmp_path)


async def test_examples_and_words_are_kept_for_every_process_and_replaced_as_a_whole(postgres_url: str) -> None:
    tools = Counter().tools
    async with opened(postgres_url, tools, None) as one, opened(postgres_url, tools, None) as two:
        kept = await one.examples.publish([probe(), probe(name="q")], [CASE], by=OPERATOR)
        assert (await two.examples.examples(by=OPERATOR), await two.examples.cases(by=OPERATOR)) == (kept, (CASE,))
        await two.examples.publish([probe(name="q")], by=OPERATOR)
        assert (
            [each.name for each in await one.examples.examples(by=OPERATOR)],
            await one.examples.cases(by=OPERATOR),
        ) == (["q"], ())
        await one.examples.publish([probe()], by=OPERATOR)
        assert [each.name for each in await two.examples.examples(by=OPERATOR)] == ["p"]
        assert len(await records(two, "examples.saved")) == 3


async def test_how_a_version_stands_is_kept_and_of_two_who_write_at_once_none_is_lost(postgres_url: str) -> None:
    tools = Counter().tools
    async with opened(postgres_url, tools, None) as one, opened(postgres_url, tools, None) as two:
        digest = one.catalogue.get("peek", tenant="acme").digest
        assert await one.examples.readiness(digest, by=OPERATOR) is None
        ran = Readiness(tool="peek", version="1", digest=digest, passed={ExampleKind.TYPICAL: 1}, at_us=1)
        words = replace(ran, passed={}, at_us=0, selection=Tally(2, 0))
        ended = await asyncio.gather(
            one.examples.keep([ran], by=OPERATOR),
            two.examples.keep_words([words], by=OPERATOR),
            return_exceptions=True,
        )
        assert None in ended
        assert {type(each) for each in ended} <= {type(None), DocumentChanged}
        for gate in (one, two):
            stands = await gate.examples.readiness(digest, by=OPERATOR)
            assert stands is not None
            assert (bool(stands.passed), stands.selection == Tally(2, 0)) == tuple(each is None for each in ended)


async def test_of_probes_that_two_processes_make_at_once_every_result_is_kept(postgres_url: str) -> None:
    tools, policy = Counter().tools, [PolicySource("test", PROBED)]
    async with opened(postgres_url, tools, policy) as one, opened(postgres_url, tools, None) as two:
        await one.examples.publish([probe()], by=OPERATOR)
        made: list[Gate] = [one, two, one, two]
        await asyncio.gather(*(gate.probes.run(by=OPERATOR) for gate in made))
        for gate in (one, two):
            history = await gate.probes.history("peek", "p", by=OPERATOR)
            assert history is not None
            assert [each.findings for each in history.records] == [()] * len(made)
        stands = await two.examples.readiness(two.catalogue.get("peek", tenant="acme").digest, by=OPERATOR)
        assert stands is not None
        assert stands.probes == Tally(1, 0)


async def test_choices_are_kept_by_chooser_for_every_process(postgres_url: str) -> None:
    tools = Counter().tools
    first = Choice(CASE.id, "ranker", "desk", "add", False, {"peek": "a", "add": "b"})
    second = Choice(CASE.id, "ranker", "desk", "peek", True, {"peek": "a2", "add": "b"})
    other = Choice(CASE.id, "ranker", "clerk", "peek", True, {"peek": "a"})
    async with opened(postgres_url, tools, None) as one, opened(postgres_url, tools, None) as two:
        await one.examples.keep_choices("ranker", [first, other], by=OPERATOR)
        assert await two.examples.choices("ranker", by=OPERATOR) == (first, other)
        await two.examples.keep_choices("ranker", [second], by=OPERATOR)
        assert await one.examples.choices("ranker", by=OPERATOR) == (other, second)
        assert await one.examples.choices("model", by=OPERATOR) == ()
