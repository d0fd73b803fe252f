"""What bubblewrap is told: which parts of the machine a program sees, what it may use, and how it is started.

Nothing is there that is not named here. The root is a new one and read-only; of the machine it holds /usr, the links
into it and the loader's cache. What can be written is /tmp, /dev/shm and /out, in memory and each with a size.

Within, a shell takes the write end of the channel from its stdin, gives the program the arguments in its place, says
on the channel that it starts, and starts it. So all that fails before that word has not run the program. The shell
is the first process of the namespace: when it ends, all that the program has left running ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from interlock.core.frozen import frozen
from interlock.core.program import Program, SandboxLimits
from interlock.runners.sandbox_process import Launch

STARTED = b"s"
"""What the channel says first."""

UID = 65_534
"""Who a program is within, and outside too where Interlock runs as root: nobody."""

TAR_BYTES = 1024 * 1024
"""What the packing of files out may come to beside the files."""

_DESCRIPTORS_MAX = 256
_ARGUMENTS = "/run/arguments"
_START = f'exec 3>&0 0<{_ARGUMENTS} && printf s >&3 || exit 126; "$@" 3>&-; code=$?; '
_PACK = '[ "$code" -ne 0 ] || tar -C /out -cf - . >&3 || code=126; '
_END = 'exit "$code"'


@frozen
class Machine:
    """What this machine has for sandboxes: `bwrap` with what starts it, and programs of /usr by name.

    `root` are bwrap's arguments for the parts of the machine that a program sees. `filter` are system calls to refuse.
    """

    bwrap: tuple[str, ...]
    prlimit: str
    choom: str = ""
    root: tuple[str, ...] = ()
    filter: bytes | None = None


@frozen
class Contents:
    """Descriptors of what is laid into the sandbox, by its place there, and its environment."""

    files: Mapping[str, int]
    arguments: int
    filter: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def launch_of(program: Program, machine: Machine, *, contents: Contents) -> Launch:
    """The program in its sandbox, ready to be started."""
    limits, packs = program.limits, bool(program.files_out)
    held = [*contents.files.values(), contents.arguments]
    return Launch(
        machine.bwrap,
        tuple(_arguments(program, machine, contents)),
        (*_limited(limits, machine, processes=limits.processes + 1), *_shell(program)),
        tuple(held if contents.filter is None else [*held, contents.filter]),
        output_bytes=limits.output_bytes,
        channel_bytes=len(STARTED) + (limits.files_bytes + TAR_BYTES if packs else 0),
    )


def _arguments(program: Program, machine: Machine, contents: Contents) -> Iterator[str]:
    yield from ("--unshare-all", "--unshare-user", "--disable-userns", "--as-pid-1", "--die-with-parent")
    yield "--new-session"
    yield from ("--uid", str(UID), "--gid", str(UID), "--hostname", "sandbox", "--cap-drop", "ALL")
    yield from machine.root
    size = str(program.limits.files_bytes)
    yield from ("--proc", "/proc", "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev")  # noqa: S108 - of the sandbox
    yield from ("--size", size, "--tmpfs", "/tmp")  # noqa: S108 - of the sandbox
    if program.files_out:
        yield from ("--size", size, "--tmpfs", "/out")
    yield from ("--dir", "/app")
    for place, descriptor in contents.files.items():
        yield from ("--perms", "0555", "--ro-bind-data", str(descriptor), place)
    yield from ("--perms", "0444", "--ro-bind-data", str(contents.arguments), _ARGUMENTS)
    yield from ("--remount-ro", "/", "--chdir", "/app", "--clearenv")
    for name, value in contents.environment.items():
        yield from ("--setenv", name, value)
    if contents.filter is not None:
        yield from ("--seccomp", str(contents.filter))


def _limited(limits: SandboxLimits, machine: Machine, *, processes: int) -> Iterator[str]:
    """The programs that set limits for what they start. The first to go when memory runs out is a sandbox."""
    if machine.choom:
        yield from (machine.choom, "-n", "1000", "--")
    yield from (machine.prlimit, f"--cpu={limits.cpu_s}:{limits.cpu_s + 1}", f"--as={limits.memory_bytes}")
    yield from (f"--nproc={processes}", f"--fsize={limits.files_bytes}", f"--nofile={_DESCRIPTORS_MAX}")
    yield from ("--core=0", "--msgqueue=0", "--")


def _shell(program: Program) -> tuple[str, ...]:
    own = {each.place for each in program.files}
    command = [f"/app/{each}" if each in own else each for each in program.command[:1]]
    script = _START + (_PACK if program.files_out else "") + _END
    return ("/bin/sh", "-c", script, "sh", *command, *program.command[1:])
