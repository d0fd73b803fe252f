"""A declared program is a tool whose files, command and limits are part of it."""

from pathlib import Path
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.program import Program, SandboxLimits
from interlock.core.tool import ErrorContract, spec_digest
from interlock.declare.program import DeclaredProgram, program

SCHEMA = {"type": "object", "properties": {"document": {"type": "string"}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.py").write_text("print(1)")
    (tmp_path / "words.txt").write_text("one")
    return tmp_path


def declared(folder: Path, **options: Any) -> DeclaredProgram:
    given: dict[str, Any] = {
        "name": "count",
        "description": "Count words.",
        "effect": "read",
        "command": ["/usr/bin/python3", "run.py"],
        "folder": folder,
        "input_schema": SCHEMA,
        **options,
    }
    return program(**given)


def test_a_program_is_a_tool_of_the_kind_sandbox(folder: Path) -> None:
    tool = declared(folder, files=["words.txt"], limits={"cpu_s": 3}, secret_environment={"TOKEN": "api_token"})
    spec = tool.spec(tenant="acme")
    assert (spec.name, spec.effect, spec.tenant) == ("count", Effect.READ, "acme")
    assert (spec.handler.kind, spec.handler.target) == ("sandbox", "/usr/bin/python3 run.py")
    assert spec.secrets == ("api_token",)
    assert isinstance(tool.code, Program)
    assert [each.place for each in tool.code.files] == ["run.py", "words.txt"]
    assert (tool.code.limits, tool.code.pinned) == (SandboxLimits(cpu_s=3), "")


@pytest.mark.requirement("EXEC-7")
@pytest.mark.parametrize("name", ["run.py", "words.txt"])
def test_a_changed_file_is_a_changed_tool(folder: Path, name: str) -> None:
    before = declared(folder, files=["words.txt"]).spec()
    assert spec_digest(declared(folder, files=["words.txt"]).spec()) == spec_digest(before)
    (folder / name).write_text("changed")
    assert spec_digest(declared(folder, files=["words.txt"]).spec()) != spec_digest(before)


def test_an_executable_of_the_machine_is_the_program_where_it_has_no_files(folder: Path) -> None:
    assert len(declared(folder, command=["/bin/sh", "-c", "echo 1"]).code.pinned) == 64


def test_files_out_make_the_result_an_object_with_handles(folder: Path) -> None:
    tool = declared(folder, effect="write", files_out=str(folder / "out"), output_schema={"type": "integer"})
    schema = tool.spec().output_schema
    assert schema is not None
    assert schema.value == {
        "type": "object",
        "properties": {"result": {"type": "integer"}, "files": {"type": "array"}},
        "required": ["result", "files"],
    }


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"command": ["/usr/bin/python3", "run.py"], "effect": "write"}, "nothing leaves its sandbox"),
        ({"effect": "wrote"}, "effect is read"),
        ({"command": []}, "the command is empty"),
        ({"command": "run.py"}, "command: it must be a list"),
        ({"command": ["/usr/bin/python3", "other.py"]}, "there is no other.py in"),
        ({"files": ["missing.txt"]}, "missing.txt cannot be read"),
        ({"input_schema": None}, "it needs a name, a description and an input_schema"),
        ({"description": ""}, "it needs a name, a description and an input_schema"),
        ({"reconcile": print}, "a program has no reconcile function"),
        ({"exit_codes": {3: "MISSING"}}, "exit_codes names 'MISSING', which errors lacks"),
        ({"exit_codes": {"3": "MISSING"}}, "exit_codes is a mapping of exit codes"),
        ({"limits": {"cpu": 3}}, "there is no 'cpu'"),
        ({"comand": ["x"]}, "there is no 'comand'; is it 'command'?"),
        ({"files_in": {"page": "/srv"}}, "files_in names 'page'"),
    ],
)
def test_what_contradicts_itself_is_refused(folder: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecInvalid) as refused:
        declared(folder, **options)
    assert sentence in str(refused.value)


def test_exit_codes_mean_errors_of_the_contract(folder: Path) -> None:
    tool = declared(folder, exit_codes={3: "MISSING"}, errors=[ErrorContract("MISSING")])
    assert tool.code.exit_codes == {3: "MISSING"}
