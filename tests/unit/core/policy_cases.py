"""Tools, people and requests that the tests of policies share."""

from collections.abc import Mapping

from interlock.core.call import Principal
from interlock.core.canonical import Json
from interlock.core.effect import Effect
from interlock.core.policy import Evaluate, Mode, PolicyRequest, PolicySet, PolicySource, Verdict, cedar
from interlock.core.resource import Resource
from interlock.core.tool import SHARED, Document, Entrypoint, ResourceRule, ToolSpec

PROPERTIES: dict[str, Json] = {
    "query": {"type": "string"},
    "count": {"type": "integer"},
    "amount": {"type": "number"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "page": {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
    "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "either": {"type": ["string", "integer"]},
}


def tool(
    name: str = "search", *, effect: Effect = Effect.READ, required: tuple[str, ...] = (), **rest: object
) -> ToolSpec:
    """A tool of the group `research`."""
    needed: list[Json] = [*required]
    settings: dict[str, object] = {
        "input_schema": Document.of({"type": "object", "properties": PROPERTIES, "required": needed}),
        "owner": "research",
        **rest,
    }
    return ToolSpec(
        name=name,
        description="A tool.",
        handler=Entrypoint("python", "module:function", "f1"),
        effect=effect,
        **settings,  # type: ignore[arg-type]
    )


SEARCH = tool()
SAVE = tool("save_draft", effect=Effect.WRITE, resource=ResourceRule("Draft", "query", resolved=True))
PUT = tool("put_draft", effect=Effect.IDEMPOTENT_WRITE)
DROP = tool("drop_drafts", effect=Effect.DESTRUCTIVE)
SEND = tool("send_mail", effect=Effect.WRITE, external=True, facts=("ticket",))
CATALOGUE = (SEARCH, SAVE, PUT, DROP, SEND)

ALICE = Principal("acme", "alice", groups=frozenset({"research"}))
BOB = Principal("acme", "bob", groups=frozenset({"sales"}))
DRAFT = Resource("Draft", "r1", "7", {"owner": "alice"})


def policies(text: str, *, log_only: str = "", tenant: str = SHARED, evaluate: Evaluate = cedar) -> PolicySet:
    """The policy file `main`, and where given `trial` in log-only mode."""
    sources = [PolicySource("main", text, tenant=tenant)]
    if log_only:
        sources.append(PolicySource("trial", log_only, mode=Mode.LOG_ONLY))
    return PolicySet(sources, CATALOGUE, evaluate=evaluate)


def request(spec: ToolSpec = SEARCH, arguments: Mapping[str, Json] | None = None, **rest: object) -> PolicyRequest:
    """Alice calls a tool."""
    settings: dict[str, object] = {
        "principal": ALICE,
        "resource": None if spec.resource is None else DRAFT,
        **rest,
    }
    return PolicyRequest(spec=spec, arguments=arguments or {}, **settings)  # type: ignore[arg-type]


def decide(text: str, asked: PolicyRequest) -> Verdict:
    """What the policies of `text` say to it."""
    return policies(text).slice(asked.spec, asked.principal.tenant).decide(asked)
