"""What a run is started with is looked at first: what is misspelled, missing or of another kind is named."""

from typing import Any

import pytest

from interlock import Gate
from interlock.core.errors import SettingsInvalid
from interlock.loop.limits import RunLimits
from interlock.loop.machine import State
from interlock.testing.models import ScriptedModel
from tests.gates import ALICE, Shelf
from tests.runs import opened, start

pytestmark = pytest.mark.requirement("LOOP-1")

GOOD: dict[str, Any] = {"model": "scripted", "task": "Do it.", "principal": ALICE}


async def refused(gate: Gate, options: dict[str, Any]) -> str:
    with pytest.raises(SettingsInvalid) as wrong:
        await gate.runs.start(**options)
    return str(wrong.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"taks": "Do it."}, "a run has no option 'taks' (do you mean 'task'?); there are model, task, "),
        ({"principal": "alice"}, "principal is a Principal, such as Principal(tenant, id), not 'alice'"),
        ({"check": "is_done"}, "check is a Check(tool, arguments), not 'is_done'"),
        ({"limits": 5}, "limits is RunLimits(...), not 5"),
        ({"agent": 5}, "agent is an Agent, or its name, not 5"),
        ({"tools": "search"}, "tools is a collection of names, not one text: give tools=['search']"),
        (
            {"limits": RunLimits(calls_per_tool={"serach": 1})},
            "limits: calls_per_tool names 'serach', which is no tool of this run (do you mean 'search'?): look how",
        ),
        ({"tools": ["save"], "limits": RunLimits(calls_per_tool={"search": 1})}, "limits: calls_per_tool names"),
    ],
)
async def test_what_is_no_option_is_named_with_what_it_may_have_meant(changes: dict[str, Any], says: str) -> None:
    async with opened(":memory:", ScriptedModel([]), Shelf().tools) as gate:
        assert (await refused(gate, {**GOOD, **changes})).startswith(says)
        assert await gate.runs.list(by=ALICE) == ()


@pytest.mark.parametrize("name", GOOD)
async def test_what_a_run_needs_is_named_where_it_is_missing(name: str) -> None:
    async with opened(":memory:", ScriptedModel([]), Shelf().tools) as gate:
        said = await refused(gate, {each: value for each, value in GOOD.items() if each != name})
    assert said == f"a run needs {name}=...: give it to runs.start"


@pytest.mark.parametrize(("more", "warns"), [({}, True), ({"tools": ()}, False)])
async def test_a_principal_who_sees_no_tool_at_all_is_warned_of(
    more: dict[str, Any], warns: bool, caplog: pytest.LogCaptureFixture
) -> None:
    policy = 'permit (principal in Group::"nobody", action, resource);'
    async with opened(":memory:", ScriptedModel(["done"]), Shelf().tools, policy) as gate:
        assert (await (await start(gate, **more)).result()).state is State.COMPLETE
    assert ("sees 0 tools: compare owner, groups and policies" in caplog.text) is warns
