"""`interlock runs pause`, `cancel`, `hand-over` and the like: people step in, on record, and nobody else does."""

import json
from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.running import SAVE, Give, the_run

pytestmark = pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")


@pytest.mark.parametrize(
    ("stop", "state", "back"), [("pause", "paused", "resume"), ("hand-over", "waiting_human", "hand-back")]
)
def test_a_run_rests_at_a_word_and_goes_on_at_another(cli: Cli, models: Give, stop: str, state: str, back: str) -> None:
    model = models(SAVE, "Somebody else did it.")
    cli("runs", "start", "Save a note.", "--leave", "--task", "t")
    run = the_run(cli)
    rested = cli("runs", stop, run, "--text", "lunch", "--json")
    assert (rested.code, rested.document["state"]) == (0, state)
    assert f"interlock runs {back} {run}" in rested.document["next"]
    wrong = cli("runs", "hand-back" if back == "resume" else "resume", run, "--json")
    assert (wrong.code, wrong.document["error"]["code"]) == (
        1, "NOT_HANDED_OVER" if back == "resume" else "HANDED_OVER",
    )  # fmt: skip
    (approval,) = rested.document["waiting"]
    assert cli("approvals", "decline", approval, "--as", "second").code == 0
    words = ("--text", "I did it.") if back == "hand-back" else ()
    assert cli("runs", "say", run, "And be brief.").code == 0
    went_on = cli("runs", back, run, *words, "--json")
    assert (went_on.code, went_on.document["answer"]) == (0, "Somebody else did it.")
    asked = json.dumps(model.asked[-1]["messages"])
    assert "And be brief." in asked
    assert ("I did it." in asked) == (back == "hand-back")


def test_each_act_is_on_record_with_who_did_it(cli: Cli, models: Give) -> None:
    models(SAVE)
    cli("runs", "start", "Save a note.", "--leave", "--task", "t")
    run = the_run(cli)
    for words in (("say", run, "x"), ("pause", run), ("cancel", run), ("replay", run)):
        assert cli("runs", *words).code == 0
    told = cli("audit", "query", "--subject", run, "--json").document["records"]
    kinds = [each["kind"] for each in told]
    assert [each for each in kinds if each.startswith("run.")] == [
        "run.started", "run.told", "run.told", "run.told", "run.ended", "run.replayed",
    ]  # fmt: skip
    assert cli("audit", "verify").code == 0


def test_a_run_is_seen_and_moved_by_nobody_else(cli: Cli, models: Give) -> None:
    models(SAVE)
    cli("runs", "start", "Save a note.", "--leave", "--task", "t")
    run = the_run(cli)
    for words in (("show", run), ("events", run), ("cancel", run), ("say", run, "x"), ("resume", run), ("replay", run)):
        ran = cli("runs", *words, "--as", "second", "--json")
        assert (ran.code, ran.document["error"]["code"]) == (1, "RUN_UNKNOWN")
        assert "interlock runs list" in ran.document["error"]["next"]
    assert cli("runs", "list", "--as", "second").out == "There is no run.\n"


def test_a_model_that_the_project_does_not_have_is_named_with_what_to_do(cli: Cli, models: Give, project: Path) -> None:
    none = cli("runs", "start", "Read it.", "--json")
    assert (none.code, none.document["error"]["code"]) == (1, "MODEL_UNKNOWN")
    models(SAVE)
    other = cli("runs", "start", "Read it.", "--model", "large", "--json")
    assert other.document["error"]["code"] == "MODEL_UNKNOWN"
    assert other.document["error"]["message"] == "There is no model 'large'; there is small."
    assert "--model" in other.document["error"]["next"]
    cli("runs", "start", "Save a note.", "--leave", "--task", "t")
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace('name = "small"', 'name = "other"'))
    gone = cli("runs", "resume", the_run(cli), "--json")
    assert (gone.code, gone.document["error"]["code"]) == (1, "MODEL_UNKNOWN")
    assert "small" in gone.document["error"]["message"]
