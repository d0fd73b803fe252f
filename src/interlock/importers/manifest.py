"""Declares tools by a YAML manifest: the same as the decorator says, with the functions named `module:function`.

    tools:
      - handler: drafts:save_draft
        effect: write
        key: [draft_id]
        resource: {type: Draft, id: draft_id}
        reconcile: drafts:find_draft

Schema and description may stand here too; what does not is read from the function, as the decorator does.

A tool with `command` in place of `handler` is a program in a sandbox; its files lie in the manifest's folder, or in the
`folder` that it names from there. One with `url` is an HTTP tool, with the options of `http_tool`:

      - name: read_order
        description: Read an order by its number.
        effect: read
        method: GET
        url: https://api.example.com/v1/orders/{order_id}
        parameters: [{name: order_id, place: path}]

One with `target` is a gRPC tool, with the options of `grpc_tool`; its `descriptor` is a file in the manifest's folder.
One with `server` is an MCP tool, with the options of `mcp_tool`; a command of its server is started in that folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_type_hints

from interlock.core.errors import SpecInvalid
from interlock.core.tool import ToolSpec
from interlock.declare import Declared, DeclaredProgram, HttpTool, ToolOptions, program, tool
from interlock.declare.http import http_tool
from interlock.declare.http_options import HttpOptions
from interlock.declare.program import PROGRAM_VALUES, ProgramOptions
from interlock.declare.typed_values import check_keys, typed
from interlock.importers.yaml_text import read_yaml

if TYPE_CHECKING:
    from interlock.declare.grpc import GrpcTool
    from interlock.declare.mcp import McpTool

Load = Callable[[str], Callable[..., object]]
Manifested: TypeAlias = "Declared[..., object] | DeclaredProgram | HttpTool | GrpcTool | McpTool"

_FUNCTIONS = ("resolve", "reconcile", "precondition")
"""Keys that name a function beside the handler."""


def _resource(value: object, path: str) -> tuple[str, str]:
    found: dict[str, str] = typed(value, dict[str, str], path=path)
    check_keys(found, ["type", "id"], path=path)
    if len(found) < 2:
        raise SpecInvalid(f"{path}: it needs type and id")
    return found["type"], found["id"]


_VALUES: Mapping[str, Any] = {
    **{
        name: hint
        for name, hint in get_type_hints(ToolSpec).items()
        if name not in {"handler", "tenant", "source", "idempotency", "reconcile", "precondition"}
    },
    "key": tuple[str, ...],
    "caller_key_required": bool,
    "key_lifetime_s": int,
    "input_schema": dict[str, Any],
    "output_schema": dict[str, Any] | None,
    "examples": dict[str, dict[str, Any]],
    "resource": _resource,
}
"""The type of every other key: what `ToolSpec` says, or the shorter form of the decorator."""


def declared(path: Path) -> tuple[Manifested, ...]:
    """The tools of a manifest file. Raises `SpecInvalid` naming file and place."""
    try:
        return load_manifest(path.read_text(encoding="utf-8"), folder=path.parent)
    except (SpecInvalid, UnicodeDecodeError) as fault:
        raise SpecInvalid(f"{path.name}: {fault}") from fault


def load_manifest(text: str, *, load: Load | None = None, folder: Path | None = None) -> tuple[Manifested, ...]:
    """The tools of one manifest: a list under `tools`, or a single tool.

    `load` finds the functions by name, `folder` is where the files of programs lie.
    """
    read = partial(_tool, load=load or load_function, folder=folder or Path())
    document = read_yaml(text)
    if not isinstance(document, dict):
        raise SpecInvalid("a manifest is a mapping with the list tools:")
    if "tools" not in document:
        return (read(document, path="tool"),)
    check_keys(document, ["tools"], path="manifest")
    tools = document["tools"]
    if not isinstance(tools, list):
        raise SpecInvalid("tools: it must be a list")
    return tuple(read(each, path=f"tools[{at}]") for at, each in enumerate(tools))


def load_function(name: str) -> Callable[..., object]:
    """The function that `module:function` names, a dotted attribute included. Its module is imported."""
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise SpecInvalid(f"{name!r} must be written as module:function")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as fault:
        raise SpecInvalid(f"{name} cannot be loaded: {fault}") from fault
    if not callable(found):
        raise SpecInvalid(f"{name} is no function")
    return found if not isinstance(found, Declared) else found.functions.handler


def _tool(given: object, *, load: Load, folder: Path, path: str) -> Manifested:
    if not isinstance(given, dict):
        raise SpecInvalid(f"{path}: it must be a mapping of names to values")
    if "command" in given:
        return _of_program(given, folder=folder, path=path)
    if "url" in given:
        return _of_request(given, path=path)
    if "target" in given:
        return _of_grpc(given, folder=folder, path=path)
    if "server" in given:
        return _of_mcp(given, folder=folder, path=path)
    return _of_function(given, load=load, path=path)


def _of_program(given: dict[str, Any], *, folder: Path, path: str) -> DeclaredProgram:
    check_keys(given, ["folder", "exit_codes", *PROGRAM_VALUES, *_VALUES], path=path)
    values = {name: _value(given[name], name, path=f"{path}.{name}") for name in _VALUES if name in given}
    own = {name: given[name] for name in PROGRAM_VALUES if name in given}
    codes = typed(given.get("exit_codes", {}), dict[str, str], path=f"{path}.exit_codes")
    options: ProgramOptions = {**values, **own}  # type: ignore[typeddict-item]
    options["folder"] = folder / typed(given.get("folder", ""), str, path=f"{path}.folder")
    options["exit_codes"] = {int(code) if code.isdecimal() else -1: error for code, error in codes.items()}
    try:
        return program(**options)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault


def _of_request(given: dict[str, Any], *, path: str) -> HttpTool:
    resource = {"resource": _resource(given["resource"], f"{path}.resource")} if "resource" in given else {}
    options: HttpOptions = {**given, **resource}  # type: ignore[typeddict-item]
    try:
        return http_tool(**options)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault


def _of_grpc(given: dict[str, Any], *, folder: Path, path: str) -> GrpcTool:
    """What declares these needs an extra, so it is loaded where one is there."""
    options = {**given}
    if "resource" in given:
        options["resource"] = _resource(given["resource"], f"{path}.resource")
    if "descriptor" in given:
        options["descriptor"] = folder / typed(given["descriptor"], str, path=f"{path}.descriptor")
    try:
        found: Any = load_function("interlock.declare.grpc:grpc_tool")(**options)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault
    tool: GrpcTool = found
    return tool


def _of_mcp(given: dict[str, Any], *, folder: Path, path: str) -> McpTool:
    """Loaded where one is there, as the others that few have."""
    options = {**given}
    if "resource" in given:
        options["resource"] = _resource(given["resource"], f"{path}.resource")
    server = given["server"]
    if isinstance(server, dict) and "command" in server:
        place = typed(server.get("folder", ""), str, path=f"{path}.server.folder")
        options["server"] = {**server, "folder": str(folder / place)}
    try:
        found: Any = load_function("interlock.declare.mcp:mcp_tool")(**options)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault
    tool: McpTool = found
    return tool


def _of_function(given: dict[str, Any], *, load: Load, path: str) -> Declared[..., object]:
    check_keys(given, ["handler", *_FUNCTIONS, *_VALUES], path=path)
    named = {name: typed(given[name], str, path=f"{path}.{name}") for name in ("handler", *_FUNCTIONS) if name in given}
    if "handler" not in named:
        raise SpecInvalid(
            f"{path}: handler is missing; name a function as module:function, or give a command, url, target or server"
        )
    functions = {name: load(function) for name, function in named.items()}
    handler = functions.pop("handler")
    values = {name: _value(given[name], name, path=f"{path}.{name}") for name in _VALUES if name in given}
    options: ToolOptions = {**functions, **values}  # type: ignore[typeddict-item]
    try:
        return tool(**options)(handler)
    except SpecInvalid as fault:
        raise SpecInvalid(f"{path}: {fault}") from fault


def _value(value: object, name: str, *, path: str) -> object:
    hint = _VALUES[name]
    return _resource(value, path) if hint is _resource else typed(value, hint, path=path)
