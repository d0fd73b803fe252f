"""`interlock import python`: what a package offers is listed without running it, reviewed, and taken by a project."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.python_packages import CODE, install
from tests.unit.doors.cli.conftest import Cli

pytestmark = pytest.mark.requirement("REG-9")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path / "site")
    install(tmp_path / "site")
    yield tmp_path / "site"
    sys.modules.pop("acme_parts", None)


def test_a_snapshot_says_what_importing_means_and_runs_nothing(cli: Cli, tmp_path: Path, site: Path) -> None:
    ran = cli("import", "python", "acme-parts", "-o", "parts.yaml")
    assert ran.code == 0
    assert "acme-parts 1.0, 3 files: it offers 6 tools, 0 of them allowed." in ran.out
    assert "Importing a package runs its code" in ran.out
    assert "I run" not in ran.out + ran.err
    assert cli("import", "python", "acme-parts").out == (tmp_path / "parts.yaml").read_text()
    assert cli("import", "python", "acme-none").code == 1


def test_what_has_changed_is_told_and_renewing_closes_it(cli: Cli, tmp_path: Path, site: Path) -> None:
    cli("import", "python", "acme-parts", "-o", "parts.yaml")
    path = tmp_path / "parts.yaml"
    path.write_text(path.read_text().replace("allow: false", "allow: true"))
    check = ("import", "python", "acme-parts", "--check", "parts.yaml")
    assert (cli(*check).code, cli(*check).out) == (0, "The package is what was reviewed.\n")
    install(site, code=f"{CODE}# more", version="1.1")
    ran = cli(*check)
    assert (ran.code, "changed  version: 1.0 -> 1.1" in ran.out) == (1, True)
    assert [each["field"] for each in cli(*check, "--json").document["changes"]["about"]] == ["version", "digest"]
    renewed = cli("import", "python", "acme-parts", "-o", "parts.yaml", "--accept", "find", "--json")
    assert renewed.document["allowed"] == ["find"]


def test_a_project_takes_what_is_allowed(cli: Cli, project: Path, site: Path) -> None:
    settings = project / "interlock.toml"
    settings.write_text(settings.read_text().replace("tools = ", 'python = ["parts.yaml"]\ntools = ', 1))
    cli("import", "python", "acme-parts", "-o", "parts.yaml")
    path = project / "parts.yaml"
    path.write_text(path.read_text().replace("find:\n    allow: false", "find:\n    allow: true", 1))
    ran = cli("call", "find_part", '{"name": "bolt"}', "--json")
    assert cli("tools", "show", "find_part", "--json").document["spec"]["owner"] == "acme"
    assert ran.code in (0, 3)
    install(site, code=f"{CODE}# more", version="1.1")
    assert "is not the code that was reviewed" in cli("tools", "list", "--all").err
