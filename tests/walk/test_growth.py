"""What a call costs does not grow with what else there is: by lines that run and steps of SQLite's machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from interlock import Gate
from tests.gates import ALICE, ALL, Shelf, code, opened, save, search
from tests.steps import steps_of

FEW, MANY = 5, 250


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The steps that SQLite's machine has made so far, on all connections of this process."""
    made: list[int] = []

    def note(event: dict[str, Any]) -> None:
        made.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    def hook(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)

    monkeypatch.setattr(apsw, "connection_hooks", [hook])
    return lambda: sum(made)


async def write(gate: Gate, number: int) -> None:
    run = f"run-{number}"
    assert code(await gate.call(save(f"n{number}", id=f"c{number}"), principal=ALICE, task=run, run=run)) == "ok"


async def read(gate: Gate, number: int) -> None:
    assert code(await gate.call(search(id=f"c{number}"), principal=ALICE, run=f"run-{number}")) == "ok"


def about_another(name: str, count: int) -> str:
    rule = '@id("{0}") forbid (principal, action == Action::"{1}", resource) when {{ context.args.{2} == "{0}" }};'
    return ALL + "".join(
        rule.format(f"p{number}", name, "query" if name == "search" else "text") for number in range(count)
    )


@pytest.mark.requirement("SCALE-3")
@pytest.mark.parametrize(("once", "other"), [(write, "search"), (read, "save")])
async def test_a_call_costs_the_same_after_many_runs_and_records_and_under_many_policies_on_others(
    once: Callable[[Gate, int], Any], other: str, machine: Callable[[], int], tmp_path: Path
) -> None:
    async def cost(count: int) -> tuple[int, int]:
        async with opened(str(tmp_path / f"{count}.db"), Shelf().tools, about_another(other, count)) as gate:
            for number in range(count):
                await write(gate, number)
            for number in (-1, -2):
                await once(gate, number)  # what is worked out once
            before = machine()
            return await steps_of(lambda: once(gate, -3)), machine() - before

    lines, inner = await cost(FEW)
    assert inner > 0
    many_lines, many_inner = await cost(MANY)
    assert many_lines <= 1.05 * lines
    assert many_inner <= 1.05 * inner
