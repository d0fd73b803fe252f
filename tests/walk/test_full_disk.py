"""On a disk that is full nothing runs, it is said what to do, the log stays whole; with room all goes on."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BYTES = "1600000"


@pytest.fixture
def small(tmp_path: Path) -> tuple[str, ...]:
    """A command in front of a program that gives it a small disk at `tmp_path`."""
    found = shutil.which("bwrap")
    if found is None:
        pytest.skip("there is no bwrap here, which makes a small disk")
    command = (found, "--dev-bind", "/", "/", "--size", BYTES, "--tmpfs", str(tmp_path))
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("bwrap makes no small disk here")
    return command


@pytest.mark.requirement("AUD-3")
def test_on_a_full_disk_the_gate_fails_closed_with_what_to_do_and_goes_on_once_there_is_room(
    small: tuple[str, ...], tmp_path: Path
) -> None:
    program = (sys.executable, "-m", "tests.walk.full_disk", str(tmp_path))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run([*small, *program], capture_output=True, text=True, check=True, timeout=120, env=env)
    rounds = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(rounds) == 5
    says = f"the disk of {tmp_path / 'gate.db'} is full, so nothing can be put on record and nothing more is run: "
    for each in rounds:
        assert len(each["told"]) == 4  # the call, a read and an effect after it, and what signs the log at the end
        assert all(text.startswith(f"{says}make room there, then open the gate anew") for text in each["told"])
        old, other = each["still"]
        assert (each["searched"], old.startswith(says)) == (0, True)
        assert other.startswith(says.replace("gate.db", "other.db"))
        assert (each["holds"], each["new"], each["twice"]) == (True, ["ok", "ok"], [])
        assert each["again"] in ("ok", "OUTCOME_UNKNOWN")
    assert {each["again"] for each in rounds} == {"ok", "OUTCOME_UNKNOWN"}  # full at the claim, and at the settlement
