"""A call whose cost nobody tells is charged by its tool, a request to a model by what it held."""

from dataclasses import replace

import pytest

from interlock.core.budget import Amounts
from interlock.core.catalogue import Catalogue
from interlock.core.tool import Cost
from interlock.core.tool_compile import compile_tool
from interlock.core.unreported import MODELS
from interlock.ports import StoredOperation
from interlock.runtime.unreported import unreported
from tests.unit.core.call_cases import spec

CALL = StoredOperation("o", "acme", "save_draft", "code", "1", "s", "d", "m", "alice", "c", b"")


@pytest.mark.requirement("BUD-3")
def test_a_call_and_a_request_are_charged_the_most_that_they_can_have_cost() -> None:
    tool = compile_tool(spec("save_draft", cost=Cost(max_micros=70)))
    catalogue = Catalogue({(tool.spec.tenant, "save_draft"): tool})
    assert unreported(CALL, catalogue) == Amounts(cost_micros=70)
    asked = replace(CALL, tool="gpt", source=MODELS, sealed=b'{"tokens":9,"cost_micros":4}')
    assert unreported(asked, catalogue) == Amounts(tokens=9, cost_micros=4)
