"""An installed Python package as its metadata says it: version, files, entry points; nothing of it is imported."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from importlib.util import find_spec
from pathlib import Path

from interlock.core.canonical import canonical, sha256_hex
from interlock.core.errors import SpecInvalid

GROUP = "interlock.tools"
FILES_MAX = 20_000
FILE_BYTES_MAX = 256 * 1024 * 1024
_UNCHECKED = 0b01
"""The flags of a compiled file that is made by hash and not checked against its source (PEP 552)."""
_OF_INSTALLERS = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json", "uv_cache.json")


@dataclass(frozen=True, slots=True)
class Package:
    """What is installed. `entries` are its entry points of our group; `files` are digests by place."""

    name: str
    version: str
    files: Mapping[str, str]
    entries: Mapping[str, str]
    places: Mapping[Path, str]
    """The digests of the same files by where they are."""

    @property
    def digest(self) -> str:
        """SHA-256 (hex) over all of its files by place and bytes."""
        return sha256_hex(canonical(dict(self.files)))


def installed(name: str) -> Package:
    """The package of this name. Raises `SpecInvalid` where there is none, or it cannot be pinned."""
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        raise SpecInvalid(f"there is no package {name!r} installed here") from None
    if _is_editable(found):
        raise SpecInvalid(f"{name} is installed as editable: its code lies elsewhere, and cannot be pinned")
    _refuse_unchecked(found)
    listed = [each for each in _recorded(found) if _is_its_own(each)]
    if not listed or len(listed) > FILES_MAX:
        raise SpecInvalid(f"{name} does not say which files it is made of, or too many")
    places = {str(each): Path(str(found.locate_file(each))).resolve() for each in listed}
    files = {place: _digest(path) for place, path in sorted(places.items())}
    return Package(
        found.metadata["Name"],
        found.version,
        files,
        {each.name: each.value for each in found.entry_points if each.group == GROUP},
        {path: files[place] for place, path in places.items()},
    )


def module_of(module: str, package: Package) -> None:
    """Raises `SpecInvalid` where a module would not be imported from the files of the package."""
    top = module.partition(".")[0]
    try:
        found = find_spec(top)
    except (ImportError, ValueError):
        found = None
    origin = None if found is None else found.origin
    if origin is None or Path(origin).resolve() not in package.places:
        raise SpecInvalid(f"{top} would not be imported from the files of {package.name}")


def _is_editable(found: Distribution) -> bool:
    try:
        said = json.loads(found.read_text("direct_url.json") or "{}")
    except ValueError:
        return True
    about = said.get("dir_info") if isinstance(said, dict) else None
    return isinstance(about, dict) and about.get("editable") is True


def _recorded(found: Distribution) -> list[PackagePath]:
    """The files that its record names, there or not: `Distribution.files` leaves out what is missing since 3.12."""
    record = found.read_text("RECORD")
    if record is None:
        return found.files or []
    return [PackagePath(row[0]) for row in csv.reader(record.splitlines()) if row]


def _is_its_own(path: PackagePath) -> bool:
    """Whether it is the package's, and not what an installer or Python made of it here."""
    return not _is_compiled(path) and path.name not in _OF_INSTALLERS and not str(path).startswith("..")


def _is_compiled(path: PackagePath) -> bool:
    return path.suffix == ".pyc" and path.parent.name == "__pycache__"


def _refuse_unchecked(found: Distribution) -> None:
    """Compiled code that Python would run without a look at its source would get past the digest of that."""
    for each in _recorded(found):
        path = Path(str(found.locate_file(each)))
        if _is_compiled(each) and path.is_file():
            with path.open("rb") as file:
                flags = int.from_bytes(file.read(8)[4:], "little")
            if flags == _UNCHECKED:
                raise SpecInvalid(f"{each} is compiled code that is run whatever its source says")


def _digest(path: Path) -> str:
    try:
        if path.stat().st_size > FILE_BYTES_MAX:
            raise SpecInvalid(f"{path.name} is larger than {FILE_BYTES_MAX} bytes")
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise SpecInvalid(f"the package is not whole: {path.name}: {fault.strerror}") from fault
