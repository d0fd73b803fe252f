"""One turn of a model: tools out, calls in, each through the gate, results back in the provider's own form."""

import asyncio
import json
from collections.abc import Mapping

from interlock import Caller, Gate, PolicySource, Principal, ToolCall, tool
from interlock.models import openai_responses
from interlock.models.catalogue_names import catalogue_name
from interlock.models.codec import Answer, Codec, Options
from interlock.models.names import WireNames, spell
from interlock.models.turn import Turn

CODEC: Codec = openai_responses  # or openai_chat, anthropic, gemini, bedrock


@tool(effect="read", owner="eng")
async def read_note(note: str) -> str:
    """Read a note."""
    return f"What {note} says."


POLICY = PolicySource("eng", '@id("eng") permit(principal in Group::"eng", action, resource);')
alice = Principal("default", "alice", groups=frozenset({"eng"}))


async def send(body: Mapping[str, object]) -> bytes:
    """Your HTTP client. Here it answers what a model might."""
    call = {"type": "function_call", "call_id": "c1", "name": "read_note", "arguments": '{"note": "plan"}'}
    done = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It says so."}]}
    asked: object = body["input"]
    output = call if isinstance(asked, list) and len(asked) == 1 else done
    return json.dumps({"id": "resp_1", "status": "completed", "output": [output]}).encode()


async def answered(gate: Gate, turn: Turn, names: WireNames) -> list[Answer]:
    """Put every call that may run to the gate. The others were never closed, and are told so."""
    answers = []
    for call in turn.calls:
        text, failed = "The call was cut off. Send it again.", True
        if call in turn.runnable:
            proposal = ToolCall(call.reply_id, catalogue_name(call, names), call.arguments_raw)
            seen = await gate.call(proposal, principal=alice, run="run-1")
            text, failed = gate.for_model(seen), seen.error is not None
        answers.append(Answer(call, text, failed=failed))
    return answers


async def main() -> None:
    """Ask, run what was asked for, and ask again until the model answers."""
    async with Gate.open(tools=[read_note], policies=[POLICY]) as gate:
        offered = gate.catalogue.visible(Caller(alice))
        names = spell(each.spec.name for each in offered)
        specs = [(each.spec.name, each.spec.description, json.loads(each.model_schema)) for each in offered]
        tools = CODEC.declarations(specs, names=names)
        history: list[dict[str, object]] = [{"role": "user", "content": "What does the plan say?"}]
        for _ in range(5):  # a limit on every loop
            body = CODEC.request(history, options=Options(model="gpt-5-mini", tokens_max=900), tools=tools)
            turn = CODEC.read_response(await send(body))
            if not turn.runnable:
                print(turn.ended, turn.text or turn.reason)
                break
            history += CODEC.echo(turn)
            history += CODEC.results(await answered(gate, turn, names))


if __name__ == "__main__":
    asyncio.run(main())
