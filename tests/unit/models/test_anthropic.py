"""What the Anthropic Messages codec sends: declarations, requests, and the history with what came back."""

import json

import pytest

from interlock.models import anthropic
from interlock.models.anthropic import (
    container,
    declarations,
    echo,
    read_response,
    read_stream,
    request,
    results,
)
from interlock.models.codec import Answer, Choice, Codec, Image, Options
from interlock.models.names import spell
from tests.unit.models.anthropic_responses import (
    began,
    body_of,
    call,
    delta,
    end,
    start,
    stopped,
    tool_use,
)

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
OPTIONS = Options(model="small", tokens_max=60)
SEARCH = declarations([("search", "Search documents.", SCHEMA)], names=spell(["search"]))
TWO = declarations([("search", "", SCHEMA), ("save", "", SCHEMA)], names=spell(["search", "save"]))


def test_the_module_is_a_codec() -> None:
    codec: Codec = anthropic
    assert not codec.reader().over


@pytest.mark.requirement("TOOL-4")
def test_a_declaration_holds_the_name_the_description_and_the_schema_and_nothing_else() -> None:
    assert SEARCH == [{"name": "search", "description": "Search documents.", "input_schema": SCHEMA}]
    (bare,) = declarations([("files.read", "", {})], names=spell(["files.read"]))
    assert bare["input_schema"] == {"type": "object"}
    assert spell(["files.read"]).original(str(bare["name"])) == "files.read"


def test_a_request_says_what_was_asked_for() -> None:
    options = Options(model="small", tokens_max=60, temperature=0, stream=True, extra={"container": "c1"})
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
    assert request(messages, options=options, tools=SEARCH) == {
        "model": "small",
        "max_tokens": 60,
        "messages": [{"role": "user", "content": "hi"}],
        "system": "Be brief.",
        "temperature": 0,
        "stream": True,
        "tools": SEARCH,
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        "container": "c1",
    }
    assert set(request([], options=OPTIONS)) == {"model", "max_tokens", "messages"}


def test_system_blocks_and_marks_for_the_cache_are_sent_as_they_are() -> None:
    marked = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    messages: list[dict[str, object]] = [
        {"role": "system", "content": [marked]},
        {"role": "system", "content": "Now."},
        {"role": "user", "content": [marked]},
    ]
    tools = [SEARCH[0] | {"cache_control": {"type": "ephemeral"}}]
    body = request(messages, options=OPTIONS, tools=tools)
    assert body["system"] == [marked, {"type": "text", "text": "Now."}]
    assert (body["messages"], body["tools"]) == ([messages[2]], tools)


@pytest.mark.parametrize(
    ("choice", "only", "spelled"),
    [
        (Choice.AUTO, [], {"type": "auto", "disable_parallel_tool_use": True}),
        (Choice.NONE, [], {"type": "none"}),
        (Choice.REQUIRED, [], {"type": "any", "disable_parallel_tool_use": True}),
        (Choice.REQUIRED, ["save"], {"type": "tool", "name": "save", "disable_parallel_tool_use": True}),
    ],
)
def test_a_choice_is_spelled_as_the_provider_wants_it(choice: Choice, only: list[str], spelled: object) -> None:
    assert request([], options=OPTIONS, tools=TWO, choice=choice, only=only)["tool_choice"] == spelled


def test_a_subset_of_the_tools_is_what_is_sent() -> None:
    body = request([], options=Options(model="m", tokens_max=1, parallel_calls=True), tools=TWO, only=["save"])
    assert (body["tools"], body["tool_choice"]) == ([TWO[1]], {"type": "auto"})


def test_a_program_of_the_models_is_never_told_to_make_one_call_at_a_time() -> None:
    tool = SEARCH[0] | {"allowed_callers": ["code_execution_20250825"]}
    assert request([], options=OPTIONS, tools=[tool])["tool_choice"] == {"type": "auto"}


def test_a_required_call_of_a_model_that_thinks_at_length_is_a_fault_of_the_caller() -> None:
    options = Options(model="m", tokens_max=1, extra={"thinking": {"type": "enabled", "budget_tokens": 1024}})
    assert request([], options=options, tools=SEARCH)["thinking"]
    with pytest.raises(ValueError, match="extended thinking"):
        request([], options=options, tools=SEARCH, choice=Choice.REQUIRED)


@pytest.mark.requirement("LOOP-2")
def test_a_body_goes_back_block_by_block_as_it_came() -> None:
    content: list[dict[str, object]] = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "text", "text": "Wait.", "citations": None},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"encrypted_content": "eA=="}]},
        {"type": "compaction", "content": "All so far."},
        {"type": "tomorrow", "field": [1]},
        tool_use(caller={"type": "direct"}),
    ]
    assert echo(read_response(body_of(*content))) == [{"role": "assistant", "content": content}]


