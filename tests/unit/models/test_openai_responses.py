"""What the Responses codec sends: declarations, requests, and the history with what came back."""

import json
from dataclasses import replace
from typing import Any

import pytest

from interlock.models.names import spell
from interlock.models.openai_responses import (
    APPROVED,
    Answer,
    Choice,
    Image,
    Options,
    declarations,
    echo,
    read_response,
    read_stream,
    request,
    results,
)
from tests.unit.models.responses_responses import added, body_of, call_of, done, last, message_of, piece

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
OPTIONS = Options(model="small", tokens_max=60, extra={"store": False})
TOOL = {"type": "function", "name": "search", "description": "Look.", "parameters": SCHEMA, "strict": False}
THOUGHT: dict[str, object] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"}


@pytest.mark.requirement("TOOL-4")
def test_a_declaration_says_that_the_schema_is_to_be_taken_as_it_is() -> None:
    assert declarations([("search", "Look.", SCHEMA)], names=spell(["search"])) == [TOOL]


def test_more_tools_than_the_dialect_takes_are_a_fault_of_the_caller() -> None:
    many = [f"tool_{number}" for number in range(129)]
    with pytest.raises(ValueError, match="at most 128"):
        declarations([(name, "", SCHEMA) for name in many], names=spell(many))


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize(
    ("choice", "only", "sent"),
    [
        (Choice.AUTO, [], "auto"),
        (Choice.REQUIRED, [], "required"),
        (Choice.NONE, ["search"], "none"),
        (Choice.REQUIRED, ["search"], {"type": "function", "name": "search"}),
        (
            Choice.AUTO,
            ["search"],
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "search"}]},
        ),
    ],
)
def test_a_request_says_what_was_asked_for(choice: Choice, only: list[str], sent: object) -> None:
    assert request([{"role": "user", "content": "hi"}], options=OPTIONS, tools=[TOOL], choice=choice, only=only) == {
        "model": "small",
        "input": [{"role": "user", "content": "hi"}],
        "max_output_tokens": 60,
        "tools": [TOOL],
        "tool_choice": sent,
        "parallel_tool_calls": False,
        "store": False,
    }


def test_a_request_without_tools_says_nothing_about_tools() -> None:
    body = request([], options=Options(model="m", tokens_max=1, stream=True, temperature=0))
    assert body == {"model": "m", "input": [], "max_output_tokens": 1, "stream": True, "temperature": 0}


@pytest.mark.requirement("LOOP-2")
def test_a_turn_goes_back_item_by_item_as_it_came() -> None:
    items: list[dict[str, object]] = [
        THOUGHT,
        message_of() | {"phase": "commentary"},
        call_of(namespace="n", caller={"type": "direct"}, new=[1.5]),
    ]
    assert echo(read_response(body_of(*items))) == items
    assert echo(read_stream([*map(done, items), last(*items)])) == items


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize("raw", ['{"query": ', "", "[1]", '{"a": NaN}', None])
def test_broken_arguments_are_replaced_in_the_history_and_nowhere_else(raw: str | None) -> None:
    turn = read_response(body_of(call_of(arguments=raw)))
    assert echo(turn) == [call_of(arguments="{}")]
    assert turn.calls[0].arguments_raw == (raw or "")


@pytest.mark.requirement("LOOP-2")
def test_a_name_that_the_model_made_up_goes_back_in_letters_that_servers_take() -> None:
    turn = read_response(body_of(call_of("Search Docs "), call_of("", call_id="c2")))
    assert [item["name"] for item in echo(turn)] == ["Search_Docs_", "unnamed"]
    assert [call.name for call in turn.calls] == ["Search Docs ", ""]


@pytest.mark.requirement("LOOP-2")
def test_every_call_has_a_label_of_its_own_in_the_history() -> None:
    turn = read_response(body_of(call_of(), call_of(), call_of(call_id="")))
    labels = [item["call_id"] for item in echo(turn)]
    assert labels == [result["call_id"] for result in results([Answer(call, "x") for call in turn.calls])]
    assert len(set(labels)) == 3


