"""What the Chat Completions codec sends: declarations, requests, and the history with what came back."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.models.conversation import Conversation
from interlock.models.names import spell
from interlock.models.openai_chat import (
    Answer,
    Choice,
    Image,
    Options,
    assistant_echo,
    declarations,
    echo,
    read_response,
    read_stream,
    request,
    results,
    tool_message,
)
from interlock.models.pairing import INTERRUPTED
from tests.unit.models.chat_responses import body_of, call_of

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
OPTIONS = Options(model="small", tokens_max=60, temperature=0)
JSON_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ["choices", "delta", "message", "tool_calls", "function", "function_call", "custom", "id", "index", "content"]


@pytest.mark.requirement("TOOL-4")
def test_a_declaration_holds_the_name_the_description_and_the_schema_and_nothing_else() -> None:
    tools = declarations([("search", "Search documents.", SCHEMA)], names=spell(["search"]))
    assert tools == [
        {
            "type": "function",
            "function": {"name": "search", "description": "Search documents.", "parameters": SCHEMA},
        }
    ]


def test_a_name_that_the_dialect_does_not_allow_is_declared_under_its_spelling() -> None:
    names = spell(["files.read"])
    (tool,) = declarations([("files.read", "", SCHEMA)], names=names)
    function = tool["function"]
    assert isinstance(function, dict)
    assert names.original(function["name"]) == "files.read"


def test_more_tools_than_the_dialect_takes_are_a_fault_of_the_caller() -> None:
    many = [f"tool_{number}" for number in range(129)]
    with pytest.raises(ValueError, match="at most 128"):
        declarations([(name, "", SCHEMA) for name in many], names=spell(many))


def test_a_request_says_what_was_asked_for() -> None:
    tools = declarations([("search", "", SCHEMA)], names=spell(["search"]))
    body = request([{"role": "user", "content": "hi"}], options=OPTIONS, tools=tools, choice=Choice.REQUIRED)
    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 60,
        "temperature": 0,
        "tools": tools,
        "tool_choice": "required",
        "parallel_tool_calls": False,
    }


def test_a_request_without_tools_says_nothing_about_tools() -> None:
    assert set(request([], options=Options(model="m", tokens_max=1))) == {"model", "messages", "max_tokens"}


def test_a_streamed_request_asks_for_the_usage() -> None:
    body = request([], options=Options(model="m", tokens_max=1, stream=True, tokens_field="max_completion_tokens"))
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert body["max_completion_tokens"] == 1


@pytest.mark.parametrize(
    ("choice", "only", "sent"),
    [
        (Choice.NONE, ["search"], "none"),
        (Choice.AUTO, [], "auto"),
        (Choice.REQUIRED, ["search"], {"type": "function", "function": {"name": "search"}}),
        (
            Choice.AUTO,
            ["search"],
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "search"}}]},
            },
        ),
    ],
)
def test_one_tool_or_some_can_be_singled_out(choice: Choice, only: list[str], sent: object) -> None:
    tools = declarations([("search", "", SCHEMA)], names=spell(["search"]))
    assert request([], options=OPTIONS, tools=tools, choice=choice, only=only)["tool_choice"] == sent


def test_fields_of_one_provider_are_sent_as_they_are_given() -> None:
    assert request([], options=Options(model="m", tokens_max=1, extra={"seed": 7}))["seed"] == 7


def test_the_pictures_of_all_results_follow_them_in_one_message_of_the_user() -> None:
    turn = read_response(body_of({"tool_calls": [call_of(call_id="a"), call_of(call_id="b")]}))
    first, second = turn.calls
    picture = Image(url="https://example.org/a.png")
    sent = [*echo(turn), *results([Answer(first, "seen", images=(picture,)), Answer(second, "none")])]
    assert [message["role"] for message in sent] == ["assistant", "tool", "tool", "user"]
    assert sent[3]["content"] == [
        {"type": "text", "text": "Returned by search (a):"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ]
    assert results([Answer(second, "none")]) == [tool_message(second, "none")]


@pytest.mark.parametrize("raw", ['{"query": ', "", "[1]", '{"a": NaN}', '"{}"', "[" * 100_000])
def test_broken_arguments_are_replaced_in_the_history_and_nowhere_else(raw: str) -> None:
    turn = read_response(body_of({"content": "x", "tool_calls": [call_of(arguments=raw)]}))
    assert assistant_echo(turn) == {"role": "assistant", "content": "x", "tool_calls": [call_of(arguments="{}")]}
    assert turn.calls[0].arguments_raw == raw


def test_a_name_that_the_model_made_up_goes_back_in_letters_that_servers_take() -> None:
    turn = read_response(body_of({"content": "x", "tool_calls": [call_of("Search Docs ")]}))
    assert assistant_echo(turn)["tool_calls"] == [call_of("Search_Docs_")]
    assert turn.calls[0].name == "Search Docs "


@pytest.mark.requirement("LOOP-2")
def test_a_call_that_was_interrupted_is_answered_before_whatever_follows_it() -> None:
    turn = read_response(body_of({"tool_calls": [call_of(call_id="a"), call_of(call_id="b")]}))
    told = results([Answer(turn.calls[1], "done")])
    user: dict[str, object] = {"role": "user", "content": "Go on."}
    sent = request([*echo(turn), *told, user, *echo(turn)], options=OPTIONS)["messages"]
    assert isinstance(sent, list)
    assert [message.get("tool_call_id", message["role"]) for message in sent] == [
        *["assistant", "b", "a", "user"],
        *["assistant", "a", "b"],
    ]
    whole = [*echo(turn), *results([Answer(call, "done") for call in turn.calls]), user]
    assert request(whole, options=OPTIONS)["messages"] == whole


@pytest.mark.requirement("LOOP-2")
def test_of_a_conversation_that_grows_what_was_in_order_is_not_looked_at_again() -> None:
    turn, user = read_response(body_of({"tool_calls": [call_of(call_id="a")]})), {"role": "user", "content": "Go on."}
    said = Conversation([dict(user)])
    for looked, added in (
        (1, []),
        (3, [*echo(turn), *results([Answer(turn.calls[0], "done")])]),
        (3, echo(turn)),
        (5, [dict(user)]),
    ):
        said += added
        sent = request(said, options=OPTIONS)["messages"]
        assert sent == request([*said], options=OPTIONS)["messages"]
        assert sent is not said
        assert said.looked == looked
    assert sent[-2:] == [{"role": "tool", "tool_call_id": "a", "content": INTERRUPTED}, user]


def test_signatures_go_back_where_they_came_from() -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    sent = call_of() | {"extra_content": signature}
    turn = read_response(body_of({"content": None, "tool_calls": [sent], "reasoning_details": [{"data": "r"}]}))
    assert assistant_echo(turn) == {
        "role": "assistant",
        "content": None,
        "reasoning_details": [{"data": "r"}],
        "tool_calls": [sent],
    }


def test_reasoning_that_came_in_pieces_goes_back_whole() -> None:
    deltas: list[dict[str, object]] = [
        {"reasoning_content": "be", "reasoning_details": [1]},
        {"reasoning_content": "cause", "reasoning_details": [2]},
        {"content": "done"},
    ]
    events = [f"data: {json.dumps({'choices': [{'delta': delta}]})}\n\n".encode() for delta in deltas]
    echo = assistant_echo(read_stream([*events, b"data: [DONE]\n\n"]))
    assert echo == {"role": "assistant", "content": "done", "reasoning_content": "because", "reasoning_details": [1, 2]}


def test_a_legacy_call_is_answered_in_the_legacy_way() -> None:
    turn = read_response(body_of({"function_call": {"name": "add", "arguments": "{}"}}, stop="function_call"))
    assert assistant_echo(turn)["function_call"] == {"name": "add", "arguments": "{}"}
    assert tool_message(turn.calls[0], "5") == {"role": "function", "name": "add", "content": "5"}


@given(st.dictionaries(st.sampled_from([*FIELDS, "error", "usage", "finish_reason", "name", "arguments"]), JSON_TREES))
def test_no_shape_of_a_message_makes_a_reader_or_an_echo_raise(fields: dict[str, object]) -> None:
    choice: dict[str, object] = {"message": fields, "delta": fields, "index": 0}
    body = json.dumps(fields | {"choices": [choice | {"tool_calls": [fields]}]}).encode()
    for turn in (read_response(body), read_stream([b"data: " + body + b"\n\ndata: [DONE]\n\n"])):
        assert json.dumps(assistant_echo(turn))
