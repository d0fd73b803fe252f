"""What a hosted server asks to be allowed is a proposal: the gate judges it, and only its leave approves."""

import json

import pytest

from interlock import Gate, PolicySource, ToolCall
from interlock.core.observation import Status
from interlock.declare import tool
from interlock.models import openai_responses
from interlock.models.catalogue_names import catalogue_name
from interlock.models.codec import Answer
from interlock.models.names import spell
from tests.gates import ALICE

ASKED = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "zip1",
    "name": "create",
    "arguments": '{"url": "https://a.example/"}',
}
DONE = {"type": "mcp_call", "id": "mcp_1", "server_label": "zip1", "name": "create", "arguments": "{}", "output": "x"}
SERVERS = """
@id("zip1") permit (principal, action, resource == Tool::"mcp:zip1/create")
  when { context.args.url like "https://a.example/*" };
"""


@pytest.mark.anyio
@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize(("policy", "approve"), [(SERVERS, True), (SERVERS.replace("a.example", "b.example"), False)])
async def test_a_hosted_servers_call_runs_only_by_leave_of_the_gate(policy: str, approve: bool) -> None:
    ran = []

    @tool(effect="write", owner="eng", name="mcp:zip1/create")
    async def let(url: str) -> str:
        """Shorten a link at the hosted server."""
        return f"let {url}"

    @tool(effect="write", owner="eng", name="create")
    async def create(url: str) -> str:
        """Create a link of our own."""
        ran.append(url)
        return "made"

    body = {"status": "completed", "output": [DONE, ASKED]}
    turn = openai_responses.read_response(json.dumps(body).encode())
    (call,) = turn.runnable
    assert [work.kind for work in turn.provider_calls] == ["mcp_call"]
    async with Gate.open(tools=[let, create], policies=[PolicySource("servers", policy)]) as gate:
        proposal = ToolCall(call.reply_id, catalogue_name(call, spell(["create"])), call.arguments_raw)
        seen = await gate.call(proposal, principal=ALICE, run="r")
        let_run = seen.status is Status.OK
        text = openai_responses.APPROVED if let_run else gate.for_model(seen)
    (answer,) = openai_responses.results([Answer(call, text, failed=not let_run)])
    assert (answer["type"], answer["approval_request_id"]) == ("mcp_approval_response", "mcpr_1")
    assert answer["approve"] is approve
    assert ("PERMISSION_DENIED" in str(answer.get("reason"))) is not approve
    assert ran == []
