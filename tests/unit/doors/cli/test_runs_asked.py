"""What a run is asked to start with is refused, where it is not to be had, with what to write or do."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.running import Give

pytestmark = pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")


@pytest.mark.parametrize(
    ("limit", "step"),
    [
        ("rounds", "Write it as --limit rounds=10."),
        ("rounds=abc", "Write it as --limit rounds=10."),
        ("calls.read_note=1.5", "Write it as --limit calls.read_note=10."),
        ("rounds=-1", "Write it as --limit rounds=10."),
        ("working_s=x", "Write it as --limit working_s=0.5."),
        ("cals=2", "Write NAME=AMOUNT with one of rounds, calls, tokens"),
    ],
)
def test_a_limit_that_is_none_is_refused_with_what_to_write(cli: Cli, models: Give, limit: str, step: str) -> None:
    models()
    ran = cli("runs", "start", "Read it.", "--limit", limit, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (2, "USAGE")
    assert ran.document["error"]["next"].startswith(step)


@pytest.mark.parametrize(
    ("words", "code", "step"),
    [
        (("--tool", "nope"), "TOOL_NOT_FOUND", "interlock tools list"),
        (("--agent", "nope"), "AGENT_UNKNOWN", "leave --agent out"),
        (("--model", "nope"), "MODEL_UNKNOWN", "Give --model one of these"),
    ],
)
def test_what_the_project_does_not_have_is_refused_with_what_to_do(
    cli: Cli, models: Give, words: tuple[str, str], code: str, step: str
) -> None:
    models()
    ran = cli("runs", "start", "Read it.", *words, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, code)
    assert step in ran.document["error"]["next"]
    assert cli("runs", "list", "--all").out == "There is no run.\n"


@pytest.mark.parametrize(
    ("named", "step"), [("nobody:x", "Change `model` of small"), ("openai:x", "set its key in the environment")]
)
def test_a_model_that_cannot_be_asked_as_it_is_named_is_refused_with_what_to_change(
    cli: Cli, project: Path, named: str, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with (project / "interlock.toml").open("a") as settings:
        settings.write(f'\n[[models]]\nname = "small"\nmodel = "{named}"\n')
    ran = cli("runs", "start", "Read it.", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "MODEL_UNKNOWN")
    assert step in ran.document["error"]["next"]


def test_a_run_whose_model_never_answers_ends_with_where_to_look(cli: Cli, project: Path) -> None:
    with (project / "interlock.toml").open("a") as settings:
        settings.write('\n[[models]]\nname = "small"\nmodel = "openai-chat:x@http://127.0.0.1:9/v1"\n')
    ran = cli("runs", "start", "Read it.", "--limit", "faults=0", "--json")
    assert (ran.code, ran.document["reason"]) == (5, "model")
    assert "address and key ([[models]] in interlock.toml)" in ran.document["next"]