@pytest.mark.requirement("LOOP-2")
def test_a_call_that_was_interrupted_is_answered_before_whatever_follows_it() -> None:
    caller = {"type": "program", "caller_id": "p"}
    custom = {"type": "custom_tool_call", "call_id": "c3", "name": "sql", "input": "x"}
    turn = read_response(body_of(call_of(), call_of(call_id="c2", caller=caller), custom))
    told = results([Answer(turn.calls[0], "done")])
    user: dict[str, object] = {"role": "user", "content": "Go on."}
    sent = request([*echo(turn), *told, user], options=OPTIONS)["input"]
    assert isinstance(sent, list)
    answers = [(item["type"], item["call_id"], item.get("caller")) for item in sent[3:6]]
    assert answers == [
        ("function_call_output", "c1", None),
        ("function_call_output", "c2", caller),
        ("custom_tool_call_output", "c3", None),
    ]
    assert sent[6] == user
    whole = [*echo(turn), *results([Answer(call, "done") for call in turn.calls]), user]
    assert request(whole, options=OPTIONS)["input"] == whole


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"type": "shell_call", "action": {}}, {"type": "shell_call_output"}),
        ({"type": "apply_patch_call", "operation": {}}, {"type": "apply_patch_call_output", "status": "failed"}),
        ({"type": "local_shell_call", "action": {}}, {"type": "local_shell_call_output", "id": "c9"}),
        ({"type": "tool_search_call", "execution": "client"}, {"type": "tool_search_output", "tools": []}),
        ({"type": "mcp_approval_request", "id": "m"}, {"type": "mcp_approval_response", "approve": False}),
    ],
)
def test_a_call_of_any_kind_that_was_interrupted_is_answered_in_its_own_form(
    asked: dict[str, object], told: dict[str, object]
) -> None:
    turn = read_response(body_of(asked | {"call_id": "c9"}))
    sent: Any = request(echo(turn), options=OPTIONS)["input"]
    assert len(sent) == 2
    assert sent[1] | told == sent[1]
    whole = [*echo(turn), *results([Answer(call, "done") for call in turn.calls])]
    assert request(whole, options=OPTIONS)["input"] == whole


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize(
    "item",
    [
        {"type": "tool_search_call", "call_id": None, "execution": "server"},
        {"type": "shell_call", "call_id": "c9", "environment": {"type": "container_reference"}},
        {"type": "computer_call", "call_id": "c9", "action": {}},
        {"type": "web_search_call", "id": "ws"},
    ],
)
def test_nothing_is_made_up_for_what_the_provider_did_or_only_a_screen_can_answer(item: dict[str, object]) -> None:
    assert request([item], options=OPTIONS)["input"] == [item]


@pytest.mark.requirement("LOOP-2")
def test_reasoning_that_led_to_nothing_stays_out_of_the_history() -> None:
    assert echo(read_response(body_of(message_of(), THOUGHT, status="incomplete"))) == [message_of()]
    cut = read_stream([done(THOUGHT), added({"type": "message", "role": "assistant"})])
    assert echo(cut) == []


@pytest.mark.requirement("LOOP-2")
def test_a_call_that_was_cut_goes_back_with_arguments_that_servers_take() -> None:
    cut = read_stream([done(THOUGHT), added(call_of()), piece('{"query": ')])
    assert echo(cut) == [THOUGHT, call_of(arguments="{}")]


