"""What a program that runs in a sandbox is made of: its command, its files, what it is given, what it may use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.frozen import frozen
from interlock.core.tool import fields_to_json

KIND = "sandbox"
"""The runner of programs, as an `Entrypoint` names it."""

PROGRAM_BYTES_MAX = 64 * 1024 * 1024
"""The most that one program's own files may come to."""

VISIBLE = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/")
"""What of the machine a program sees, read-only; an executable that is none of its own files lies there."""

_BYTES_MAX = 64 * 1024 * 1024 * 1024
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_LOADER = ("LD_", "GLIBC_", "MALLOC_", "GCONV_PATH")


@frozen
class SandboxLimits:
    """What a program may use. Over it, it is stopped or its system call fails; bytes are whole bytes.

    `cpu_s` holds for each of at most `processes` processes and threads; `memory_bytes` for the address space of each,
    and for the memory that they hold together, which is looked at ten times a second. `output_bytes` holds for what it
    prints, on each of the two streams; `files_bytes` for each of: the files that it is given, the files that it leaves
    in /out, and its private /tmp.
    """

    cpu_s: int = 10
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 16
    output_bytes: int = 1024 * 1024
    files_bytes: int = 16 * 1024 * 1024


@frozen
class ProgramFile:
    """One file of the program: its place in its folder, and below /app, with the SHA-256 (hex) of its bytes."""

    place: str
    sha256: str


@frozen
class Program:
    """A program as it was declared.

    `command` names its own files by their place below /app, where it is started; `pinned` is the digest of an
    executable of the machine that is the program itself. `secrets` are environment variables by the secret that fills
    them. `exit_codes` are the errors that its exit codes stand for. `files_in` are folders by the argument that names a
    file in them, `files_out` is the folder that files from /out are put in, at most `files_out_max`; in both
    `{tenant}` is the caller's. What is relative of all that lies in `folder`.
    """

    command: tuple[str, ...]
    files: tuple[ProgramFile, ...] = ()
    pinned: str = ""
    limits: SandboxLimits = SandboxLimits()
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    exit_codes: Mapping[int, str] = field(default_factory=dict)
    files_in: Mapping[str, str] = field(default_factory=dict)
    files_out: str = ""
    files_out_max: int = 16
    folder: str = "/"

    @property
    def target(self) -> str:
        """The command as people read it."""
        return " ".join(self.command)


def program_fingerprint(program: Program) -> str:
    """SHA-256 (hex) over all of it, but for where its folder lies: a changed file is a changed tool."""
    plain = ("command", "pinned", "limits", "environment", "secrets", "exit_codes", "files_in")
    said = fields_to_json(program, names=(*plain, "files_out", "files_out_max"))
    said["files"] = {each.place: each.sha256 for each in program.files}
    return sha256_hex(canonical(said))


def wrong_with(program: Program, *, arguments: frozenset[str]) -> Iterator[str]:
    """What is wrong with a declaration, `arguments` being those of its schema: a sentence each."""
    yield from _on_limits(program.limits)
    yield from _on_command(program)
    for text in (*program.command, *program.environment.values(), program.files_out, *program.files_in.values()):
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            yield f"{text!r} holds what no system takes: a NUL, or half a surrogate pair"
    for name in (*program.environment, *program.secrets):
        if not _VARIABLE.fullmatch(name) or name.startswith(_LOADER):
            yield f"{name!r} may not be an environment variable of a program"
    for name in sorted({*program.environment} & {*program.secrets}):
        yield f"the variable {name} is given a value and a secret"
    for name in program.files_in:
        if name not in arguments or not is_plain_name(name):
            yield f"files_in names {name!r}, which must be an argument of letters, digits and _"
    for code in program.exit_codes:
        if not 1 <= code <= 125:
            yield f"the exit code {code} must be from 1 to 125"
    if not 1 <= program.files_out_max <= 1_000:
        yield "files_out_max must be from 1 to 1000"


def is_plain_name(name: str) -> bool:
    """Whether it can only be the name of one file in one folder, on any system and for any reader."""
    return _PART.fullmatch(name) is not None


def is_plain_path(path: str) -> bool:
    """Whether it is a relative path of plain names, which cannot lead out."""
    return len(path) <= 1_024 and all(map(is_plain_name, path.split("/")))


def _on_limits(limits: SandboxLimits) -> Iterator[str]:
    rules = {
        "cpu_s must be from 1 to 86400": 1 <= limits.cpu_s <= 86_400,
        "memory_bytes must be at least 16 MB": 16 * 1024 * 1024 <= limits.memory_bytes <= 1024 * _BYTES_MAX,
        "processes must be from 1 to 4096": 1 <= limits.processes <= 4_096,
        "output_bytes must be from 1 to 16777216": 1 <= limits.output_bytes <= 16 * 1024 * 1024,
        "files_bytes must be from 4096 to 1073741824": 4_096 <= limits.files_bytes <= 1024 * 1024 * 1024,
    }
    yield from (f"limits: {rule}" for rule, holds in rules.items() if not holds)


def _on_command(program: Program) -> Iterator[str]:
    if not program.command or not program.command[0]:
        yield "the command is empty"
        return
    first, own = program.command[0], {each.place for each in program.files}
    if first not in own and not (first.startswith(VISIBLE) and ".." not in first):
        yield f"the command starts with {first!r}: name a file of the program, or an executable below /usr by its path"
    for place in sorted(own):
        if not is_plain_path(place):
            yield f"the file {place!r} must lie in the program's folder, with a path of letters, digits and ._+-"
