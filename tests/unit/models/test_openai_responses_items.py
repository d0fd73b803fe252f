"""A call is what only the client can answer; what the provider did or does itself is never handed out to run."""

import json

import pytest

from interlock.models.openai_responses import read_response
from interlock.models.turn import CallKind
from tests.unit.models.responses_responses import body_of, call_of, message_of


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize(
    ("item", "kind", "name", "arguments"),
    [
        ({"type": "function_call", "name": "f", "arguments": None}, CallKind.FUNCTION, "f", ""),
        ({"type": "function_call", "name": "f", "arguments": {"a": 1}}, CallKind.FUNCTION, "f", '{"a": 1}'),
        ({"type": "custom_tool_call", "name": "sql", "input": "SELECT 1"}, CallKind.CUSTOM, "sql", "SELECT 1"),
        (
            {"type": "tool_search_call", "execution": "client", "arguments": {"q": 1}},
            CallKind.TOOL_SEARCH,
            "tool_search",
            '{"q": 1}',
        ),
        ({"type": "apply_patch_call", "operation": {"p": 1}}, CallKind.APPLY_PATCH, "apply_patch", '{"p": 1}'),
        ({"type": "shell_call", "action": {"commands": []}}, CallKind.SHELL, "shell", '{"commands": []}'),
        (
            {"type": "shell_call", "action": {}, "environment": {"type": "local"}},
            CallKind.SHELL,
            "shell",
            "{}",
        ),
        ({"type": "local_shell_call", "action": {"a": 1}}, CallKind.LOCAL_SHELL, "local_shell", '{"a": 1}'),
        ({"type": "computer_call", "action": {"x": 1}}, CallKind.COMPUTER, "computer", '{"x": 1}'),
        ({"type": "computer_call", "actions": [1]}, CallKind.COMPUTER, "computer", '{"actions": [1]}'),
    ],
)
def test_what_only_the_client_can_answer_is_a_call(
    item: dict[str, object], kind: CallKind, name: str, arguments: str
) -> None:
    turn = read_response(body_of(item | {"call_id": "c1", "id": "i1"}))
    (call,) = turn.runnable
    assert (call.kind, call.name, call.arguments_raw, call.wire_id, call.item_id) == (kind, name, arguments, "c1", "i1")
    assert turn.provider_calls == ()


@pytest.mark.requirement("LOOP-4")
def test_an_approval_request_of_a_hosted_server_is_a_call_under_its_items_id() -> None:
    request = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}", "server_label": "bank"}
    (call,) = read_response(body_of(request)).runnable
    assert (call.kind, call.reply_id, call.server, call.name) == (CallKind.MCP_APPROVAL, "mcpr_1", "bank", "pay")


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize(
    "item",
    [
        {"type": "web_search_call"},
        {"type": "file_search_call"},
        {"type": "code_interpreter_call"},
        {"type": "image_generation_call"},
        {"type": "mcp_call", "name": "ask", "arguments": "{}", "server_label": "wiki"},
        {"type": "mcp_list_tools", "server_label": "wiki"},
        {"type": "program", "code": "tools.f()"},
        {"type": "thing_of_next_year_call", "call_id": "c1"},
        {"type": "tool_search_call", "execution": "server", "call_id": None},
        {"type": "tool_search_call", "call_id": "c1"},
        {"type": "shell_call", "call_id": "c1", "environment": {"type": "container_reference"}},
    ],
)
def test_what_the_provider_does_itself_is_recorded_and_never_handed_out(item: dict[str, object]) -> None:
    turn = read_response(body_of(item | {"id": "i1", "status": "completed"}, message_of()))
    assert turn.calls == ()
    (call,) = turn.provider_calls
    assert json.loads(call.facts)["status"] == "completed"
    assert turn.items == (item["type"], "message")


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize("kind", ["shell_call", "function_call", "apply_patch_call"])
def test_a_call_whose_output_stands_beside_it_was_answered_already(kind: str) -> None:
    turn = read_response(
        body_of({"type": kind, "call_id": "c1", "name": "f"}, {"type": f"{kind}_output", "call_id": "c1"})
    )
    assert (turn.calls, len(turn.provider_calls)) == ((), 1)


def test_a_call_of_a_program_is_a_call_like_any_other_and_says_whose_it_is() -> None:
    caller = {"type": "program", "caller_id": "p1"}
    (call,) = read_response(body_of(call_of(caller=caller, status="in_progress", namespace="shop"))).runnable
    assert (json.loads(call.caller), call.namespace) == (caller, "shop")


def test_equal_labels_and_missing_ones_become_labels_of_their_own() -> None:
    calls = read_response(body_of(call_of(), call_of(), call_of(call_id=""), call_of(call_id="call_1"))).calls
    assert [call.wire_id for call in calls] == ["c1", "c1", None, "call_1"]
    assert [call.reply_id for call in calls] == ["c1", "call_1_", "call_2", "call_1"]


@pytest.mark.parametrize(
    "item", [{}, {"type": 3}, {"type": None, "role": "assistant"}, {"type": "message", "content": 3}]
)
def test_an_item_that_says_nothing_is_no_call(item: dict[str, object]) -> None:
    turn = read_response(body_of(item))
    assert (turn.calls, turn.provider_calls, turn.text) == ((), (), "")
