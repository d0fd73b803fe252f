"""What proves pieces for another process: one line asked, one line answered, until nobody asks."""

import json
from io import BytesIO
from pathlib import Path

import pytest

from interlock import Host, Keys
from interlock.core.chain import Head, genesis
from interlock.prover import serve
from tests.gates import ALICE, Shelf, opened, search

KEYS = Keys.random()


def lines(*said: object) -> BytesIO:
    return BytesIO(b"".join(json.dumps(each).encode() + b"\n" for each in said))


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
        for held, expected in (([], [True, True, False]), ([["main", 2, wrong.hash]], [False, True, False])):
            asked = lines(
                [address, KEYS.master.hex(), None, False, held],
                [["main", 0, 3], ["main", 3, head.sequence]],
                [["main", 0, head.sequence + 1]],
            )
            answers = BytesIO()
            await serve(asked, answers)
            (first, second), (beyond,) = map(json.loads, answers.getvalue().splitlines())
            assert [each is not None for each in (first, second, beyond)] == expected
            assert first is None or first[0] == beginning
            assert first is None or first[2] == second[0]
            assert second[2] == head.hash
