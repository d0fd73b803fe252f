"""Python functions as tools: `tool` declares one, `Arg` says more of a parameter than its type does."""

from interlock.declare.arg import Arg
from interlock.declare.decorator import Declared, tool
from interlock.declare.options import ToolOptions

__all__ = ["Arg", "Declared", "ToolOptions", "tool"]
