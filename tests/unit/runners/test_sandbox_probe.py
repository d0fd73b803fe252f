"""Whether programs can be run here is tried, and where not, it is said what to do."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.runners import sandbox_probe
from interlock.runners.sandbox_command import Machine
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_probe import NoSandbox, find_machine, probe

LIAR = """#!/bin/sh
printf s >&0
cat <<END
{status}
network: lo
looked
END
"""
STATUS = """Uid:\t65534\t65534\t65534\t65534
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2"""


def lying(folder: Path, status: str) -> Machine:
    """A machine whose bubblewrap only says what it is told to say."""
    file = folder / "bwrap"
    file.write_text(LIAR.format(status=status))
    file.chmod(0o700)
    return Machine((str(file),), "/usr/bin/prlimit", filter=b"12345678")


async def refusal(machine: Machine) -> str:
    keeper = Keeper()
    found = await probe(machine, keeper=keeper)
    keeper.close()
    return "" if found is None else found.reason


def test_what_is_missing_is_named_with_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_probe, "_from_wheel", lambda: None)
    found = find_machine(str(tmp_path))
    assert isinstance(found, NoSandbox)
    assert "apt-get install bubblewrap" in found.reason
    for name in ("bwrap", "prlimit"):
        assert isinstance(find_machine(str(tmp_path)), NoSandbox)
        (tmp_path / name).write_text("#!/bin/sh")
        (tmp_path / name).chmod(0o755)
    if os.geteuid() == 0:
        assert isinstance(refused := find_machine(str(tmp_path)), NoSandbox)
        assert "setpriv" in refused.reason


async def test_a_sandbox_that_says_it_is_closed_is_taken(tmp_path: Path) -> None:
    assert await refusal(lying(tmp_path, STATUS)) == ""


@pytest.mark.requirement("EXEC-7")
@pytest.mark.parametrize(
    ("closed", "open_", "named"),
    [
        ("65534\t65534\t65534\t65534", "0\t0\t0\t0", "it is not run as nobody"),
        ("CapEff:\t0000000000000000", "CapEff:\t000001ffffffffff", "CapEff"),
        ("CapBnd:\t0000000000000000", "CapBnd:\t000001ffffffffff", "CapBnd"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
        ("Seccomp:\t2", "Seccomp:\t0", "Seccomp"),
        ("Seccomp:\t2", "Seccomp:\t2\nseen: /etc/shadow", "seen /etc/shadow"),
        ("Seccomp:\t2", "Seccomp:\t2\nwritten: /usr", "written /usr"),
        ("Seccomp:\t2", "Seccomp:\t2\nnetwork: eth0", "network eth0"),
        ("Seccomp:\t2", "Seccomp:\t2\nroute: eth0 0", "route"),
        ("Seccomp:\t2", "Seccomp:\t2\nvariable: CANARY", "variable CANARY"),
    ],
)
async def test_a_sandbox_that_leaves_something_open_is_none(
    tmp_path: Path, closed: str, open_: str, named: str
) -> None:
    said = await refusal(lying(tmp_path, STATUS.replace(closed, open_)))
    assert said == f"The sandbox does not close what it must ({named})."


async def test_a_bubblewrap_that_does_not_start_the_program_makes_none(tmp_path: Path) -> None:
    machine = lying(tmp_path, STATUS)
    (tmp_path / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions' >&2\nexit 1")
    assert "(bwrap: No permissions): allow user namespaces" in await refusal(machine)
    assert "/none/bwrap: not found" in await refusal(replace(machine, bwrap=("/none/bwrap",)))
