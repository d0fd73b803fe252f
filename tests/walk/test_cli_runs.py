"""`interlock runs` as processes of their own: watched here, approved there, killed, and gone on with."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.walk.scripted_model import ScriptedModel, scripted_model
from tests.walk.test_cli import INTERLOCK, document, interlock

SAVE = [("save_note", '{"title": "hello", "text": "Good morning."}')]


def begin(folder: Path, model: ScriptedModel) -> "subprocess.Popen[str]":
    """A project with this model, and a process that starts a run in it and watches it, until it waits."""
    assert interlock(folder, "init").returncode == 0
    with (folder / "interlock.toml").open("a") as settings:
        settings.write(f'\n[[models]]\nname = "small"\nmodel = "openai-chat:scripted@{model.url}"\n')
    watching = subprocess.Popen(
        [INTERLOCK, "runs", "start", "Save it.", "--task", "t", "--json"], cwd=folder, env={**os.environ}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert watching.stderr is not None
    for line in watching.stderr:
        if line.startswith("It waits."):
            break
    return watching


def approve(folder: Path) -> None:
    (asked,) = document(folder, "approvals", "list")["approvals"]  # type: ignore[misc]
    assert interlock(folder, "approvals", "approve", asked["id"], "--as", "second", "--yes").returncode == 0


@pytest.mark.timeout(120)
@pytest.mark.requirement("DOOR-6", "LOOP-8", "LOOP-9")
def test_who_watches_a_run_sees_it_go_on_once_it_is_approved_elsewhere(tmp_path: Path) -> None:
    with scripted_model(SAVE, "Saved.") as model, begin(tmp_path, model) as watching:
        approve(tmp_path)
        said, told = watching.communicate(timeout=60)
    assert (watching.returncode, json.loads(said)["answer"]) == (0, "Saved.")
    assert "observed    save_note: ok" in told
    assert (tmp_path / "notes" / "hello.txt").read_text() == "Good morning."


@pytest.mark.crash
@pytest.mark.timeout(120)
@pytest.mark.requirement("DOOR-6", "LOOP-7", "LOOP-8")
def test_a_run_whose_process_was_killed_goes_on_in_another(tmp_path: Path) -> None:
    with scripted_model(SAVE, "Saved.") as model:
        with begin(tmp_path, model) as watching:
            watching.send_signal(signal.SIGKILL)
        (run,) = document(tmp_path, "runs", "list")["runs"]  # type: ignore[misc]
        assert run["held"] is False
        approve(tmp_path)
        went_on = interlock(tmp_path, "runs", "resume", run["id"], "--json")
        assert (went_on.returncode, json.loads(went_on.stdout)["answer"]) == (0, "Saved.")
        assert len(model.asked) == 2
    assert interlock(tmp_path, "audit", "verify").returncode == 0
