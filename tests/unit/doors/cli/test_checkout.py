"""Demo and bench: found beside the checkout that holds the package, else a sentence."""

from pathlib import Path

import pytest

from interlock.doors.cli import checkout
from interlock.doors.cli.checkout import BENCH, DEMO, in_checkout, run_program
from tests.unit.doors.cli.conftest import Cli


def test_a_path_is_found_beside_the_source_and_not_beside_an_installed_package(tmp_path: Path) -> None:
    (tmp_path / DEMO).parent.mkdir(parents=True)
    (tmp_path / DEMO).write_text("")
    assert in_checkout(DEMO, package=tmp_path / "src" / "interlock") == tmp_path / DEMO
    assert in_checkout(BENCH, package=tmp_path / "src" / "interlock") is None
    assert in_checkout(DEMO, package=tmp_path / "site-packages" / "interlock") is None


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize("verb", ["demo", "bench"])
def test_without_a_checkout_it_says_where_to_get_one(cli: Cli, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr(checkout, "in_checkout", lambda _: None)
    ran = cli(verb, "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, "NOT_IN_CHECKOUT")


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (7, 1)])
def test_it_runs_with_this_python_and_says_how_it_ended(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], code: int, ends: int
) -> None:
    script = tmp_path / "main.py"
    script.write_text("import sys; print(sys.argv[1:]); sys.exit(int(sys.argv[1]))")
    answer = run_program([str(script), str(code)], folder=tmp_path, out=2)
    assert (answer.exit_code, answer.document["exit_code"]) == (ends, code)
    assert capfd.readouterr() == ("", f"['{code}']\n")
