"""A run is watched at the command line until it waits or is over, and a later command goes on with it."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.running import SAVE, Give

pytestmark = pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")


def test_what_waits_is_approved_elsewhere_and_a_later_command_goes_on_with_it(
    cli: Cli, models: Give, project: Path
) -> None:
    models(SAVE, "Saved.")
    ran = cli("runs", "start", "Save a note.", "--task", "t", "--leave", "--json")
    assert (ran.code, ran.document["state"]) == (4, "waiting_approval")
    (approval,) = ran.document["waiting"]
    assert f"`interlock approvals approve {approval} --as ID`" in ran.document["next"]
    run = ran.document["id"]
    assert cli("runs", "resume", run).code == 4
    assert cli("approvals", "approve", approval, "--as", "second", "--yes").code == 0
    assert not (project / "notes").exists()
    went_on = cli("runs", "resume", run, "--json")
    assert (went_on.code, went_on.document["state"], went_on.document["answer"]) == (0, "complete", "Saved.")
    assert (project / "notes" / "hello.txt").exists()
    for words in (("resume", run), ("hand-back", run), ("pause", run), ("say", run, "x")):
        ended = cli("runs", *words, "--json")
        assert (ended.code, ended.document["error"]["code"]) == (3, "RUN_ENDED")
        assert ended.document["error"]["next"] == f"`interlock runs show {run}` shows how it ended."


def test_a_run_that_is_left_at_once_is_due_for_who_drives_it(cli: Cli, models: Give) -> None:
    models("Done.")
    ran = cli("runs", "start", "Read it.", "--detach", "--json")
    assert (ran.code, ran.document["state"]) == (0, "model_request")
    assert "Ctrl-C" not in ran.err
    assert f"A program with an open gate drives it, or `interlock runs resume {ran.document['id']}`." in ran.err
    (found,) = cli("runs", "list", "--json").document["runs"]
    assert found["held"] is False
    assert cli("runs", "list", "--state", "nope").code == 2
    assert cli("runs", "resume", found["id"], "--json").document["state"] == "complete"