def test_a_result_goes_back_in_the_form_of_its_call() -> None:
    caller = {"type": "program", "caller_id": "p"}
    items: list[dict[str, object]] = [
        call_of(caller=caller),
        {"type": "custom_tool_call", "call_id": "c2", "name": "sql", "input": "x"},
        {"type": "apply_patch_call", "call_id": "c3", "operation": {}},
        {"type": "shell_call", "call_id": "c4", "action": {"commands": ["ls"], "max_output_length": 9}},
        {"type": "local_shell_call", "call_id": "c5", "action": {}},
    ]
    turn = read_response(body_of(*items))
    answers = [Answer(call, "done", failed=call.position == 2) for call in turn.calls]
    printed = {"stdout": "done", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    assert results(answers) == [
        {"type": "function_call_output", "call_id": "c1", "caller": caller, "output": "done"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "done"},
        {"type": "apply_patch_call_output", "call_id": "c3", "status": "failed", "output": "done"},
        {"type": "shell_call_output", "call_id": "c4", "output": [printed], "max_output_length": 9},
        {"type": "local_shell_call_output", "id": "c5", "output": "done"},
    ]


def test_pictures_go_back_inside_the_result() -> None:
    (call,) = read_response(body_of(call_of())).calls
    picture = Image(media_type="image/png", base64="aGk=")
    (result,) = results([Answer(call, "seen", images=(picture,))])
    shown = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    assert result["output"] == [{"type": "input_text", "text": "seen"}, shown]
    (screen,) = read_response(body_of({"type": "computer_call", "call_id": "c", "action": {}})).calls
    (shot,) = results([Answer(screen, "", images=(picture,))])
    assert shot["output"] == {"type": "computer_screenshot", "image_url": shown["image_url"]}


def test_a_document_goes_back_as_a_file_and_what_the_api_refuses_as_words() -> None:
    (call,) = read_response(body_of(call_of())).calls
    page = Image(media_type="application/pdf", base64="aGk=")
    (result,) = results(
        [Answer(call, "", images=(page, replace(page, url="https://a.example/x"), Image("audio/mpeg")))]
    )
    assert result["output"] == [
        {"type": "input_file", "filename": "result.pdf", "file_data": "data:application/pdf;base64,aGk="},
        {"type": "input_file", "file_url": "https://a.example/x"},
        {"type": "input_text", "text": "[audio/mpeg left out]"},
    ]


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize("failed", [False, True])
def test_what_a_provider_warns_of_is_part_of_the_proposal_and_acknowledged_where_it_was_let_run(failed: bool) -> None:
    checks = [{"id": "s", "code": "malicious_instructions", "message": "Look."}]
    click = {"type": "click", "x": 1, "y": 2}
    item = {"type": "computer_call", "call_id": "c", "action": click, "pending_safety_checks": checks}
    (call,) = read_response(body_of(item)).calls
    (result,) = results([Answer(call, "", failed=failed, images=(Image(base64="aGk="),))])
    assert json.loads(call.arguments_raw) == click | {"pending_safety_checks": checks}
    assert result.get("acknowledged_safety_checks") == (None if failed else checks)
    quiet = read_response(body_of(item | {"pending_safety_checks": []})).calls[0]
    assert json.loads(quiet.arguments_raw) == click
    assert "acknowledged_safety_checks" not in results([Answer(quiet, "")])[0]


@pytest.mark.requirement("LOOP-4")
@pytest.mark.parametrize(
    ("text", "failed", "approve"),
    [(APPROVED, False, True), (APPROVED, True, False), ("ok", False, False), ("", False, False)],
)
def test_a_hosted_servers_call_is_approved_by_one_word_alone(text: str, failed: bool, approve: bool) -> None:
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}"}
    (call,) = read_response(body_of(asked)).calls
    (sent,) = results([Answer(call, text, failed=failed)])
    assert (sent["approve"], sent["approval_request_id"]) == (approve, "mcpr_1")
    assert ("reason" in sent) is not approve


@pytest.mark.parametrize(("text", "tools"), [(json.dumps([TOOL]), [TOOL]), ("no json", []), ("{}", [])])
def test_a_tool_search_is_answered_by_declarations(text: str, tools: list[object]) -> None:
    (call,) = read_response(body_of({"type": "tool_search_call", "call_id": "c", "execution": "client"})).calls
    (sent,) = results([Answer(call, text)])
    assert (sent["type"], sent["call_id"], sent["tools"]) == ("tool_search_output", "c", tools)
