"""What a decision needs to know is looked up anew for each; whatever the host's code does, what is missing denies."""

import logging

import pytest

from interlock import Host, Resource, ToolCall, tool
from interlock.core.canonical import Json
from interlock.core.operation import Operation
from tests.gates import ALICE, AnyTool, code, opened

OWNED = 'permit (principal, action == Action::"publish", resource is Doc) when { resource.owner == principal.id };'


class Broken:
    """A fact source that raises, with words that nobody but the log may see."""

    async def fetch(self, names: frozenset[str], operation: Operation) -> dict[str, Json]:
        raise RuntimeError("password=hunter2secret")


def publish(owner: object) -> AnyTool:
    def resolve(name: str) -> Resource:
        if isinstance(owner, Exception):
            raise owner
        return Resource("Doc", name, "7", {"owner": str(owner)})

    @tool(effect="read", resource=("Doc", "name"), resolve=resolve, name="publish")
    async def handler(name: str) -> str:
        """Publish a document."""
        return name

    return handler


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize(
    ("owner", "ends"), [("alice", "ok"), ("bob", "PERMISSION_DENIED"), (KeyError("x"), "PERMISSION_DENIED")]
)
async def test_policy_sees_what_the_resolver_knows_and_denies_where_it_fails(owner: object, ends: str) -> None:
    async with opened(":memory:", [publish(owner)], OWNED) as gate:
        assert code(await gate.call(ToolCall("c1", "publish", {"name": "d"}), principal=ALICE)) == ends


@pytest.mark.requirement("POL-8", "OBS-5")
async def test_a_fact_source_that_raises_denies_and_its_words_are_redacted_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = "permit (principal, action, resource) when { context.facts.score < 5 };"
    host = Host(facts=Broken(), fact_names=frozenset({"score"}))
    async with opened(":memory:", [publish("alice")], policy, host=host) as gate:
        with caplog.at_level(logging.WARNING):
            seen = await gate.call(ToolCall("c1", "publish", {"name": "d"}), principal=ALICE)
    assert code(seen) == "PERMISSION_DENIED"
    assert "facts for publish did not arrive" in caplog.text
    assert "hunter2secret" not in caplog.text + str(seen)


@pytest.mark.requirement("POL-8")
async def test_without_a_fact_source_a_policy_that_reads_one_denies() -> None:
    policy = "permit (principal, action, resource) when { context.facts.score < 5 };"
    async with opened(":memory:", [publish("alice")], policy, host=Host(fact_names=frozenset({"score"}))) as gate:
        assert code(await gate.call(ToolCall("c1", "publish", {"name": "d"}), principal=ALICE)) == "PERMISSION_DENIED"


NO_LEAK = """
permit (principal, action, resource);
forbid (principal, action, resource) when { context.run.confidentiality >= 2 && context.tool.external };
"""


@pytest.mark.requirement("POL-6")
async def test_a_rule_on_what_was_read_warns_once_of_calls_that_belong_to_no_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with opened(":memory:", [publish("alice")], NO_LEAK) as gate:
        await gate.call(ToolCall("c1", "publish", {"name": "d"}), principal=ALICE, run="r1")
        assert "context.run" not in caplog.text
        for number in range(3):
            await gate.call(ToolCall(f"c{number}", "publish", {"name": "d"}), principal=ALICE, task="t")
    assert caplog.text.count("policies about publish read context.run") == 1


async def test_no_rule_on_what_was_read_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(":memory:", [publish("alice")]) as gate:
        await gate.call(ToolCall("c1", "publish", {"name": "d"}), principal=ALICE)
    assert caplog.text == ""
