"""Declares a program of the operating system as a tool, to be run in a sandbox.

It gets the call's arguments as one JSON object on stdin, prints its result as JSON on stdout, and ends with 0, or with
an exit code that its contract gives a meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import file_digest
from pathlib import Path
from typing import Any, Unpack, cast

from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.program import (
    KIND,
    PROGRAM_BYTES_MAX,
    Program,
    ProgramFile,
    SandboxLimits,
    program_fingerprint,
    wrong_with,
)
from interlock.core.spec_check import check_spec
from interlock.core.tool import SHARED, Document, Entrypoint, ToolSpec
from interlock.declare.contract import contract, json_object
from interlock.declare.options import ToolOptions, checked
from interlock.declare.typed_values import check_keys, typed


class ProgramOptions(ToolOptions, total=False):
    """What `program(...)` takes: the options of a tool, and those of a program."""

    command: Sequence[str]
    folder: str | Path
    files: Sequence[str]
    limits: SandboxLimits
    environment: Mapping[str, str]
    secret_environment: Mapping[str, str]
    exit_codes: Mapping[int, str]
    files_in: Mapping[str, str]
    files_out: str
    files_out_max: int


PROGRAM_VALUES: Mapping[str, Any] = {
    "command": tuple[str, ...],
    "files": tuple[str, ...],
    "limits": SandboxLimits,
    "environment": dict[str, str],
    "secret_environment": dict[str, str],
    "files_in": dict[str, str],
    "files_out": str,
    "files_out_max": int,
}
"""The type of each option of a program that is plain data."""

_OWN = ("folder", "exit_codes", *PROGRAM_VALUES)
SCRIPTS = (".py", ".sh", ".js", ".mjs", ".rb", ".pl", ".php", ".lua", ".jar", ".wasm")
"""Ends of names by which a file of the program is meant that must be there."""

_NOT_OF_A_PROGRAM = ("resolve", "reconcile", "precondition")
"""Functions of Python that a program has not: what it does, it does in its sandbox."""


class DeclaredProgram:
    """A program as a tool. `code` is what its runner is given."""

    def __init__(self, options: ProgramOptions) -> None:
        given: dict[str, Any] = {**options}
        self.name = str(given.get("name", ""))
        check_keys(given, ProgramOptions.__annotations__, path=f"the options of {self.name}")
        for each in _NOT_OF_A_PROGRAM:
            if each in given:
                raise SpecInvalid(f"{self.name}: a program has no {each} function")
        own = {each: given.pop(each) for each in _OWN if each in given}
        self.code = _program(own, name=self.name)
        self._spec = _spec(checked(cast(ToolOptions, given), tool=self.name), self.code, name=self.name)
        check_spec(self.spec())

    def spec(self, *, tenant: str = SHARED, source: str = "program") -> ToolSpec:
        """The tool's contract, for one tenant or for all."""
        return ToolSpec(**self._spec, tenant=tenant, source=source)


def program(**options: Unpack[ProgramOptions]) -> DeclaredProgram:
    """Declare a program as a tool. It needs `name`, `description`, `effect`, `command` and `input_schema`; beside them:

    - `folder`: where the program's own files lie (default: the working directory), `files`: more of them than the
      command names. They are laid into the sandbox below /app, where the program starts. Their bytes are part of the
      tool: one that was changed is not run, and needs a new `version`. Where there are none, the executable is it.
    - `limits`: the `SandboxLimits`. `timeout_ms` bounds it by the clock.
    - `environment`: variables with their values, `secret_environment`: variables with the secrets that fill them.
    - `exit_codes`: exit codes with the codes of the `errors` that they mean.
    - `files_in`: arguments with the folders in which they name a file, which the program reads as /in/<argument>. What
      is relative lies in `folder`.
    - `files_out`: a folder for the files that the program leaves in /out, at most `files_out_max`. The result is then
      `{"result": ..., "files": [...]}`, where the handle of a file is its path in that folder.

    `{tenant}` in a folder is the caller's. All other options are those of `tool`. Nothing leaves a sandbox but what is
    printed and `files_out`, so a program without it is a `read`. Raises `SpecInvalid`.
    """
    return DeclaredProgram(options)


