"""From a spec to the tool that a decision reads, with everything that follows from it worked out."""

from __future__ import annotations

from interlock.core.catalogue import Tool
from interlock.core.lifecycle import Lifecycle
from interlock.core.retirement import Retirement
from interlock.core.tool import ToolSpec, spec_digest


def compile_tool(
    spec: ToolSpec, *, state: Lifecycle = Lifecycle.AVAILABLE, retirement: Retirement | None = None
) -> Tool:
    """The tool that this spec describes. Raises `SchemaInvalid` or `SpecInvalid` where it describes none."""
    tool = Tool(spec, spec_digest(spec), state, retirement)
    tool.work_out()
    return tool
