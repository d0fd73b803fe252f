"""What proves pieces for another process: one line asked, one line answered, until nobody asks."""

from io import BytesIO
from pathlib import Path

import pytest

from interlock import Host, Keys
from interlock.core.chain import Head, genesis
from interlock.core.checkpoint import Span
from interlock.prover import serve
from interlock.proving import Where, read_stretches, spans_to_line
from tests.gates import ALICE, Shelf, opened, search

KEYS = Keys.random()


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_each_job_is_answered_by_what_its_spans_were_shown_to_be(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = request.getfixturevalue("postgres_url") if kind == "postgres" else str(tmp_path / "gate.db")
    async with opened(address, Shelf().tools, host=Host(keys=KEYS)) as gate:
        for number in range(5):
            await gate.call(search(str(number)), principal=ALICE)
        (head,) = await gate._world.audit.heads()
        beginning, wrong = genesis("main").hash, Head("main", 2, "0" * 64)
        jobs = ((Span("main", 0, 3), Span("main", 3, head.sequence)), (Span("main", 0, head.sequence + 1),))
        for held, expected in (((), [True, True, False]), ((wrong,), [False, True, False])):
            told = Where(address, KEYS.master).to_line(held), *map(spans_to_line, jobs)
            answers = BytesIO()
            await serve(BytesIO(b"".join(told)), answers)
            found = zip(answers.getvalue().splitlines(), jobs, strict=True)
            (first, second), (beyond,) = (read_stretches(line, job) for line, job in found)
            assert [each is not None for each in (first, second, beyond)] == expected
            assert first is None or first.start.hash == beginning
            assert first is None or first.end == second.start
            assert second is not None
            assert second.end.hash == head.hash
