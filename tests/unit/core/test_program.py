"""What a program is made of decides its fingerprint, and what contradicts itself is named."""

from dataclasses import replace

import pytest

from interlock.core.program import (
    Program,
    ProgramFile,
    SandboxLimits,
    is_plain_name,
    is_plain_path,
    program_fingerprint,
    wrong_with,
)

FILE = ProgramFile("run.py", "0" * 64)
PROGRAM = Program(("/usr/bin/python3", "run.py"), (FILE,))


@pytest.mark.parametrize(
    "changed",
    [
        replace(PROGRAM, command=("/usr/bin/python3", "-O", "run.py")),
        replace(PROGRAM, files=(replace(FILE, sha256="1" * 64),)),
        replace(PROGRAM, files=(FILE, replace(FILE, place="more.py"))),
        replace(PROGRAM, pinned="2" * 64),
        replace(PROGRAM, limits=SandboxLimits(cpu_s=11)),
        replace(PROGRAM, environment={"A": "1"}),
        replace(PROGRAM, secrets={"A": "token"}),
        replace(PROGRAM, exit_codes={3: "MISSING"}),
        replace(PROGRAM, files_in={"document": "/srv"}),
        replace(PROGRAM, files_out="/srv/out"),
    ],
)
def test_whatever_is_changed_makes_another_fingerprint(changed: Program) -> None:
    assert program_fingerprint(changed) != program_fingerprint(PROGRAM)


def test_where_its_files_lie_does_not_make_another_program() -> None:
    moved = replace(PROGRAM, folder="/opt")
    assert program_fingerprint(moved) == program_fingerprint(PROGRAM)
    assert len(program_fingerprint(PROGRAM)) == 64


def test_a_sound_program_has_nothing_wrong() -> None:
    sound = replace(PROGRAM, files_in={"document": "/srv"}, environment={"TZ": "UTC"}, exit_codes={3: "MISSING"})
    assert list(wrong_with(sound, arguments=frozenset({"document"}))) == []
    assert list(wrong_with(replace(PROGRAM, command=("run.py",)), arguments=frozenset())) == []
    assert PROGRAM.target == "/usr/bin/python3 run.py"


@pytest.mark.parametrize(
    ("program", "sentence"),
    [
        (Program(()), "the command is empty"),
        (Program(("python3",)), "the command starts with 'python3'"),
        (Program(("/root/bin/x",)), "the command starts with '/root/bin/x'"),
        (Program(("/usr/../root/x",)), "the command starts with"),
        (replace(PROGRAM, command=("run.py", "a\0b")), "'a\\x00b' holds what no system takes"),
        (replace(PROGRAM, environment={"A": "\ud800"}), "holds what no system takes"),
        (replace(PROGRAM, files_out="/srv/\0"), "holds what no system takes"),
        (replace(PROGRAM, files=(replace(FILE, place="../run.py"),)), "'../run.py' must lie in"),
        (replace(PROGRAM, environment={"LD_PRELOAD": "x"}), "'LD_PRELOAD' may not be"),
        (replace(PROGRAM, environment={"A=B": "x"}), "'A=B' may not be"),
        (replace(PROGRAM, environment={"A": "x"}, secrets={"A": "token"}), "A is given a value and a secret"),
        (replace(PROGRAM, files_in={"other": "/srv"}), "files_in names 'other'"),
        (replace(PROGRAM, exit_codes={0: "MISSING"}), "exit code 0"),
        (replace(PROGRAM, exit_codes={126: "MISSING"}), "exit code 126"),
        (replace(PROGRAM, files_out_max=0), "files_out_max"),
        (replace(PROGRAM, limits=SandboxLimits(cpu_s=0)), "cpu_s"),
        (replace(PROGRAM, limits=SandboxLimits(memory_bytes=1)), "memory_bytes"),
        (replace(PROGRAM, limits=SandboxLimits(processes=0)), "processes"),
        (replace(PROGRAM, limits=SandboxLimits(output_bytes=0)), "output_bytes"),
        (replace(PROGRAM, limits=SandboxLimits(files_bytes=0)), "files_bytes"),
    ],
)
def test_what_is_wrong_is_named(program: Program, sentence: str) -> None:
    found = list(wrong_with(program, arguments=frozenset({"document"})))
    assert len(found) == 1
    assert sentence in found[0]


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\nb", "a b", "ä", "x" * 129, "-rf", "a\0"])
def test_a_name_that_could_mean_another_file_is_not_plain(name: str) -> None:
    assert not is_plain_name(name)


@pytest.mark.parametrize("path", ["/a", "a//b", "a/../b", "./a", "a/", "a/" * 600 + "b"])
def test_a_path_that_could_lead_out_is_not_plain(path: str) -> None:
    assert not is_plain_path(path)


def test_ordinary_names_are_plain() -> None:
    assert all(map(is_plain_name, ("report.pdf", "a-1_2+3", "7")))
    assert is_plain_path("2026/may/report.pdf")
