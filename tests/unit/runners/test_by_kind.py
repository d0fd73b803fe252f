"""A tool is bound to the runner of its handler's kind, which is made when the first tool needs it."""

import pytest

from interlock.core.errors import SpecInvalid
from interlock.core.redaction import Redactor
from interlock.declare import tool
from interlock.runners.by_kind import CodeRunner, RunnersByKind
from interlock.runners.python import PythonRunner


@tool(effect="read")
async def look_up(word: str) -> str:
    """Look a word up."""
    return word


async def test_a_runner_is_made_once_and_only_when_it_is_needed() -> None:
    made: list[str] = []

    def make() -> CodeRunner:
        made.append("python")
        return PythonRunner(redactor=Redactor())

    runners = RunnersByKind({"python": make, "other": make})
    assert (made, list(runners), len(runners)) == ([], ["python", "other"], 2)
    runners.bind(look_up.spec(), code=look_up.code)
    assert runners["python"] is runners["python"]
    assert made == ["python"]
    await runners.close()


def test_a_kind_that_nothing_runs_is_refused_by_name() -> None:
    with pytest.raises(SpecInvalid, match="'python'"):
        RunnersByKind({}).bind(look_up.spec(), code=look_up.code)


def test_code_of_another_kind_is_refused() -> None:
    with pytest.raises(SpecInvalid, match="functions"):
        PythonRunner(redactor=Redactor()).bind(look_up.spec(), code=object())
