"""The installed command `interlock`, run as a process of its own, the way people and scripts do."""

import json
import os
import pty
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

INTERLOCK = Path(sys.executable).with_name("interlock")
SAVE = ("call", "save_note", '{"title": "hello", "text": "Good morning."}', "--task", "greeting")
HELP_SECONDS_MAX = 0.4

EVIL = '''
import os, signal
from interlock import tool

@tool(effect="read", owner="notes")
def read_evil() -> str:
    """Read what somebody else wrote, who means no good."""
    print("\\x1b[2Jprinted")
    return "\\x1b]0;owned\\x07\\x1b[2J"

@tool(effect="read", owner="notes")
def raise_evil() -> str:
    """Fail with words that somebody else wrote."""
    raise ValueError("\\x1b[2J password=hunter2secret")

@tool(effect="read", owner="notes")
async def stop_here() -> str:
    """Be interrupted, as by a person at the keyboard."""
    import asyncio
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()
    return ""
'''


def interlock(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the command; nobody sits at it."""
    return forked.run([INTERLOCK, *arguments], folder=folder, environment={**os.environ, **settings})


def started(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The same, from where Python starts."""
    return subprocess.run(
        [INTERLOCK, *arguments], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        env={**os.environ, **settings}, timeout=30,
    )  # fmt: skip


def cpu_seconds() -> float:
    """What ended processes have used: unlike the time on the wall, it does not grow with what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def document(folder: Path, *arguments: str) -> dict[str, object]:
    found = json.loads(interlock(folder, *arguments, "--json").stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project as `interlock init` writes it, with tools of somebody who means no good beside its own."""
    assert interlock(tmp_path, "init").returncode == 0
    (tmp_path / "evil.py").write_text(EVIL)
    settings = tmp_path / "interlock.toml"
    settings.write_text(settings.read_text().replace('["tools.py"]', '["tools.py", "evil.py"]'))
    return tmp_path


@pytest.mark.requirement("DOOR-6", "APR-3")
@pytest.mark.timeout(180)  # eleven programs, one after another
def test_a_call_waits_somebody_else_approves_it_runs_once_and_all_of_it_is_proved(project: Path) -> None:
    assert interlock(project, *SAVE).returncode == 4
    approvals = document(project, "approvals", "list")["approvals"]
    assert isinstance(approvals, list)
    approval = approvals[0]["id"]
    assert interlock(project, "approvals", "approve", approval, "--run", "--yes").returncode == 3
    assert interlock(project, "approvals", "approve", approval, "--run", "--as", "second").returncode == 1
    assert not (project / "notes").exists()
    assert interlock(project, "approvals", "approve", approval, "--run", "--as", "second", "--yes").returncode == 0
    assert (project / "notes" / "hello.txt").read_text() == "Good morning."
    again = document(project, *SAVE)
    assert (again["status"], again["replayed"]) == ("ok", True)
    key = document(project, "audit", "fingerprint")["fingerprint"]
    assert document(project, "audit", "verify", "--fingerprint", str(key))["holds"] is True
    assert interlock(project, "audit", "export", "-o", "log.jsonl").returncode == 0
    assert (
        interlock(project.parent, "audit", "verify", str(project / "log.jsonl"), "--fingerprint", str(key)).returncode
        == 0
    )
    assert interlock(project, "doctor").returncode == 0


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize("tool", ["read_evil", "raise_evil"])
def test_a_tool_writes_nothing_to_the_terminal_and_nothing_into_the_document(project: Path, tool: str) -> None:
    for options in ((), ("--json",)):
        ran = interlock(project, "call", tool, *options)
        shown = ran.stdout + (ran.stderr if tool == "raise_evil" else "")
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert "Traceback" not in ran.stderr
    assert json.loads(ran.stdout)["tool"] == tool


@pytest.mark.requirement("DOOR-6")
def test_a_traceback_is_shown_to_who_asks_without_secrets_and_escapes(project: Path) -> None:
    ran = interlock(project, "call", "raise_evil", INTERLOCK_DEBUG="1")
    assert "ValueError" in ran.stderr
    assert "hunter2secret" not in ran.stderr
    assert "\x1b" not in ran.stderr


@pytest.mark.requirement("DOOR-6")
def test_an_interrupted_call_ends_with_130_and_one_document(project: Path) -> None:
    ran = interlock(project, "call", "stop_here", "--json")
    assert ran.returncode == 130
    assert json.loads(ran.stdout)["error"]["code"] == "INTERRUPTED"
    assert interlock(project, "audit", "verify").returncode == 0


@pytest.mark.requirement("DOOR-6")
def test_commands_given_at_the_same_time_do_a_thing_once(project: Path) -> None:
    (project / "policies" / "starter.cedar").write_text("permit (principal, action, resource);")
    running = [
        subprocess.Popen([INTERLOCK, *SAVE, "--json"], cwd=project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ended = [each.communicate(timeout=30) for each in running]
    answers = [json.loads(out) for out, _ in ended]
    # One does it; another finds it done, or under way in a process for which it cannot wait.
    done = [each for each in answers if each["status"] == "ok" and not each["replayed"]]
    others = [each["error"]["code"] for each in answers if each["status"] != "ok"]
    assert len(done) == 1, ended
    assert set(others) <= {"IDEMPOTENCY_IN_PROGRESS"}, ended
    assert document(project, *SAVE)["replayed"] is True
    assert document(project, "audit", "verify")["holds"] is True


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1)])
def test_a_person_at_a_terminal_is_asked_before_approving(project: Path, typed: str, code: int) -> None:
    approval = document(project, *SAVE)["approval_id"]
    keyboard, terminal = pty.openpty()
    os.write(keyboard, typed.encode())
    try:
        ran = subprocess.run(
            [INTERLOCK, "approvals", "approve", str(approval), "--as", "second"], cwd=project, stdin=terminal,
            capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
    finally:
        os.close(keyboard)
        os.close(terminal)
    assert ran.returncode == code
    assert "Good morning." in ran.stderr
    assert "[y/N]" in ran.stderr


def test_a_reader_who_has_had_enough_is_no_traceback(project: Path) -> None:
    interlock(project, "tools", "list")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        command = [INTERLOCK, "audit", "query", "--json"]
        ran = subprocess.run(command, cwd=project, stdout=pipe, stderr=subprocess.PIPE, check=False, timeout=30)
    assert (ran.returncode, ran.stderr) == (1, b"")


def test_output_is_readable_in_a_terminal_that_knows_only_ascii(project: Path) -> None:
    ran = started(
        project, "tools", "list", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert ran.returncode == 0
    assert "read_note" in ran.stdout


@pytest.mark.requirement("DOOR-6")
def test_help_is_there_at_once(tmp_path: Path) -> None:
    took = []
    for _ in range(3):
        began = cpu_seconds()
        assert started(tmp_path, "--help").returncode == 0
        took.append(cpu_seconds() - began)
    assert min(took) < HELP_SECONDS_MAX


def test_help_loads_neither_the_gate_nor_its_dependencies(tmp_path: Path) -> None:
    heavy = "{'cedarpy', 'jsonschema_rs', 'apsw', 'cryptography', 'interlock.assemble', 'rich'} & set(sys.modules)"
    code = f"import sys; from interlock.doors.cli.main import run; run(['--help']); sys.exit(str({heavy} or ''))"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=30
    )
    assert ran.stderr.strip() == ""
