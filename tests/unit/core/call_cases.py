"""A tool, people and facts that the tests of one governed call share."""

from interlock.core.approval import Approval, ApprovalState, Requirement, Vote
from interlock.core.call import Caller, Principal, ToolCall
from interlock.core.canonical import Json
from interlock.core.catalogue import Catalogue, Tool
from interlock.core.decision import binding, request_of
from interlock.core.effect import CallState, Effect
from interlock.core.facts import Facts, Prior
from interlock.core.freeze import Unfrozen, freeze
from interlock.core.labels import NO_LABELS
from interlock.core.lifecycle import Lifecycle
from interlock.core.operation import Operation
from interlock.core.policy import PolicySet, PolicySlice, PolicySource
from interlock.core.retirement import Retirement
from interlock.core.tool import Document, Entrypoint, ResourceRule, ToolSpec, spec_digest
from interlock.core.tool_compile import compile_tool

PERMIT = '@id("all") permit (principal, action, resource);'
ASK = '@id("ask") @approval("lead") permit (principal, action, resource);'
FORBID = '@id("no") forbid (principal, action, resource);'

SCHEMA: Json = {
    "type": "object",
    "properties": {
        "draft_id": {"type": "string"},
        "content": {"type": "string"},
        "count": {"type": "integer"},
        "lang": {"type": "string", "default": "en"},
    },
    "required": ["draft_id"],
    "additionalProperties": False,
}

ALICE = Principal("acme", "alice", groups=frozenset({"research"}))
BOB = Principal("acme", "bob", groups=frozenset({"lead"}))
BY_ALICE = Caller(ALICE, task="t1")
NOW_US = 1_700_000_000_000_000


def spec(name: str = "save_draft", effect: Effect = Effect.WRITE, **rest: object) -> ToolSpec:
    """A tool that writes a draft, unless it is told otherwise."""
    settings: dict[str, object] = {
        "description": "Save a draft.",
        "input_schema": Document.of(SCHEMA),
        "handler": Entrypoint("python", "drafts:save", "f1"),
        "resource": ResourceRule("Draft", "draft_id"),
        **rest,
    }
    return ToolSpec(name=name, effect=effect, **settings)  # type: ignore[arg-type]


def tool(name: str = "save_draft", effect: Effect = Effect.WRITE, **rest: object) -> Tool:
    """The same, compiled."""
    return compile_tool(spec(name, effect, **rest))


SAVE = tool()
READ = tool("read_draft", Effect.READ)


def catalogue(*tools: Tool) -> Catalogue:
    return Catalogue({(each.spec.tenant, each.spec.name): each for each in tools})


def in_state(state: Lifecycle, retirement: Retirement | None = None) -> Tool:
    return compile_tool(spec(), state=state, retirement=retirement)


def proposed(arguments: object = '{"draft_id":"r1","content":"x"}', **rest: object) -> ToolCall:
    settings: dict[str, object] = {"id": "c1", "name": "save_draft", "arguments": arguments, **rest}
    return ToolCall(**settings)  # type: ignore[arg-type]


def operation(
    arguments: object = '{"draft_id":"r1","content":"x"}',
    *,
    of: Tool = SAVE,
    by: Caller = BY_ALICE,
    expectation: str | None = None,
) -> Operation:
    """A frozen operation; arguments that make none are a fault of the test."""
    frozen = freeze(proposed(arguments, name=of.spec.name, expectation=expectation), by, of)
    assert isinstance(frozen, Operation), frozen
    return frozen


def unfrozen(arguments: object, *, of: Tool = SAVE, by: Caller = BY_ALICE) -> Unfrozen:
    """The reason why arguments make no operation."""
    found = freeze(proposed(arguments, name=of.spec.name), by, of)
    assert isinstance(found, Unfrozen), found
    return found


_POLICIES: dict[tuple[str, str], PolicySet] = {}


def slice_of(found: ToolSpec, text: str = PERMIT) -> PolicySlice:
    """What the policies say about one tool. Compiled once for each text and tool."""
    key = (text, spec_digest(found))
    if key not in _POLICIES:
        _POLICIES[key] = PolicySet([PolicySource("main", text)], [found])
    return _POLICIES[key].slice(found, tenant="acme")


def facts(of: Operation, policy: str = PERMIT, **rest: object) -> Facts:
    """What is known of an operation that nothing stands in the way of, but for what is given."""
    settings: dict[str, object] = {"as_of_us": NOW_US, "slice": slice_of(of.spec, policy), **rest}
    return Facts(**settings)  # type: ignore[arg-type]


def prior(of: Operation, state: CallState = CallState.SUCCEEDED, **rest: object) -> Prior:
    """An earlier call of the same operation, under the same key."""
    settings: dict[str, object] = {
        "operation_id": "op1",
        "tool": of.spec.name,
        "model_digest": of.model_digest,
        "state": state,
        "observation": None if state is CallState.CLAIMED else b"{}",
        "at_us": NOW_US - 60_000_000,
        "labels": NO_LABELS,
        **rest,
    }
    return Prior(**settings)  # type: ignore[arg-type]


LEADS = Vote("lena", frozenset({"lead"}), approve=True, at_us=NOW_US - 30_000_000)
"""The vote that grants an approval of these cases."""


def approval(of: Operation, state: ApprovalState = ApprovalState.GRANTED, **rest: object) -> Approval:
    """An approval of this operation under the policy that asks."""
    found = facts(of, ASK)
    settings: dict[str, object] = {
        "id": "a1",
        "tenant": "acme",
        "operation_id": "op1",
        "binding": binding(of, found, found.slice.decide(request_of(of, found))),
        "requirement": Requirement(frozenset({"lead"}), reasons=("ask",)),
        "summary": "Save a draft.",
        "asked_at_us": NOW_US - 60_000_000,
        "expires_at_us": NOW_US + 60_000_000,
        "state": state,
        "requesters": frozenset({"alice"}),
        "votes": () if state is ApprovalState.PENDING else (LEADS,),
        **rest,
    }
    return Approval(**settings)  # type: ignore[arg-type]
