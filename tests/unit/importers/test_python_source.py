"""Of a reviewed package runs what was reviewed alone: nothing compiled earlier, and nothing that lies beside it."""

import py_compile
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from interlock.importers.python import PythonLoaded, load_python, take_python_snapshot
from tests.python_packages import CODE, install

pytestmark = pytest.mark.requirement("REG-9")

MODES = py_compile.PycInvalidationMode
OTHER = CODE.replace("I run.", "I was not reviewed.")
KIT = {"acme_kit/__init__.py": "", "acme_kit/part.py": 'print("The part runs.")'}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("acme_parts", "acme_kit", "acme_kit.part"):
        sys.modules.pop(name, None)


def loaded() -> PythonLoaded:
    taken = take_python_snapshot("acme-parts")
    return load_python(replace(taken, entries={"find": replace(taken.entries["find"], allow=True)}))


def compiled(source: Path, *, mode: MODES) -> None:
    """In its cache, other code that passes for it."""
    other = source.parent / "other.py"
    other.write_text(OTHER)
    cached, known = Path(cache_from_source(str(source))), source.stat()
    py_compile.compile(str(other), cfile=str(cached), invalidation_mode=mode)
    if mode is MODES.TIMESTAMP:
        data = bytearray(cached.read_bytes())
        data[8:16] = int(known.st_mtime).to_bytes(4, "little") + known.st_size.to_bytes(4, "little")
        cached.write_bytes(data)
    other.unlink()


@pytest.mark.parametrize("mode", [MODES.UNCHECKED_HASH, MODES.TIMESTAMP])
def test_what_was_compiled_earlier_is_not_run(site: Path, mode: MODES, capsys: pytest.CaptureFixture[str]) -> None:
    install(site)
    compiled(site / "acme_parts.py", mode=mode)
    assert [each.spec().name for each in loaded().tools] == ["find_part"]
    assert capsys.readouterr().out == "I run.\n"


def test_modules_of_a_package_are_imported_from_its_files_alone(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, code=f"import acme_kit.part\n{CODE}", **KIT)
    assert not loaded().refused
    assert capsys.readouterr().out == "The part runs.\nI run.\n"


def test_what_lies_beside_a_file_under_its_name_is_not_run(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, code=f"import acme_kit.part\n{CODE}", **KIT)
    (site / "acme_kit" / "part").mkdir()
    (site / "acme_kit" / "part" / "__init__.py").write_text('print("I was not reviewed.")')
    (refused,) = loaded().refused
    assert "acme_kit.part would be imported from __init__.py, which was not reviewed" in refused.reason
    assert capsys.readouterr().out == ""


def test_a_file_that_changes_before_it_is_imported_is_not_run(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = 'from pathlib import Path\nPath(__file__).with_name("acme_kit").joinpath("part.py").write_text("print(7)")\n'
    install(site, code=f"{late}import acme_kit.part\n{CODE}", **KIT)
    (refused,) = loaded().refused
    assert "acme_kit.part is not what was reviewed" in refused.reason
    assert capsys.readouterr().out == ""
