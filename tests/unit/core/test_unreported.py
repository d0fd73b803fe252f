"""What is charged where nobody tells what something cost."""

import pytest

from interlock.core.budget import NOTHING, Amounts
from interlock.core.catalogue import Catalogue
from interlock.core.tool import Cost
from interlock.core.tool_compile import compile_tool
from interlock.core.unreported import declared_most, held_by_request
from tests.unit.core.call_cases import spec

pytestmark = pytest.mark.requirement("BUD-3")


def test_a_call_is_charged_the_most_that_its_tool_declares() -> None:
    tool = compile_tool(spec(cost=Cost(max_micros=70)))
    catalogue = Catalogue({(tool.spec.tenant, tool.spec.name): tool})
    assert declared_most(catalogue, tenant="acme", tool=tool.spec.name) == Amounts(cost_micros=70)
    assert declared_most(catalogue, tenant="acme", tool="other") == NOTHING


def test_a_request_to_a_model_is_charged_what_it_held() -> None:
    assert held_by_request(b'{"tokens":9,"cost_micros":4}') == Amounts(tokens=9, cost_micros=4)
    assert held_by_request(b"") == NOTHING
    assert held_by_request(b'["x"]') == NOTHING
