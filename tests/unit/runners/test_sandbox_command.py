"""What bubblewrap is told closes all but what is named, and shows no secret to other users of the machine."""

from dataclasses import replace

from interlock.core.program import Program, ProgramFile, SandboxLimits
from interlock.runners.sandbox_command import Contents, Machine, launch_of

MACHINE = Machine(("/usr/bin/bwrap",), "/usr/bin/prlimit", "/usr/bin/choom", ("--ro-bind", "/usr", "/usr"))
PROGRAM = Program(("run.py", "-v"), (ProgramFile("run.py", ""),), limits=SandboxLimits(processes=4, cpu_s=2))
CONTENTS = Contents({"/app/run.py": 7}, 8, 9, {"TOKEN": "s3cret"})


def pairs(arguments: tuple[str, ...], option: str) -> list[str]:
    return [arguments[at + 1] for at, each in enumerate(arguments) if each == option]


def test_everything_is_closed_before_anything_is_opened() -> None:
    arguments = launch_of(PROGRAM, MACHINE, contents=CONTENTS).arguments
    closed = ("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv")
    assert set(closed) <= set(arguments)
    assert pairs(arguments, "--cap-drop") == ["ALL"]
    assert pairs(arguments, "--remount-ro") == ["/dev", "/"]
    assert pairs(arguments, "--tmpfs") == ["/dev/shm", "/tmp"]
    assert pairs(arguments, "--seccomp") == ["9"]
    assert "--share-net" not in arguments
    assert "--bind" not in arguments


def test_every_place_that_can_be_written_has_a_size() -> None:
    arguments = launch_of(replace(PROGRAM, files_out="/srv/out"), MACHINE, contents=CONTENTS).arguments
    sized = [arguments[at + 1 : at + 4] for at, each in enumerate(arguments) if each == "--size"]
    size = str(SandboxLimits().files_bytes)
    assert sized == [(size, "--tmpfs", place) for place in ("/dev/shm", "/tmp", "/out")]


def test_secrets_are_in_no_command_line() -> None:
    launch = launch_of(PROGRAM, MACHINE, contents=CONTENTS)
    assert "s3cret" not in " ".join((*launch.bwrap, *launch.command))
    assert launch.arguments[launch.arguments.index("--setenv") + 1 :][:2] == ("TOKEN", "s3cret")


def test_limits_are_set_before_the_program_starts() -> None:
    command = launch_of(PROGRAM, MACHINE, contents=CONTENTS).command
    assert command[:4] == ("/usr/bin/choom", "-n", "1000", "--")
    assert {"--cpu=2:3", "--nproc=5", "--core=0", f"--as={512 << 20}"} <= set(command)
    assert command[-3:] == ("sh", "/app/run.py", "-v")


def test_only_a_program_with_files_out_is_packed_up() -> None:
    without = launch_of(PROGRAM, MACHINE, contents=CONTENTS)
    packing = launch_of(replace(PROGRAM, files_out="/srv/out"), MACHINE, contents=CONTENTS)
    assert ("tar" in " ".join(without.command), "tar" in " ".join(packing.command)) == (False, True)
    assert (without.channel_bytes, packing.channel_bytes > SandboxLimits().files_bytes) == (1, True)
    assert without.descriptors == (7, 8, 9)
