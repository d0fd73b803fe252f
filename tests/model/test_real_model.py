"""A small real model, clumsy as it is, either proposes a call that can be judged or runs nothing."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import jsonschema_rs
import pytest
from chat_model import ChatModel
from documents import Library, split
from model_server import running_model
from prompts import (
    DEFAULT_QUESTION,
    SAVE_DESCRIPTION,
    SAVE_NAME,
    SAVE_SCHEMA,
    SEARCH_DESCRIPTION,
    SEARCH_NAME,
    SEARCH_SCHEMA,
    draft_id_for,
    results_text,
    save_sentence,
    search_sentence,
)

from interlock.models.names import spell
from interlock.models.openai_chat import (
    Choice,
    Ended,
    Proposed,
    Turn,
    assistant_echo,
    declarations,
    read_response,
    request,
    tool_message,
)

pytestmark = [pytest.mark.model, pytest.mark.timeout(60)]

SCHEMAS = {SEARCH_NAME: SEARCH_SCHEMA, SAVE_NAME: SAVE_SCHEMA}
TOOLS = declarations(
    [(SEARCH_NAME, SEARCH_DESCRIPTION, SEARCH_SCHEMA), (SAVE_NAME, SAVE_DESCRIPTION, SAVE_SCHEMA)],
    names=spell(SCHEMAS),
)
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "research-agent"
STARTS_A_MODEL = """
from model_server import running_model
with running_model() as model:
    print(model.process_id, flush=True)
    input()
"""
GUIDE = "# Approvals\n\nAn approval is bound to the operation digest.\n\n# Audit\n\nOperations are recorded."
QUESTION = [{"role": "user", "content": search_sentence(DEFAULT_QUESTION)}]


@pytest.mark.requirement("LOOP-3")
def test_a_whole_research_task_gets_calls_that_can_be_judged_or_runs_nothing(model: ChatModel) -> None:
    turn = model.ask(QUESTION, tools=TOOLS)
    assert_can_be_judged(turn)
    with Library(tuple(split("guide.md", text=GUIDE))) as library:
        found = results_text(library.search(DEFAULT_QUESTION))
    messages: list[Mapping[str, object]] = [
        *QUESTION,
        assistant_echo(turn),
        *(tool_message(call, found) for call in turn.calls),
        {"role": "user", "content": save_sentence(draft_id_for(DEFAULT_QUESTION))},
    ]
    assert_can_be_judged(model.ask(messages, tools=TOOLS))


@pytest.mark.requirement("LOOP-3")
def test_a_turn_that_is_cut_at_the_token_limit_runs_nothing(model: ChatModel) -> None:
    hasty = replace(model, options=replace(model.options, tokens_max=12))
    turn = hasty.ask(QUESTION, tools=TOOLS)
    assert (turn.ended, turn.runnable) == (Ended.TRUNCATED, ())


def test_a_stream_and_a_whole_body_read_the_same(model: ChatModel) -> None:
    options = replace(model.options, stream=False)
    body = request(QUESTION, options=options, tools=TOOLS, choice=Choice.REQUIRED)
    whole = read_response(model.client.post("chat/completions", json=body).content)
    streamed = model.ask(QUESTION, tools=TOOLS)
    assert (streamed.ended, streamed.stop, streamed.text) == (whole.ended, whole.stop, whole.text)
    assert [(call.name, call.arguments_raw) for call in streamed.calls] == [
        (call.name, call.arguments_raw) for call in whole.calls
    ]
    assert streamed.usage == whole.usage


def test_a_history_with_broken_arguments_is_taken_only_because_they_are_replaced(model: ChatModel) -> None:
    broken = Proposed(position=0, wire_id="c1", reply_id="c1", name=SEARCH_NAME, arguments_raw="{nonsense")
    echo = assistant_echo(Turn(text="", calls=(broken,), ended=Ended.CALLS_ALLOWED))
    answer = tool_message(broken, "INVALID_JSON: the arguments are no JSON.")
    assert model.ask([*QUESTION, echo, answer, *QUESTION], tools=TOOLS).ended not in {Ended.ERROR, Ended.HTTP_ERROR}
    function = {"name": SEARCH_NAME, "arguments": broken.arguments_raw}
    as_it_was = echo | {"tool_calls": [{"id": "c1", "type": "function", "function": function}]}
    assert model.ask([*QUESTION, as_it_was, answer, *QUESTION], tools=TOOLS).ended is Ended.HTTP_ERROR


def test_the_model_is_gone_when_its_block_ends(installed: None) -> None:
    with running_model() as running:
        process = os.pidfd_open(running.process_id)
        assert httpx.get(f"{running.base_url}/models", trust_env=False).status_code == 200
    assert has_ended(process, within_s=0)
    os.close(process)


@pytest.mark.crash
def test_the_model_ends_with_a_program_that_is_killed(installed: None) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", STARTS_A_MODEL], cwd=EXAMPLE, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        model = os.pidfd_open(int(program.stdout.readline()))
        program.send_signal(signal.SIGKILL)
    assert has_ended(model, within_s=10)
    os.close(model)


def assert_can_be_judged(turn: Turn) -> None:
    """Each call that may run names an offered tool and fits its schema; any other end runs nothing."""
    assert turn.ended in {Ended.CALLS_ALLOWED, Ended.TRUNCATED}, turn.reason
    for call in turn.runnable:
        assert jsonschema_rs.is_valid(SCHEMAS[call.name], json.loads(call.arguments_raw))


def has_ended(process: int, *, within_s: float) -> bool:
    ready, _, _ = select.select([process], [], [], within_s)
    return bool(ready)
