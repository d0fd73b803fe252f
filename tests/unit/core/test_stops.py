"""What a stop covers, and that it is kept and read again as it was said."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.errors import MoveRefused
from interlock.core.stops import Stop, StopScope, refuse_unkept, stop_from_bytes, stop_to_bytes, stopping
from interlock.core.tool import ToolSpec, Vendor
from tests.unit.core.call_cases import spec

pytestmark = pytest.mark.requirement("REG-2")

SHARED_TOOL = spec("save", source="mcp:x", vendor=Vendor("Acme Ltd"))
OWN = replace(SHARED_TOOL, tenant="acme")


def stop(**scope: str) -> Stop:
    return Stop(id="s", scope=StopScope(**{"tenant": "*", **scope}), reason="why", by="olga", at_us=1)


@pytest.mark.parametrize(
    ("scope", "found", "tenant", "covers"),
    [
        ({}, SHARED_TOOL, "acme", True),
        ({"source": "mcp:x"}, SHARED_TOOL, "acme", True),
        ({"source": "mcp:y"}, SHARED_TOOL, "acme", False),
        ({"vendor": "Acme Ltd"}, SHARED_TOOL, "acme", True),
        ({"vendor": "Acme"}, SHARED_TOOL, "acme", False),
        ({"tool": "save"}, SHARED_TOOL, "acme", True),
        ({"tool": "save", "source": "mcp:y"}, SHARED_TOOL, "acme", False),
        ({"tenant": "acme"}, SHARED_TOOL, "acme", True),
        ({"tenant": "acme"}, SHARED_TOOL, "globex", False),
        ({"tenant": "acme"}, OWN, "acme", True),
        ({"tenant": "globex"}, OWN, "acme", False),
        ({"tenant": "acme", "tool": "other"}, OWN, "acme", False),
    ],
)
def test_it_closes_what_fits_all_that_is_named_and_for_a_tenant_only_for_that_tenant(
    scope: dict[str, str], found: ToolSpec, tenant: str, *, covers: bool
) -> None:
    assert bool(stopping([stop(**scope)], found, tenant=tenant)) is covers


def test_what_names_nothing_stops_no_tool_that_has_no_vendor_or_source_by_accident() -> None:
    plain = spec("plain")
    assert not stopping([stop(vendor="x")], plain, tenant="acme")
    assert stop(vendor="V", source="S").scope.words == "every tool of the source S of the vendor V"
    assert stop(tenant="acme", tool="save").scope.words == "the tool save of the tenant acme"


@given(st.builds(StopScope, tenant=st.text(), source=st.text(), vendor=st.text(), tool=st.text()))
def test_a_scope_that_is_kept_is_read_again_and_one_that_cannot_be_a_name_is_refused(scope: StopScope) -> None:
    try:
        refuse_unkept(scope)
    except MoveRefused:
        return
    kept = replace(stop(), scope=scope)
    assert stop_from_bytes(stop_to_bytes(kept)) == kept


@pytest.mark.parametrize("bad", ["x" * 513, "a\x00", "\ud800", " a", "a\n"])
@pytest.mark.parametrize("part", ["tenant", "source", "vendor", "tool"])
def test_hostile_names_are_refused(part: str, bad: str) -> None:
    with pytest.raises(MoveRefused):
        refuse_unkept(StopScope(**{"tenant": "*", part: bad}))
    with pytest.raises(MoveRefused):
        refuse_unkept(StopScope(tenant=""))
