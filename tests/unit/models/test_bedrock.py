"""What the Bedrock Converse codec sends: declarations, requests, and the history with what came back."""

import base64

import pytest

from interlock.models import bedrock
from interlock.models.bedrock import declarations, echo, path, read_response, read_stream, request, results
from interlock.models.codec import Answer, Choice, Codec, Image, Options
from interlock.models.names import spell
from interlock.models.pairing import INTERRUPTED
from tests.unit.models.bedrock_responses import START, began, body_of, call, delta, end, lines, stopped, tool_use

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
OPTIONS = Options(model="small", tokens_max=60)
TWO = declarations([("search", "Search.", SCHEMA), ("save", "", SCHEMA)], names=spell(["search", "save"]))
USER: dict[str, object] = {"role": "user", "content": [{"text": "hi"}]}


def test_the_module_is_a_codec() -> None:
    codec: Codec = bedrock
    assert not codec.reader().over


@pytest.mark.requirement("TOOL-4")
def test_a_declaration_holds_the_name_the_schema_and_a_description_that_is_not_empty() -> None:
    assert TWO == [
        {"toolSpec": {"name": "search", "description": "Search.", "inputSchema": {"json": SCHEMA}}},
        {"toolSpec": {"name": "save", "inputSchema": {"json": SCHEMA}}},
    ]


def test_a_request_says_what_was_asked_for() -> None:
    options = Options(model="small", tokens_max=60, temperature=0, extra={"additionalModelRequestFields": {"k": 1}})
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert request(messages, options=options, tools=TWO) == {
        "messages": [USER],
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 60, "temperature": 0},
        "toolConfig": {"tools": TWO, "toolChoice": {"auto": {}}},
        "additionalModelRequestFields": {"k": 1},
    }
    assert set(request([USER], options=OPTIONS)) == {"messages", "inferenceConfig"}


def test_the_model_stands_in_the_path() -> None:
    assert path(Options(model="us.small-v1:0", tokens_max=1)) == "/model/us.small-v1%3A0/converse"
    assert path(Options(model="arn:a/b", tokens_max=1, stream=True)) == "/model/arn%3Aa%2Fb/converse-stream"


@pytest.mark.parametrize(
    ("choice", "only", "spelled"),
    [
        (Choice.AUTO, [], {"tools": TWO, "toolChoice": {"auto": {}}}),
        (Choice.REQUIRED, [], {"tools": TWO, "toolChoice": {"any": {}}}),
        (Choice.REQUIRED, ["save"], {"tools": [TWO[1]], "toolChoice": {"tool": {"name": "save"}}}),
        (Choice.AUTO, ["save"], {"tools": [TWO[1]], "toolChoice": {"auto": {}}}),
        (Choice.NONE, [], None),
    ],
)
def test_a_choice_is_spelled_as_the_service_wants_it(choice: Choice, only: list[str], spelled: object) -> None:
    assert request([USER], options=OPTIONS, tools=TWO, choice=choice, only=only).get("toolConfig") == spelled


def test_a_history_with_calls_goes_with_its_tools_even_where_none_may_be_called() -> None:
    history: list[dict[str, object]] = [USER, {"role": "assistant", "content": [tool_use()]}]
    body = request(history, options=OPTIONS, tools=TWO, choice=Choice.NONE)
    assert body["toolConfig"] == {"tools": TWO, "toolChoice": {"auto": {}}}


def test_roles_take_turns_and_every_call_is_answered() -> None:
    said: dict[str, object] = {"role": "user", "content": "And?"}
    history: list[dict[str, object]] = [USER, {"role": "assistant", "content": [tool_use()]}, said, USER]
    result = {"toolUseId": "tooluse_1", "content": [{"text": INTERRUPTED}], "status": "error"}
    assert request(history, options=OPTIONS)["messages"] == [
        USER,
        {"role": "assistant", "content": [tool_use()]},
        {"role": "user", "content": [{"toolResult": result}, {"text": "And?"}, {"text": "hi"}]},
    ]


def test_what_the_provider_ran_needs_no_answer_of_ours() -> None:
    for kind in ("server_tool_use", "tomorrows_kind", {"no": "kind"}):
        history = [{"role": "assistant", "content": [tool_use(type=kind), {"text": "5"}]}]
        assert request(history, options=OPTIONS)["messages"] == history


