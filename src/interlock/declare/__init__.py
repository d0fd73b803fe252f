"""Tools as a host declares them: `tool` a Python function (`Arg` says more of a parameter), `program` a program."""

from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool
from interlock.declare.options import ToolOptions
from interlock.declare.program import DeclaredProgram, program

__all__ = ["Arg", "Declared", "DeclaredProgram", "ToolOptions", "program", "tool"]
