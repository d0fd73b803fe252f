"""Imports the modules of a reviewed package from the very bytes that were reviewed.

Python prefers what it compiled earlier, and what lies beside a source under the same name: neither was reviewed, and
both would run in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType


class _Reviewed(SourceFileLoader):
    """Compiles the source each time, once it is seen to be what was reviewed."""

    def __init__(self, name: str, path: str, *, digest: str) -> None:
        super().__init__(name, path)
        self._digest = digest

    def get_code(self, fullname: str) -> CodeType:
        data = Path(self.path).read_bytes()
        if sha256(data).hexdigest() != self._digest:
            raise ImportError(f"{fullname} is not what was reviewed")
        code: CodeType = compile(data, self.path, "exec", dont_inherit=True)
        return code


class _Finder(MetaPathFinder):
    """Finds what lies in the files of reviewed packages; of all else nothing is said here."""

    def __init__(self) -> None:
        self.digests: dict[Path, str] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target)
        if found is None or found.origin is None or not found.has_location:
            return None
        origin = Path(found.origin).resolve()
        folder, stem = (origin.parent.parent, origin.parent.name) if origin.stem == "__init__" else (origin.parent, "")
        name = stem or fullname.rpartition(".")[2]
        if origin not in self.digests:
            if {folder / f"{name}.py", folder / name / "__init__.py"} & self.digests.keys():
                raise ImportError(f"{fullname} would be imported from {origin.name}, which was not reviewed")
            return None
        if not isinstance(found.loader, SourceFileLoader):
            return None
        loader = _Reviewed(fullname, str(origin), digest=self.digests[origin])
        return spec_from_file_location(
            fullname, str(origin), loader=loader, submodule_search_locations=found.submodule_search_locations
        )


_FINDER = _Finder()


def import_from(digests: Mapping[Path, str]) -> None:
    """Have these files, with their digests, be what is imported of them from now on, in this process."""
    _FINDER.digests.update(digests)
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
