"""The project's examples, from the folder that its settings name."""

from pathlib import Path

import pytest

from interlock.doors.cli.faults import ExamplesInvalid
from interlock.doors.cli.library import library_of
from interlock.doors.cli.project import parse_project
from tests.unit.doors.cli.conftest import Cli


def test_a_project_may_keep_its_examples_elsewhere(tmp_path: Path) -> None:
    said = '[interlock]\nexamples = "shown"\n[operator]\nid = "alice"\n'
    project = parse_project(said, root=tmp_path)
    assert project.examples == tmp_path / "shown"
    with pytest.raises(ExamplesInvalid, match="there is no example in"):
        library_of(project)
    (tmp_path / "shown").mkdir()
    (tmp_path / "shown" / "a.yaml").write_text("examples: [{name: n}]", encoding="utf-8")
    with pytest.raises(ExamplesInvalid, match=r"a\.yaml: examples\[0\]: tool is missing"):
        library_of(project)


def test_a_fixture_is_a_function_of_the_project(cli: Cli, project: Path) -> None:
    (project / "standing_in.py").write_text("def note(title):\n    return 'Good morning.' if title == 'hello' else 1\n")
    file = project / "examples" / "notes.yaml"
    file.write_text(file.read_text().replace("answers: [{gives: Good morning.}]", "fixture: standing_in:note", 1))
    assert cli("tools", "test").code == 0
    file.write_text(file.read_text().replace("standing_in:note", "standing_in:nothing", 1))
    assert "cannot be loaded" in cli("tools", "test").err