def _program(given: Mapping[str, Any], *, name: str) -> Program:
    values = {
        each: typed(value, PROGRAM_VALUES[each], path=f"{name}: {each}")
        for each, value in given.items()
        if each in PROGRAM_VALUES
    }
    codes = given.get("exit_codes", {})
    if not isinstance(codes, Mapping) or not all(type(each) is int for each in codes):
        raise SpecInvalid(f"{name}: exit_codes is a mapping of exit codes to error codes")
    command = values.pop("command", ())
    folder = Path(given.get("folder", ".")).resolve()
    files = _files(command, values.pop("files", ()), folder=folder, name=name)
    pinned = "" if files or not command else _digest(Path(command[0]), name=name)
    exit_codes = {code: typed(each, str, path=f"{name}: exit_codes") for code, each in codes.items()}
    secrets = values.pop("secret_environment", {})
    return Program(command, files, pinned, secrets=secrets, exit_codes=exit_codes, folder=str(folder), **values)


def _files(command: Sequence[str], more: Sequence[str], *, folder: Path, name: str) -> tuple[ProgramFile, ...]:
    """The program's own files: what of the command is a relative path of one, and what is named beside it."""
    named = [each for each in command if each and not each.startswith(("/", "-"))]
    own = [each for each in named if (folder / each).is_file()]
    for each in named:
        if each not in own and each.endswith(SCRIPTS):
            raise SpecInvalid(f"{name}: there is no {each} in {folder}")
    places = dict.fromkeys([*own, *more])
    found = tuple(ProgramFile(each, _digest(folder / each, name=name)) for each in places)
    if sum((folder / each.place).stat().st_size for each in found) > PROGRAM_BYTES_MAX:
        raise SpecInvalid(f"{name}: its files are larger than {PROGRAM_BYTES_MAX} bytes")
    return found


def _digest(path: Path, *, name: str) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as fault:
        raise SpecInvalid(f"{name}: {path} cannot be read: {fault.strerror}") from fault


def _spec(options: ToolOptions, code: Program, *, name: str) -> dict[str, Any]:
    """The fields of the `ToolSpec`, without its tenant and source."""
    schema = options.get("input_schema")
    if not name or schema is None or not options.get("description"):
        raise SpecInvalid(f"{name or 'a program'}: it needs a name, a description and an input_schema")
    fields = contract(options, name=name)
    fields["secrets"] = tuple(dict.fromkeys([*fields.get("secrets", ()), *code.secrets.values()]))
    properties = schema.get("properties", {})
    wrong = list(wrong_with(code, arguments=frozenset(properties if isinstance(properties, Mapping) else ())))
    errors = {each.code for each in fields.get("errors", ())}
    wrong += [
        f"exit_codes names {each!r}, which errors lacks" for each in code.exit_codes.values() if each not in errors
    ]
    if fields["effect"] is not Effect.READ and not code.files_out:
        wrong.append("nothing leaves its sandbox, so its effect is read; one that puts files somewhere has files_out")
    if wrong:
        raise SpecInvalid(f"{name}: {'; '.join(wrong)}")
    output = options.get("output_schema")
    return {
        **fields,
        "input_schema": Document.of(json_object(schema)),
        "output_schema": None if output is None else Document.of(_with_files(json_object(output), code)),
        "parameters": tuple(options.get("parameters", ())),
        "handler": Entrypoint(KIND, code.target, program_fingerprint(code)),
    }


def _with_files(output: dict[str, Json], code: Program) -> dict[str, Json]:
    """The schema of the whole result: what is declared is what the program prints."""
    if not code.files_out:
        return output
    properties: dict[str, Json] = {"result": output, "files": {"type": "array"}}
    return {"type": "object", "properties": properties, "required": ["result", "files"]}
