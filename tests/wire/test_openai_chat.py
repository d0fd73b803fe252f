"""A recorded Chat Completions turn goes back as a history that servers take."""

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.models.openai_chat import assistant_echo, read_response, read_stream, tool_message

pytestmark = pytest.mark.wire


@pytest.mark.requirement("LOOP-2")
def test_every_turn_with_calls_goes_back_as_a_history_that_servers_take(wire_corpus: Path) -> None:
    index = json.loads((wire_corpus / "index.json").read_text(encoding="utf-8"))
    for case in (case for case in index["cases"] if case["provider"] == "openai-chat"):
        body = (wire_corpus / case["file"]).read_bytes()
        turn = read_stream([body]) if case["streaming"] else read_response(body, status=case["http_status"])
        calls: Any = assistant_echo(turn).get("tool_calls", [])
        answered = [tool_message(call, "done") for call in turn.calls]
        replies = [answer["tool_call_id"] for answer in answered if answer["role"] == "tool"]
        assert [call["id"] for call in calls] == replies, case["id"]
        assert len(set(replies)) == len(replies), case["id"]
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict), case["id"]