@pytest.mark.requirement("LOOP-2")
def test_a_body_goes_back_block_by_block_as_it_came() -> None:
    content: list[dict[str, object]] = [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eA=="}},
        {"text": "Wait."},
        {"citationsContent": {"content": [{"text": "So."}], "citations": [{"title": "a"}]}},
        tool_use("interpreter", {}, "s1", type="server_tool_use"),
        {"toolResult": {"toolUseId": "s1", "content": [{"json": {"out": 7.0}}], "status": "success"}},
        {"tomorrow": {"field": [1]}},
        tool_use(sent={"n": 12345678901234567890, "x": 1.5}),
    ]
    turn = read_response(body_of(*content))
    assert echo(turn) == [{"role": "assistant", "content": content}]
    assert turn.text == "Wait.So."


@pytest.mark.requirement("LOOP-2")
def test_a_stream_goes_back_as_the_body_that_it_stands_for() -> None:
    halves = [base64.b64encode(part).decode() for part in (b"a", b"bc")]
    events = [
        delta({"reasoningContent": {"text": "be"}}, 0),
        delta({"reasoningContent": {"text": "cause"}}, 0),
        delta({"reasoningContent": {"signature": "c2ln"}}, 0),
        stopped(0),
        *(delta({"reasoningContent": {"redactedContent": half}}, 1) for half in halves),
        stopped(1),
        began({}, 2),
        delta({"text": "H"}, 2),
        delta({"text": "i"}, 2),
        stopped(2),
        delta({"text": "So."}, 3),
        delta({"citation": {"title": "a"}}, 3),
        stopped(3),
        began({"toolUse": {"toolUseId": "s1", "name": "interpreter", "type": "server_tool_use"}}, 4),
        stopped(4),
        began({"toolResult": {"toolUseId": "s1", "status": "success"}}, 5),
        delta({"toolResult": [{"text": "5"}]}, 5),
        delta({"toolResult": [{"json": {"a": 1}}]}, 5),
        stopped(5),
        *call('{"query":', '"a"}', index=6),
        end(),
    ]
    turn = read_stream([lines(START, *events)])
    assert echo(turn)[0]["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "because", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": base64.b64encode(b"abc").decode()}},
        {"text": "Hi"},
        {"citationsContent": {"content": [{"text": "So."}], "citations": [{"title": "a"}]}},
        tool_use("interpreter", {}, "s1", type="server_tool_use"),
        {"toolResult": {"toolUseId": "s1", "status": "success", "content": [{"text": "5"}, {"json": {"a": 1}}]}},
        tool_use(),
    ]
    assert turn.text == "HiSo."


def test_what_the_service_would_refuse_in_a_history_is_replaced_there_and_nowhere_else() -> None:
    turn = read_stream([lines(START, *call('{"a', name="files.read"), *call(index=1, name=""), end())])
    assert echo(turn)[0]["content"] == [tool_use("files_read", {}), tool_use("unnamed", {}, "call_1")]
    assert [proposed.name for proposed in turn.calls] == ["files.read", ""]


def test_a_turn_with_nothing_to_send_back_gives_no_message() -> None:
    assert echo(read_response(body_of(stop="content_filtered"))) == []
    assert results([]) == []


@pytest.mark.requirement("LOOP-2")
def test_all_results_go_back_in_one_message_with_their_flags_and_media() -> None:
    first, second = read_response(body_of(tool_use(), tool_use(call_id="b"))).calls
    media = (Image("image/jpeg", "eA=="), Image("application/pdf", "eA=="), Image(url="https://a.example/b"))
    (message,) = results([Answer(first, "No.", failed=True), Answer(second, "", images=media)])
    assert message == {
        "role": "user",
        "content": [
            {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "No."}], "status": "error"}},
            {
                "toolResult": {
                    "toolUseId": "b",
                    "content": [
                        {"image": {"format": "jpeg", "source": {"bytes": "eA=="}}},
                        {"document": {"format": "pdf", "name": "result 1", "source": {"bytes": "eA=="}}},
                        {"text": "[image/png: https://a.example/b]"},
                    ],
                }
            },
        ],
    }


def test_a_result_without_words_says_so_since_the_service_takes_no_empty_text() -> None:
    (proposed,) = read_response(body_of(tool_use())).calls
    (message,) = results([Answer(proposed, "")])
    assert "no output" in str(message)
