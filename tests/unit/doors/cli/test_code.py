"""Loading a project's tools: from files and modules, each once, with a sentence for what cannot be loaded."""

import os
import sys
from pathlib import Path

import pytest

from interlock.doors.cli.code import load_tools
from interlock.doors.cli.project import parse_project
from tests.unit.doors.cli.conftest import Cli

TOOL = '''
from interlock import tool
@tool(effect="read")
def {name}() -> str:
    """Read it."""
    return ""
'''


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(text)


def setting(folder: Path, *places: str) -> None:
    write(folder, "interlock.toml", f'[interlock]\ntools = {[*places]}\n[operator]\nid = "a"\n')


def test_tools_come_from_files_and_modules_in_order_and_once(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, "first_tools.py", TOOL.format(name="read_a"))
    write(tmp_path, "pack/__init__.py", "")
    write(tmp_path, "pack/second.py", "from first_tools import read_a\n" + TOOL.format(name="read_b"))
    setting(tmp_path, "first_tools.py", "pack.second")
    assert cli("tools", "check", "--json").document["tools"] == ["read_a", "read_b"]


def test_a_file_is_read_anew_though_it_has_the_size_and_the_second_of_what_was_compiled(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    setting(tmp_path, "edited_tools.py")
    for name in ("read_a", "read_b"):
        write(tmp_path, "edited_tools.py", TOOL.format(name=name))
        os.utime(tmp_path / "edited_tools.py", (1_000_000_000, 1_000_000_000))
        assert cli("tools", "check", "--json").document["tools"] == [name]


PROGRAM = """
from pathlib import Path
from interlock.declare import DeclaredProgram, program
count = program(name="count", description="Count.", effect="read", command=["/bin/sh", "count.sh"],
                input_schema={"type": "object"}, folder=Path(__file__).parent)
"""


@pytest.mark.requirement("TOOL-6")
def test_programs_are_tools_of_a_file_as_functions_are(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, "count.sh", "echo 1")
    write(tmp_path, "counting_tools.py", PROGRAM)
    setting(tmp_path, "counting_tools.py")
    assert cli("tools", "check", "--json").document["tools"] == ["count"]


def test_http_tools_are_tools_of_a_file_and_of_a_manifest(cli: Cli, tmp_path: Path) -> None:
    options = {"description": "Read a page.", "effect": "read", "method": "GET", "url": "https://api.example.com/"}
    of_file = "from interlock import http_tool\nread_page = http_tool(name='read_page', **%r)\n"
    write(tmp_path, "paging_tools.py", of_file % options)
    write(
        tmp_path, "paging.yaml", "\n".join(["name: read_other", *[f"{key}: {value}" for key, value in options.items()]])
    )
    setting(tmp_path, "paging_tools.py", "paging.yaml")
    assert cli("tools", "check", "--json").document["tools"] == ["read_page", "read_other"]


@pytest.mark.requirement("TOOL-5")
def test_a_manifest_declares_tools_as_a_file_does(cli: Cli, tmp_path: Path) -> None:
    write(tmp_path, "plain_functions.py", "def read_it(name: str) -> str:\n    return name\n")
    tool = "handler: plain_functions:read_it\neffect: read\ndescription: Read what has this name.\n"
    write(tmp_path, "more.yaml", tool)
    setting(tmp_path, "more.yaml")
    assert cli("tools", "check", "--json").document["tools"] == ["read_it"]


@pytest.mark.requirement("DOOR-6")
@pytest.mark.parametrize(
    ("name", "text", "code", "says"),
    [
        (
            "broken_tools.py",
            "1/0",
            "TOOLS_INVALID",
            "broken_tools.py cannot be loaded: ZeroDivisionError: division by zero (broken_tools.py, line 1)",
        ),
        ("unread_tools.py", "x = 1\ndef (", "TOOLS_INVALID", "SyntaxError: invalid syntax (unread_tools.py, line 2)"),
        ("exiting_tools.py", "import sys; sys.exit(0)", "TOOLS_INVALID", "cannot be loaded: SystemExit"),
        ("no_tools.py", "", "TOOLS_INVALID", "no_tools.py declares no tool"),
        ("email.py", TOOL.format(name="f"), "TOOLS_INVALID", "has the name of another module"),
        ("absent.module", None, "TOOLS_INVALID", "absent.module cannot be loaded: ModuleNotFoundError"),
        ("absent_file.py", None, "TOOLS_INVALID", "absent_file.py"),
        ("absent.yaml", None, "TOOLS_INVALID", "absent.yaml cannot be read"),
        ("wrong.yaml", "efect: read", "SPEC_INVALID", "wrong.yaml: tool"),
        (
            "untyped.py",
            "from interlock import tool\n@tool(effect='read')\ndef f(x):\n    'Read.'",
            "SPEC_INVALID",
            "(untyped.py, line 2)",
        ),
    ],
)
def test_what_cannot_be_loaded_is_named(
    cli: Cli, tmp_path: Path, name: str, text: str | None, code: str, says: str
) -> None:
    if text is not None:
        write(tmp_path, name, text)
    setting(tmp_path, name)
    ran = cli("tools", "check", "--json")
    assert (ran.code, ran.document["error"]["code"]) == (1, code)
    assert says in ran.document["error"]["message"]
    assert "`interlock tools check`" in ran.document["error"]["next"]


REMOTE = """
from interlock import grpc_tool
from tests.grpc_upstream import ACT, DESCRIPTOR
act = grpc_tool(name="act", description="Act.", effect="write", target="dns:///api.example.com", method=ACT,
                descriptor=DESCRIPTOR)
"""


@pytest.mark.requirement("TOOL-6")
def test_a_grpc_tool_of_a_file_is_one_of_the_tools(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("grpc_reflection", reason="gRPC tools need an extra: pip install 'interlock[grpc]'")
    write(tmp_path, "remote_tools.py", REMOTE)
    setting(tmp_path, "remote_tools.py")
    assert cli("tools", "check", "--json").document["tools"] == ["act"]


def test_a_project_without_tools_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_tools(parse_project('[operator]\nid = "a"', root=tmp_path)) == ()
