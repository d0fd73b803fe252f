"""What tests of the command line share: a project in a folder of its own, and a way to give it commands."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.doors.cli.main import run
from interlock.doors.cli.session import os_user
from tests.walk.scripted_model import ScriptedModel, scripted_model


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document that --json promises."""
        document = json.loads(self.out)
        assert isinstance(document, dict)
        return document


Cli = Callable[..., Ran]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """`cli("tools", "list")` in an empty folder, as a process of its own would run it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def give(*arguments: str) -> Ran:
        known = set(sys.modules)
        capsys.readouterr()
        try:
            code = run(arguments)
        finally:
            for name in set(sys.modules) - known:
                if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                    del sys.modules[name]
        return Ran(code, *capsys.readouterr())

    return give


@pytest.fixture
def project(cli: Cli, tmp_path: Path) -> Path:
    """The folder in which `interlock init` has been run, with an operator called alice."""
    assert cli("init").code == 0
    settings = tmp_path / "interlock.toml"
    lines = settings.read_text().splitlines()
    settings.write_text("\n".join('id = "alice"' if each == f'id = "{os_user()}"' else each for each in lines))
    return tmp_path


@pytest.fixture
def waiting(cli: Cli, project: Path) -> str:
    """The id of an approval that waits."""
    ran = cli("call", "save_note", '{"title": "hello", "text": "Good morning."}', "--task", "t", "--json")
    assert ran.code == 4
    return str(ran.document["approval_id"])


@pytest.fixture
def models(project: Path) -> Iterator[Callable[..., ScriptedModel]]:
    """`models(*turns)` makes a server of the project's only model, which says these turns."""
    open_now: list[Any] = []

    def give(*turns: Any) -> ScriptedModel:
        served = scripted_model(*turns)
        open_now.append(served)
        model: ScriptedModel = served.__enter__()
        at = f'\n[[models]]\nname = "small"\nmodel = "openai-chat:scripted@{model.url}"\n'
        settings = project / "interlock.toml"
        settings.write_text(settings.read_text().partition("\n[[models]]")[0] + at)
        return model

    yield give
    for each in open_now:
        each.__exit__(None, None, None)
