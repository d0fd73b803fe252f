"""Which tests prove which requirements is read from their marks, and a proof that is lost is a fault."""

from pathlib import Path

import pytest

from tests.tidy.requirements import PROVED, TITLES, faults, main, marks, proved_by
from tests.tidy.source import Source

MARK = '@pytest.mark.requirement("CALL-2")\n'


def test_a_mark_on_a_function_a_class_or_the_module_proves() -> None:
    assert _proved(MARK + "def test_x(): f()") == {"CALL-2"}
    assert _proved(MARK + "async def test_x(): f()") == {"CALL-2"}
    assert _proved(MARK + "class TestX:\n def test_x(self): f()") == {"CALL-2"}
    assert _proved('pytestmark = pytest.mark.requirement("CALL-2")\ndef test_x(): f()') == {"CALL-2"}
    assert _proved('pytestmark = [pytest.mark.slow, pytest.mark.requirement("CALL-2")]\ndef test_x(): f()') == {
        "CALL-2"
    }


def test_one_mark_names_several_requirements() -> None:
    assert _proved('@pytest.mark.requirement("CALL-2", "CALL-3")\ndef test_x(): f()') == {"CALL-2", "CALL-3"}


def test_a_parameter_proves_on_its_own() -> None:
    text = '@pytest.mark.parametrize("x", [pytest.param(1, marks={marks})])\ndef test_x(x): f()'
    assert _proved(text.format(marks='pytest.mark.requirement("CALL-2")')) == {"CALL-2"}
    assert not _proved(text.format(marks='[pytest.mark.requirement("CALL-2"), pytest.mark.skip]'))


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skip\n" + MARK + "def test_x(): f()",
        '@pytest.mark.xfail(reason="later")\n' + MARK + "def test_x(): f()",
        '@pytest.mark.skip(reason="later")\nclass TestX:\n @pytest.mark.requirement("CALL-2")\n def test_x(self): f()',
        "pytestmark = pytest.mark.skip\n" + MARK + "def test_x(): f()",
        'pytest.skip("later", allow_module_level=True)\n' + MARK + "def test_x(): f()",
        MARK + 'def test_x():\n pytest.skip("later")\n f()',
        MARK + "def prove_x(): f()",
        MARK + "class TestX: ...",
    ],
)
def test_a_test_that_does_not_run_proves_nothing(text: str) -> None:
    assert not _proved(text)


def test_a_test_that_skips_itself_on_a_condition_proves() -> None:
    assert _proved(MARK + 'def test_x():\n if not server:\n  pytest.skip("no server")\n f()') == {"CALL-2"}


@pytest.mark.parametrize(
    "mark", ['requirement("CALL-99")', 'requirement("CALL-2", ID)', "requirement", "requirement()"]
)
def test_a_mark_without_a_known_literal_id_is_a_fault(mark: str) -> None:
    found = list(marks(Source("tests/test_x.py", f"@pytest.mark.{mark}\ndef test_x(): f()")))
    assert faults(found, known={"CALL-2"}, proved=[])


def test_a_proof_that_is_lost_is_a_fault_that_names_the_test() -> None:
    found = list(marks(Source("tests/test_x.py", "@pytest.mark.skip\n" + MARK + "def test_x(): f()")))
    assert faults(found, known={"CALL-2"}, proved=["CALL-2"]) == [
        "CALL-2 is proved no more (tests/test_x.py::test_x is marked skip)"
    ]


def test_the_command_accepts_new_proofs_and_then_holds_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test_file = _project(tmp_path, MARK + "def test_x(): f()")
    assert main([], root=tmp_path) == 0
    assert "CALL-3    Integers" in capsys.readouterr().out
    assert main(["--accept"], root=tmp_path) == 0
    assert (tmp_path / PROVED).read_text().splitlines()[1:] == ["CALL-2"]
    test_file.write_text("def test_x(): f()")
    assert main(["--accept"], root=tmp_path) == 1
    assert "FAULT CALL-2 is proved no more" in capsys.readouterr().out
    assert (tmp_path / PROVED).read_text().splitlines()[1:] == ["CALL-2"]


def _project(root: Path, text: str) -> Path:
    test_file = root / "tests" / "test_x.py"
    test_file.parent.mkdir()
    test_file.write_text(text)
    (root / TITLES).write_text("CALL-2 Arguments are parsed once\nCALL-3 Integers keep their value\n")
    return test_file


def _proved(text: str) -> set[str]:
    return proved_by(list(marks(Source("tests/test_x.py", text))))
