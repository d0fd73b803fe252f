"""`interlock runs`: runs are started, listed and decided anew from the command line."""

from pathlib import Path

import pytest

from tests.unit.doors.cli.conftest import Cli
from tests.unit.doors.cli.running import READ, Give, the_run

pytestmark = pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")


def test_a_replay_by_other_policies_tells_what_would_be_different_and_runs_nothing(
    cli: Cli, models: Give, project: Path
) -> None:
    models(READ, "None.")
    cli("runs", "start", "Read it.")
    run = the_run(cli)
    same = cli("runs", "replay", run, "--json")
    assert (same.code, same.document["differ"], len(same.document["calls"])) == (0, 0, 1)
    (project / "other").mkdir()
    (project / "other" / "starter.cedar").write_text("forbid (principal, action, resource);")
    other = cli("runs", "replay", run, "--policies", str(project / "other"), "--json")
    assert (other.code, other.document["differ"]) == (1, 1)
    assert (other.document["calls"][0]["then"], other.document["calls"][0]["now"]) == ("allow", "PERMISSION_DENIED")
    told = cli("runs", "replay", run, "--policies", str(project / "other"), "--against", "today")
    assert "1 of 1 call would be decided otherwise." in told.out
    assert cli("runs", "replay", run, "--against", "nope").code == 2


def test_the_same_start_again_is_the_same_run_and_another_under_its_id_is_refused(cli: Cli, models: Give) -> None:
    model = models("Done.")
    for _ in range(2):
        assert cli("runs", "start", "Read it.", "--run", "r1").code == 0
    assert len(model.asked) == 1
    other = cli("runs", "start", "Something else.", "--run", "r1", "--json")
    assert (other.code, other.document["error"]["code"]) == (1, "RUN_EXISTS")


def test_a_task_that_is_not_done_by_its_check_and_a_run_over_its_limit_end_with_5(
    cli: Cli, models: Give, project: Path
) -> None:
    models("Done.", READ, "No more.")
    unchecked = cli("runs", "start", "Save it.", "--check", "read_note", "--check-arguments", '{"title": "hello"}')
    assert unchecked.code == 5
    assert "Done:          no" in unchecked.out
    over = cli("runs", "start", "Read it.", "--limit", "working_s=0", "--json")
    assert (over.code, over.document["state"], over.document["reason"]) == (5, "aborted", "working_s")


def test_agents_of_the_project_hand_the_task_on(cli: Cli, models: Give, project: Path) -> None:
    model = models([("hand_off", '{"agent": "reader", "message": "Read hello."}')], READ, "Read.")
    settings = project / "interlock.toml"
    text = settings.read_text().replace("[interlock]\n", '[interlock]\nhand_off_owner = "notes"\n')
    settings.write_text(
        text
        + '\n[[agents]]\nname = "planner"\ninstructions = "Plan."\ntools = []\nhand_offs = ["reader"]\n'
        + '\n[[agents]]\nname = "reader"\ndescription = "reads notes"\ntools = ["read_note"]\n'
    )
    other = cli("runs", "start", "Read it.", "--agent", "nope", "--json").document["error"]
    assert (other["code"], other["message"]) == ("AGENT_UNKNOWN", "There is no agent 'nope'; there is planner, reader.")
    ran = cli("runs", "start", "Read it.", "--json")
    assert (ran.code, ran.document["agent"], ran.document["spent"]["hand_offs"]) == (0, "reader", 1)
    offered = [[each["function"]["name"] for each in asked["tools"]] for asked in model.asked]
    assert offered == [["hand_off"], ["read_note"], ["read_note"]]
    assert "handed_off  to reader: Read hello." in ran.err
