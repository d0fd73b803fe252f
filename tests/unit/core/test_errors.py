"""The tree of faults is the one that its docstring draws."""

import inspect
import re

from interlock.core import errors
from interlock.core.errors import InterlockError, ToolFault


def test_every_fault_is_an_interlock_error_and_drawn_in_the_tree() -> None:
    kinds = {each.__name__ for _, each in inspect.getmembers(errors, inspect.isclass)}
    drawn = set(re.findall(r"(?:[├└]── |^ {4})([A-Z]\w+)", errors.__doc__ or "", re.MULTILINE))
    assert kinds == drawn
    assert all(issubclass(getattr(errors, kind), InterlockError) for kind in kinds)


def test_a_tool_fault_carries_the_tools_own_code() -> None:
    fault = ToolFault("OUT_OF_STOCK", "none left", retry_after_s=3)
    assert (fault.code, fault.message, fault.retry_after_s, str(fault)) == ("OUT_OF_STOCK", "none left", 3, "none left")
    assert ToolFault("X").message == "X"
