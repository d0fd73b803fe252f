"""Tools as a host declares them: of Python functions (`tool`), of programs (`program`), of requests (`http_tool`).

Calls of gRPC are `grpc_tool` in `interlock.declare.grpc`, which needs an extra; those of MCP `mcp_tool` in
`interlock.declare.mcp`, whose runner needs one.
"""

from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool
from interlock.declare.http import HttpTool, http_tool
from interlock.declare.options import ToolOptions
from interlock.declare.program import DeclaredProgram, program

__all__ = ["Arg", "Declared", "DeclaredProgram", "HttpTool", "ToolOptions", "http_tool", "program", "tool"]
