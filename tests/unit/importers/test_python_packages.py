"""A package is read by its metadata alone, and by the bytes of every file of it."""

import py_compile
import sys
from pathlib import Path

import pytest

from interlock.core.errors import SpecInvalid
from interlock.importers.python_packages import installed, module_of
from tests.python_packages import CODE, ENTRIES, install

pytestmark = pytest.mark.requirement("REG-9")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_it_is_listed_without_running_any_of_it(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site)
    found = installed("acme-parts")
    assert (found.name, found.version, found.entries) == ("acme-parts", "1.0", ENTRIES)
    assert "I run" not in capsys.readouterr().out
    assert "acme_parts" not in sys.modules


def test_the_digest_is_over_every_byte_and_nothing_that_an_installer_made(site: Path) -> None:
    install(site)
    first = installed("acme-parts").digest
    install(site, editable=False, **{"../bin/x": "#!/here"})
    assert installed("acme-parts").digest == first
    install(site, code=CODE + " ")
    assert installed("acme-parts").digest != first
    install(site, **{"acme_data.json": "{}"})
    assert installed("acme-parts").digest != first


def test_what_cannot_be_pinned_is_refused(site: Path) -> None:
    with pytest.raises(SpecInvalid, match="no package 'acme-none'"):
        installed("acme-none")
    with pytest.raises(SpecInvalid, match="no package ''"):
        installed("")
    install(site, editable=True)
    with pytest.raises(SpecInvalid, match="installed as editable"):
        installed("acme-parts")
    install(site)
    (site / "acme_parts.py").unlink()
    with pytest.raises(SpecInvalid, match=r"not whole: acme_parts\.py"):
        installed("acme-parts")


def test_compiled_code_that_is_never_held_to_its_source_is_refused(site: Path) -> None:
    other = site / "other.py"
    other.write_text("print('other')")
    install(site, **{"__pycache__/acme_parts.cpython-311.pyc": ""})
    place = site / "__pycache__" / "acme_parts.cpython-311.pyc"
    py_compile.compile(str(other), str(place), invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
    first = installed("acme-parts").digest
    py_compile.compile(str(other), str(place), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    with pytest.raises(SpecInvalid, match="whatever its source says"):
        installed("acme-parts")
    place.unlink()
    assert installed("acme-parts").digest == first


def test_a_module_that_lies_elsewhere_is_none_of_the_package(site: Path) -> None:
    install(site)
    found = installed("acme-parts")
    module_of("acme_parts", found)
    module_of("acme_parts.sub", found)
    for module in ("json", "no_such_module", ""):
        with pytest.raises(SpecInvalid, match="would not be imported from the files of acme-parts"):
            module_of(module, found)
