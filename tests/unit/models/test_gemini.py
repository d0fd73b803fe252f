"""What the Gemini codec sends: declarations, requests, and the history with what came back."""

import json

import pytest

from interlock.models import gemini
from interlock.models.codec import Answer, Choice, Codec, Image, Options
from interlock.models.names import spell
from tests.unit.models.gemini_responses import array_of, body_of, call, chunk_of, streamed_call

SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
OPTIONS = Options(model="gemini-3", tokens_max=60)
TOOLS = gemini.declarations([("search", "Find.", SCHEMA), ("save", "", SCHEMA)], names=spell(["search", "save"]))
HI = [{"role": "user", "parts": [{"text": "hi"}]}]


def test_it_is_a_codec() -> None:
    codec: Codec = gemini
    assert not codec.reader().over


@pytest.mark.requirement("TOOL-4")
def test_a_declaration_holds_the_name_the_description_and_the_schema_and_nothing_else() -> None:
    assert TOOLS[0] == {"name": "search", "description": "Find.", "parametersJsonSchema": SCHEMA}


def test_more_tools_than_the_dialect_takes_are_a_fault_of_the_caller() -> None:
    many = [f"tool_{number}" for number in range(129)]
    with pytest.raises(ValueError, match="at most 128"):
        gemini.declarations([(name, "", SCHEMA) for name in many], names=spell(many))


@pytest.mark.parametrize(
    ("choice", "only", "config", "offered"),
    [
        (Choice.AUTO, [], {"mode": "AUTO"}, ["search", "save"]),
        (Choice.NONE, [], {"mode": "NONE"}, ["search", "save"]),
        (Choice.REQUIRED, [], {"mode": "ANY"}, ["search", "save"]),
        (Choice.REQUIRED, ["save"], {"mode": "ANY", "allowedFunctionNames": ["save"]}, ["search", "save"]),
        (Choice.AUTO, ["save"], {"mode": "AUTO"}, ["save"]),
    ],
)
def test_a_choice_of_tools_is_sent_as_the_dialect_has_it(
    choice: Choice, only: list[str], config: dict[str, object], offered: list[str]
) -> None:
    body = gemini.request(HI, options=OPTIONS, tools=TOOLS, choice=choice, only=only)
    assert body["toolConfig"] == {"functionCallingConfig": config}
    assert body["tools"] == [{"functionDeclarations": [tool for tool in TOOLS if tool["name"] in offered]}]


def test_a_request_without_tools_says_nothing_about_tools() -> None:
    assert gemini.request(HI, options=OPTIONS) == {"contents": HI, "generationConfig": {"maxOutputTokens": 60}}


def test_what_only_this_provider_knows_is_added_beside_what_was_asked() -> None:
    extra = {
        "tools": [{"googleSearch": {}}],
        "toolConfig": {"includeServerSideToolInvocations": True},
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "low"}},
        "labels": {"team": "a"},
    }
    options = Options(model="m", tokens_max=5, temperature=0.5, extra=extra)
    body = gemini.request([{"role": "system", "content": "Be brief."}, *HI], options=options, tools=TOOLS)
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert body["contents"] == HI
    assert body["tools"] == [{"functionDeclarations": TOOLS}, {"googleSearch": {}}]
    assert body["toolConfig"] == {
        "functionCallingConfig": {"mode": "AUTO"},
        "includeServerSideToolInvocations": True,
    }
    assert body["generationConfig"] == {
        "maxOutputTokens": 5,
        "temperature": 0.5,
        "thinkingConfig": {"thinkingLevel": "low"},
    }
    assert body["labels"] == {"team": "a"}


def test_the_model_and_the_stream_stand_in_the_address() -> None:
    assert gemini.endpoint(OPTIONS) == "models/gemini-3:generateContent"
    streamed = Options(model="gemini-3", tokens_max=1, stream=True)
    assert gemini.endpoint(streamed) == "models/gemini-3:streamGenerateContent?alt=sse"


@pytest.mark.requirement("LOOP-2")
def test_every_part_goes_back_as_it_came_with_its_own_signature() -> None:
    parts: list[dict[str, object]] = [
        {"text": "hm", "thought": True, "thoughtSignature": "MQ=="},
        call(id="1") | {"thoughtSignature": "Mg=="},
        call(args=None),
        {"toolCall": {"id": "t", "toolType": "X", "args": {}}, "thoughtSignature": "Mw=="},
        {"text": "", "thoughtSignature": "NA=="},
        {"somethingNew": {"a": [1]}},
    ]
    whole = gemini.read_response(body_of(*parts))
    streamed = gemini.read_stream([array_of(*(chunk_of(part) for part in parts), chunk_of(stop="STOP"))])
    for turn in (whole, streamed):
        assert gemini.echo(turn) == [{"role": "model", "parts": parts}]


def test_a_streamed_call_goes_back_as_one_part() -> None:
    chunks = streamed_call({"jsonPath": "$.city", "stringValue": "Rome"})
    turn = gemini.read_stream([array_of(*chunks, chunk_of(stop="STOP"))])
    sent = {"functionCall": {"name": "add", "args": {"city": "Rome"}}, "thoughtSignature": "c2ln"}
    assert gemini.echo(turn) == [{"role": "model", "parts": [sent]}]


@pytest.mark.parametrize("args", [b"[1]", b'"{}"', b'{"a": 1e999}', b"7"])
def test_broken_arguments_are_replaced_in_the_history_and_nowhere_else(args: bytes) -> None:
    turn = gemini.read_response(body_of(call()).replace(b'{"a": 1}', args))
    (message,) = gemini.echo(turn)
    assert message["parts"] == [call(args={})]
    assert turn.calls[0].arguments_raw != "{}"


def test_words_that_look_like_a_broken_number_are_only_words() -> None:
    turn = gemini.read_response(body_of(call(args={"city": "Infinity"})))
    assert gemini.echo(turn) == [{"role": "model", "parts": [call(args={"city": "Infinity"})]}]


def test_a_turn_without_parts_leaves_no_entry() -> None:
    assert gemini.echo(gemini.read_response(body_of(stop="MAX_TOKENS"))) == []
    assert gemini.echo(gemini.read_response(b"", status=500)) == []
    assert gemini.results([]) == []


@pytest.mark.requirement("LOOP-2")
def test_results_go_back_in_the_order_of_the_calls_under_the_ids_that_the_wire_gave() -> None:
    turn = gemini.read_response(body_of(call("a"), call("b", id="x"), call("b", id="x")))
    answers = [Answer(one, f"result {one.position}", failed=one.position == 1) for one in reversed(turn.calls)]
    assert gemini.results(answers) == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "a", "response": {"output": "result 0"}}},
                {"functionResponse": {"id": "x", "name": "b", "response": {"error": "result 1"}}},
                {"functionResponse": {"id": "x", "name": "b", "response": {"output": "result 2"}}},
            ],
        }
    ]


def test_pictures_stand_beside_the_words_of_a_result() -> None:
    (one,) = gemini.read_response(body_of(call())).calls
    images = (Image(base64="aGk="), Image(media_type="image/jpeg", url="https://a.example/b.jpg"))
    (entry,) = gemini.results([Answer(one, "seen", images=images)])
    assert json.loads(json.dumps(entry))["parts"][0]["functionResponse"]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
        {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://a.example/b.jpg"}},
    ]
