"""From raw arguments to what will run: defaults, trusted values, the whole schema, in that order."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.call import Caller
from interlock.core.canonical import Json, canonical, decode
from interlock.core.effect import Effect
from interlock.core.freeze import canonical_id, filled, resource_of
from interlock.core.refusals import Code
from interlock.core.resource import Resource
from interlock.core.tool import Document, Parameter, ParameterSource, ResourceRule
from tests.unit.core.call_cases import ALICE, BY_ALICE, SAVE, operation, tool, unfrozen

PARAMETERS = tuple(
    Parameter(name, source=ParameterSource.CONTEXT, inject=inject)
    for name, inject in (
        ("tenant_id", "tenant"),
        ("who", "principal"),
        ("owner", "on_behalf_of"),
        ("region", "claims.region"),
    )
)
INJECTED = tool(
    "list_drafts",
    Effect.READ,
    resource=None,
    parameters=PARAMETERS,
    input_schema=Document.of(
        {
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "default": 10, "maximum": 100},
                "tenant_id": {"type": "string"},
                "who": {"type": "string"},
                "owner": {"type": "string"},
                "region": {"type": "string", "enum": ["eu", "us"]},
            },
            "required": ["tenant_id", "who", "owner", "region"],
            "additionalProperties": False,
        }
    ),
)
IN_EU = Caller(replace(ALICE, id="bot", acting_for="alice", claims={"region": "eu"}))


def errors(details: object) -> list[dict[str, Json]]:
    assert isinstance(details, dict)
    return details["validation_errors"]  # type: ignore[no-any-return]


@pytest.mark.requirement("CALL-5")
def test_defaults_and_trusted_values_are_in_what_runs() -> None:
    frozen = operation("{}", of=INJECTED, by=IN_EU)
    assert dict(frozen.values) == {"limit": 10, "tenant_id": "acme", "who": "bot", "owner": "alice", "region": "eu"}
    assert decode(frozen.arguments) == frozen.values
    assert frozen.arguments == canonical(dict(frozen.values))


@pytest.mark.requirement("CALL-5")
def test_a_default_never_stands_in_for_a_trusted_value() -> None:
    schema: Json = {"type": "object", "properties": {"tenant_id": {"type": "string", "default": "globex"}}}
    of = tool("list", Effect.READ, resource=None, parameters=PARAMETERS[:1], input_schema=Document.of(schema))
    assert operation("{}", of=of).values == {"tenant_id": "acme"}


@pytest.mark.requirement("CALL-5")
@pytest.mark.parametrize("name", ["tenant_id", "who", "owner", "region"])
def test_a_value_that_the_model_supplies_for_a_trusted_parameter_is_refused(name: str) -> None:
    found = unfrozen({name: "eu"}, of=INJECTED, by=IN_EU)
    assert found.code is Code.TOOL_ARGUMENT_INVALID
    assert [(each["path"], each["keyword"]) for each in errors(found.details)] == [(f"/{name}", "injected")]


@pytest.mark.requirement("CALL-5")
def test_a_context_that_lacks_a_trusted_value_is_refused_and_the_value_named() -> None:
    found = unfrozen("{}", of=INJECTED, by=Caller(ALICE))
    assert (found.code, found.message) == (Code.CONTEXT_MISSING, "The session lacks claims.region.")


@pytest.mark.requirement("CALL-5")
def test_trusted_values_are_held_to_the_schema_too() -> None:
    elsewhere = Caller(replace(ALICE, claims={"region": "mars"}))
    found = unfrozen("{}", of=INJECTED, by=elsewhere)
    assert "/region" in {each["path"] for each in errors(found.details)}


@pytest.mark.requirement("CALL-5")
def test_violations_say_where_and_what_and_never_the_value() -> None:
    found = unfrozen({"draft_id": "r1", "count": "s3cret-value", "more": "s3cret-value"})
    assert found.code is Code.TOOL_ARGUMENT_INVALID
    assert {each["path"] for each in errors(found.details)} == {"/count", "/more"}
    assert all({"path", "keyword", "expected", "hint"} == each.keys() for each in errors(found.details))
    assert "s3cret-value" not in repr(found)


@pytest.mark.requirement("CALL-5")
@pytest.mark.parametrize(
    ("inject", "value"), [("run", "r1"), ("task", "t1"), ("tenant_id", "acme"), ("claims.n", 5), ("claims.yes", True)]
)
def test_every_trusted_value_can_be_injected_with_its_type(inject: str, value: Json) -> None:
    of = tool(
        "any",
        Effect.READ,
        resource=None,
        parameters=(Parameter("x", source=ParameterSource.CONTEXT, inject=inject),),
        input_schema=Document.of({"type": "object", "properties": {"x": {}}}),
    )
    by = Caller(replace(ALICE, claims={"n": 5, "yes": True}), run="r1", task="t1")
    frozen = operation("{}", of=of, by=by)
    assert frozen.arguments == canonical({"x": value})


@pytest.mark.requirement("CALL-5")
@pytest.mark.parametrize("raw", ["nope", '{"draft_id":"r1"', '{"draft_id":"r1","draft_id":"r2"}'])
def test_what_is_no_json_is_invalid_json(raw: str) -> None:
    assert unfrozen(raw).code is Code.INVALID_JSON


def test_a_root_that_is_no_object_does_not_fit() -> None:
    assert unfrozen("[1]").code is Code.TOOL_ARGUMENT_INVALID


@pytest.mark.requirement("CALL-3")
@given(st.integers(-(10**40), 10**40))
def test_an_integer_keeps_its_value_from_text_to_what_runs(number: int) -> None:
    frozen = operation(f'{{"draft_id":"r1","count":{number}}}')
    assert frozen.values["count"] == number
    assert f'"count":{number},'.encode() in frozen.arguments
    assert decode(frozen.arguments) == frozen.values


@pytest.mark.requirement("CALL-7", "CALL-3")
def test_what_policy_and_handler_read_has_the_types_of_what_was_hashed() -> None:
    frozen = operation('{"draft_id":"r1","count":2.0}')
    assert type(frozen.values["count"]) is int
    assert canonical(dict(frozen.values)) == frozen.arguments


@pytest.mark.requirement("CALL-7")
def test_order_space_and_escapes_of_the_proposal_do_not_matter() -> None:
    plain = operation('{"content":"A","draft_id":"r1"}')
    other = operation(' {"draft_id" : "r\\u0031", "content":"\\u0041"} ')
    assert (other.digest, other.arguments, other.key) == (plain.digest, plain.arguments, plain.key)


@pytest.mark.requirement("CALL-7")
def test_what_was_frozen_does_not_follow_a_later_change_of_the_proposal() -> None:
    live: dict[str, object] = {"draft_id": "r1", "content": "x"}
    frozen = operation(live)
    live["content"] = "changed while a person looked at it"
    assert frozen.values["content"] == "x"
    assert frozen.digest == operation().digest


@pytest.mark.requirement("IDEM-2")
def test_the_models_own_arguments_are_compared_before_defaults() -> None:
    plain, spelled = operation(), operation('{"draft_id":"r1","content":"x","lang":"en"}')
    assert plain.digest == spelled.digest
    assert plain.model_digest != spelled.model_digest
    assert plain.model_digest == operation('{"content":"x","draft_id":"r1"}').model_digest


def test_the_resource_is_named_by_the_arguments() -> None:
    assert operation().resource == Resource("Draft", "r1")
    assert resource_of(ResourceRule("File", "path"), {"path": "./b//c/../d"}) == Resource("File", "b/d")
    assert resource_of(ResourceRule("Page", "{site}/{page}"), {"site": "a", "page": 7}) == Resource("Page", "a/7")


def test_arguments_that_name_no_resource_are_refused() -> None:
    of = tool(resource=ResourceRule("Draft", "content"))
    found = unfrozen({"draft_id": "r1"}, of=of)
    assert (found.code, found.message) == (Code.TOOL_ARGUMENT_INVALID, "The arguments name no Draft.")


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize(
    ("account", "draft"),
    [
        ("bob", "../alice/x"),
        ("bob/../alice", "z"),
        ("alice/b", "c"),
        ("alice", "b/c"),
        ("..", "x"),
        ("a", "."),
        ("", "x"),
    ],
)
def test_an_argument_fills_only_its_own_part_of_a_name(account: str, draft: str) -> None:
    of = tool(resource=ResourceRule("Draft", "{draft_id}/{content}"))
    found = unfrozen({"draft_id": account, "content": draft}, of=of)
    assert found.code is Code.TOOL_ARGUMENT_INVALID
    assert found.message.startswith("The arguments do not name one Draft: ")


@pytest.mark.requirement("POL-2")
@given(st.lists(st.text(alphabet="a-./", max_size=5), min_size=4, max_size=4))
def test_no_two_pairs_of_arguments_name_one_resource(texts: list[str]) -> None:
    rule = ResourceRule("Draft", "x-{a}--{b}/y")
    one, other = (resource_of(rule, {"a": a, "b": b}) for a, b in (texts[:2], texts[2:]))
    assert one is None or one != other or texts[:2] == texts[2:]


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize(
    ("a", "b", "is_named"),
    [("x", "y--z", True), ("x--y", "z", False), ("x-", "y", False), ("x", "-y", True), ("x-y", "z", True)],
)
def test_a_part_ends_where_the_text_after_it_begins(a: str, b: str, is_named: bool) -> None:
    assert (resource_of(ResourceRule("Draft", "{a}--{b}"), {"a": a, "b": b}) is not None) == is_named


@pytest.mark.requirement("POL-2")
@pytest.mark.parametrize("path", ["../notes/x", "notes/../../etc/passwd", "/../notes/x", "..", "a/../../a/b"])
def test_a_path_that_climbs_out_names_nothing(path: str) -> None:
    assert resource_of(ResourceRule("File", "path"), {"path": path}) is None


@pytest.mark.parametrize(
    ("name", "spelled"),
    [
        ("a", "a"),
        ("./a//b/../c", "a/c"),
        ("a/", "a"),
        ("/a/../../b", "/b"),
        ("../a", "a"),
        ("..", ""),
        (".", ""),
        ("a..b", "a..b"),
        ("/", "/"),
    ],
)
def test_one_resource_has_one_spelling(name: str, spelled: str) -> None:
    assert canonical_id(name) == spelled


@given(st.text(alphabet="ab./", max_size=12))
def test_a_canonical_id_is_its_own(name: str) -> None:
    once = canonical_id(name)
    assert canonical_id(once) == once
    assert ".." not in once.split("/")


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{a}", "x"),
        ("{a}/{n}", "x/7"),
        ("fixed", "fixed"),
        ("{a}{a}", "xx"),
        ("{missing}", None),
        ("{yes}", None),
        ("{list}", None),
        ("{half}", None),
        ("{none}", None),
    ],
)
def test_a_template_takes_texts_and_integers_only(template: str, words: str | None) -> None:
    values: dict[str, Json] = {"a": "x", "n": 7, "yes": True, "list": ["x"], "half": 0.5, "none": None}
    assert filled(template, values) == words


def test_a_call_without_arguments_is_frozen_as_an_empty_object() -> None:
    of = tool("ping", Effect.READ, resource=None, input_schema=Document.of({"type": "object"}))
    nothing: tuple[object, ...] = (None, "", "  ", "null", "{}", {})
    assert {operation(raw, of=of).arguments for raw in nothing} == {b"{}"}
    assert operation(of=SAVE, by=BY_ALICE).tool is SAVE


@pytest.mark.requirement("TOOL-1")
def test_a_parameter_of_the_user_is_not_the_models_to_supply() -> None:
    asked = tool("send", parameters=(Parameter("content", source=ParameterSource.USER),))
    arguments = {"draft_id": "d1", "content": "x"}
    assert unfrozen(arguments, of=asked).code is Code.TOOL_ARGUMENT_INVALID
    assert operation(arguments, of=asked, by=replace(BY_ALICE, user_requested=True)).values["content"] == "x"