@pytest.mark.requirement("LOOP-2")
def test_a_stream_goes_back_as_the_body_that_it_stands_for() -> None:
    events = [
        start(),
        began({"type": "thinking", "thinking": "", "signature": ""}, 0),
        delta("thinking_delta", 0, thinking="be"),
        delta("thinking_delta", 0, thinking="cause"),
        delta("signature_delta", 0, signature="b2xk"),
        delta("signature_delta", 0, signature="c2ln"),
        stopped(0),
        began({"type": "text", "text": "", "citations": []}, 1),
        delta("citations_delta", 1, citation={"url": "a"}),
        delta("text_delta", 1, text="Hi"),
        stopped(1),
        began({"type": "compaction", "content": None}, 2),
        delta("compaction_delta", 2, content="All so far."),
        stopped(2),
        *call('{"query":', '"a"}', index=3),
        *end(),
    ]
    assert echo(read_stream(events)) == [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "because", "signature": "c2ln"},
                {"type": "text", "text": "Hi", "citations": [{"url": "a"}]},
                {"type": "compaction", "content": "All so far."},
                tool_use(),
            ],
        }
    ]


def test_what_the_provider_would_refuse_in_a_history_is_replaced_there_and_nowhere_else() -> None:
    turn = read_stream([start(), *call('{"a', name="files.read"), *call(index=1, name=""), *end()])
    blocks = echo(turn)[0]["content"]
    assert blocks == [tool_use("files_read", {}), tool_use("unnamed", {}, "call_1")]
    assert [(proposed.name, proposed.arguments_raw) for proposed in turn.calls] == [("files.read", '{"a'), ("", "{}")]
    assert [proposed.wire_id for proposed in turn.calls] == ["toolu_1", "toolu_1"]


def test_a_turn_that_was_cut_goes_back_without_its_unfinished_thoughts() -> None:
    cut = [start(), *call("{}"), began({"type": "thinking", "thinking": "so", "signature": ""}, 1)]
    assert echo(read_stream(cut)) == [{"role": "assistant", "content": [tool_use(sent={})]}]


def test_a_turn_with_nothing_to_send_back_gives_no_message() -> None:
    assert echo(read_response(body_of({"type": "text", "text": " "}, stop="refusal"))) == []
    assert echo(read_response(b"no json")) == []
    assert results([]) == []


@pytest.mark.requirement("LOOP-2")
def test_all_results_go_back_in_one_message_with_their_flags_and_pictures() -> None:
    turn = read_response(body_of(tool_use(), tool_use(call_id="toolu_2", toolset_name="browser")))
    first, second = turn.calls
    pictures = (Image(media_type="image/png", base64="eA=="), Image(url="https://a.example/b"))
    answers = [Answer(first, "No.", failed=True), Answer(second, "Seen:", images=pictures)]
    (message,) = results(answers)
    assert message == {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "No.", "is_error": True},
            {
                "type": "tool_result",
                "tool_use_id": "toolu_2",
                "content": [
                    {"type": "text", "text": "Seen:"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "eA=="}},
                    {"type": "image", "source": {"type": "url", "url": "https://a.example/b"}},
                ],
                "is_error": False,
                "toolset_name": "browser",
            },
        ],
    }
    history = [*echo(turn), message]
    assert request(history, options=OPTIONS)["messages"] == history


@pytest.mark.parametrize("kind", ["code_execution_20250825", {"no": "kind"}])
def test_a_program_of_the_models_is_answered_in_text_alone(kind: object) -> None:
    turn = read_response(body_of(tool_use(caller={"type": kind, "tool_id": "s1"})))
    (message,) = results([Answer(turn.calls[0], "5", images=(Image(base64="eA=="),))])
    assert "base64" not in json.dumps(message)


def test_a_result_without_words_has_no_content() -> None:
    (proposed,) = read_response(body_of(tool_use())).calls
    (message,) = results([Answer(proposed, "")])
    assert message["content"] == [{"type": "tool_result", "tool_use_id": "toolu_1", "is_error": False}]


def test_the_container_of_a_turn_is_known_for_the_next_request() -> None:
    held = {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}
    assert container(read_response(body_of(tool_use(), container=held))) == "container_1"
    assert container(read_stream([start(), *call(), *end(container=held)])) == "container_1"
    assert container(read_response(body_of(tool_use()))) is None
