"""Takes files into a sandbox and out of it: the program's own, those that arguments name, those that it leaves.

What goes in is copied into memory that nobody can change any more, so what was checked is what is read. What comes out
is a tar stream that the program could have written itself: only plain files with plain names are taken, and nothing in
them is looked into.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path

from interlock.core.frozen import frozen
from interlock.core.program import PROGRAM_BYTES_MAX, Program, is_plain_name, is_plain_path
from interlock.runners.sandbox_process import seal, sealed

_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)


class FileRefused(Exception):
    """A file that is not taken, in words that are safe to show."""


@frozen
class LeftFile:
    """One file that a program left in /out."""

    name: str
    data: bytes

    @property
    def sha256(self) -> str:
        """Of its bytes, in hex."""
        return sha256(self.data).hexdigest()


def take_program(program: Program) -> dict[str, int]:
    """Descriptors of the program's own files by their place. Raises `FileRefused` where one is not as declared."""
    _check_pinned(program)
    taken: dict[str, int] = {}
    try:
        for each in program.files:
            data = _read(Path(program.folder, each.place))
            if sha256(data).hexdigest() != each.sha256:
                raise FileRefused(f"{each.place} is not the file that was declared")
            taken[f"/app/{each.place}"] = sealed(data)
    except BaseException:
        close_all(taken)
        raise
    return taken


def take_inputs(program: Program, arguments: Mapping[str, object], *, tenant: str) -> dict[str, int]:
    """Descriptors of the files that arguments name, by their place. Raises `FileRefused` naming the argument."""
    taken: dict[str, int] = {}
    room = program.limits.files_bytes
    try:
        for name, folder in program.files_in.items():
            if name in arguments:
                size, held = _take_input(
                    for_tenant(program, folder, tenant=tenant), arguments[name], name=name, room=room
                )
                taken[f"/in/{name}"] = held
                room -= size
    except BaseException:
        close_all(taken)
        raise
    return taken


def close_all(taken: Mapping[str, int]) -> None:
    """Let go of what was taken and not handed on."""
    for held in taken.values():
        os.close(held)


def for_tenant(program: Program, folder: str, *, tenant: str) -> Path:
    """The folder, with the tenant in place of `{tenant}`. Raises `FileRefused` for a tenant that is no plain name."""
    if "{tenant}" in folder and not is_plain_name(tenant):
        raise FileRefused("the tenant's name is no name of a folder")
    return Path(program.folder, folder.replace("{tenant}", tenant))


def read_left(packed: bytes, *, count_max: int, bytes_max: int) -> tuple[LeftFile, ...]:
    """The files of the tar stream. Raises `FileRefused` where it holds anything but a few plain ones."""
    try:
        return tuple(_left(packed, count_max=count_max, bytes_max=bytes_max))
    except FileRefused:
        raise
    except Exception:  # noqa: BLE001 - the program may have written anything there, and the reader may raise anything
        raise FileRefused("what it left in /out could not be packed") from None


def keep_left(files: tuple[LeftFile, ...], *, folder: Path, name: str) -> str:
    """Put them below `folder` under a name that is new, all at once. Gives the name back; raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    hidden, final = folder / f".{name}", folder / name
    hidden.mkdir(mode=0o700)
    try:
        for each in files:
            _write(hidden / each.name, each.data)
        _flush(hidden)
        hidden.rename(final)
    except BaseException:
        with suppress(OSError):  # what cannot be removed has no name that anybody looks for
            for each in files:
                (hidden / each.name).unlink(missing_ok=True)
            hidden.rmdir()
        raise
    with suppress(OSError):  # they are there; that they outlast a power cut is all that is in doubt
        _flush(folder)
    return name


def _write(file: Path, data: bytes) -> None:
    with file.open("xb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _flush(folder: Path) -> None:
    """Have the disk know what the folder holds, before it is told that it is done."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def _left(packed: bytes, *, count_max: int, bytes_max: int) -> Iterator[LeftFile]:
    seen: set[str] = set()
    size = 0
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
        for member in archive:
            if member.name == "." and member.isdir():
                continue
            name = member.name.removeprefix("./")
            if member.type not in _PLAIN or member.issparse():
                raise FileRefused("it left something in /out that is no plain file")
            if not is_plain_name(name) or name in seen:
                raise FileRefused("it left a file in /out whose name is not taken: letters, digits and ._+- only")
            seen.add(name)
            size += member.size
            if len(seen) > count_max or size > bytes_max:
                raise FileRefused(f"it left more in /out than {count_max} files of {bytes_max} bytes together")
            held = archive.extractfile(member)
            data = b"" if held is None else held.read()
            if len(data) != member.size:
                raise FileRefused("what it left in /out could not be packed")
            yield LeftFile(name, data)


def _check_pinned(program: Program) -> None:
    if program.pinned:
        try:
            with Path(program.command[0]).open("rb") as file:
                found = file_digest(file, "sha256").hexdigest()
        except OSError:
            found = ""
        if found != program.pinned:
            raise FileRefused(f"{program.command[0]} is not the program that was declared")


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(PROGRAM_BYTES_MAX + 1)
    except OSError:
        return b""


def _take_input(folder: Path, path: object, *, name: str, room: int) -> tuple[int, int]:
    if not isinstance(path, str) or not is_plain_path(path):
        raise FileRefused(f"{name} must name a file by a plain relative path")
    try:
        held = _open_below(folder, path.split("/"))
    except OSError:
        raise FileRefused(f"{name} names no file that can be read") from None
    try:
        found = os.fstat(held)
        if not stat.S_ISREG(found.st_mode):
            raise FileRefused(f"{name} names no file that can be read")
        if found.st_size > room:
            raise FileRefused(f"{name} names a file that is too large")
        return found.st_size, _copied(held, found.st_size, name=name)
    except OSError:  # a disk that fails, or a file system that cannot be read like this: nothing was started
        raise FileRefused(f"{name} names no file that can be read") from None
    finally:
        os.close(held)


def _open_below(folder: Path, parts: list[str]) -> int:
    """The file, with no link followed below the folder, and never waiting for what is no file."""
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for each in parts[:-1]:
        at = _open_at(at, each, os.O_DIRECTORY)
    return _open_at(at, parts[-1], os.O_NONBLOCK)


def _open_at(folder: int, name: str, flags: int) -> int:
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=folder)
    finally:
        os.close(folder)


def _copied(source: int, size: int, *, name: str) -> int:
    held = os.memfd_create("interlock", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        left = size
        while left:
            sent = os.sendfile(held, source, None, left)
            if sent == 0:
                raise FileRefused(f"{name} names a file that is being changed")
            left -= sent
        seal(held)
    except BaseException:
        os.close(held)
        raise
    return held
