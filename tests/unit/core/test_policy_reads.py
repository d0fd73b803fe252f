"""What a policy reads, found in its conditions and its scope."""

import pytest

from interlock.core.policy import PolicySource
from interlock.core.policy_compile import compile_source
from interlock.core.policy_reads import Reads, below, open_record
from interlock.core.policy_values import BOOLEAN, DECIMAL, LONG, STRING, STRINGS, CedarType, Record, SetOf, record


def reads(condition: str, scope: str = "principal, action, resource") -> Reads:
    [policy] = compile_source(PolicySource("main", f"permit ({scope}) when {{ {condition} }};"))
    return policy.reads


@pytest.mark.parametrize(
    ("condition", "paths"),
    [
        ("context.args.a.b == 1", {"context.args.a.b"}),
        ('context["args"]["a"] == 1', {"context.args.a"}),
        ("context.args has a", {"context.args.a"}),
        ("context.args has a.b", {"context.args.a", "context.args.a.b"}),
        ('principal in Group::"g"', {"principal.parents"}),
        ('principal in [Group::"g", Tenant::"t"]', {"principal.parents"}),
        ('principal in User::"u"', {"principal"}),
        ('principal in [Group::"g", User::"u"]', {"principal"}),
        ("principal is User", {"principal"}),
        ("{x: principal}.x.id == resource.owner", {"principal", "resource.owner"}),
        ('(if true then principal else principal) == User::"a"', {"principal"}),
        ('{Var: context.agent}.Var == "x"', {"context.agent"}),
        ('context.args.a like "x*" && [context.door].contains("y")', {"context.args.a", "context.door"}),
        ('decimal("1.0").lessThan(context.args.d) || ip("::1").isInRange(ip("::1"))', {"context.args.d"}),
        ("context == context", {"context"}),
        ("-context.args.n < 3 && !context.args.f", {"context.args.n", "context.args.f"}),
        ("1 == 1", set()),
    ],
)
def test_every_path_of_a_condition_is_found(condition: str, paths: set[str]) -> None:
    assert {".".join(path) for path in reads(condition).paths} == paths


@pytest.mark.parametrize(
    ("scope", "paths"),
    [
        ('principal in Group::"g", action, resource', {"principal.parents"}),
        ('principal == User::"u", action, resource', {"principal.id"}),
        ('principal is User in Tenant::"t", action, resource', {"principal.parents"}),
        ('principal is User, action, resource == Draft::"d"', {"resource.id"}),
        ('principal, action, resource is Draft in Draft::"d"', {"resource.id"}),
    ],
)
def test_the_scope_reads_too(scope: str, paths: set[str]) -> None:
    assert {".".join(path) for path in reads("true", scope).paths} == paths


def test_actions_named_in_conditions_and_arguments_of_like_are_found() -> None:
    found = reads('(action == Action::"a" || action in [Action::"b"]) && context.args.q like "x*"')
    assert found.actions == {"a", "b"}
    assert found.likes == {("context", "args", "q")}


def test_reading_a_whole_reads_its_parts() -> None:
    paths = [("context", "args"), ("context", "run", "trust")]
    assert below(paths, root=("context", "args", "x")) == {()}
    assert below(paths, root=("context", "run")) == {("trust",)}
    assert below([("context",)], root=("context", "facts")) == {()}


@pytest.mark.parametrize(
    ("condition", "type_"),
    [
        ('context.facts.x == "a"', STRING),
        ("context.facts.x != 1", LONG),
        ("true == context.facts.x", BOOLEAN),
        ("context.facts.x", BOOLEAN),
        ("context.facts has x && context.facts.x", BOOLEAN),
        ("!context.facts.x", BOOLEAN),
        ("context.facts.x + 1 > 2", LONG),
        ('context.facts.x like "a"', STRING),
        ('context.facts.x.contains("a")', STRINGS),
        ("context.facts.x.contains(1)", SetOf(LONG)),
        ("context.facts.x.containsAny([1, 2])", SetOf(LONG)),
        ("context.facts.x.isEmpty()", STRINGS),
        ("principal.groups.contains(context.facts.x)", STRING),
        ("context.facts.x == principal.groups", STRINGS),
        ("context.facts.x == context.tool.risk", LONG),
        ('context.facts.x.lessThan(decimal("1.0"))', DECIMAL),
        ("context.facts has x", STRING),
        ('context.facts.x.y == "a"', record(y=STRING)),
    ],
)
def test_the_use_of_a_fact_implies_its_type(condition: str, type_: CedarType) -> None:
    found = reads(condition)
    usages = [(path[2:], implied) for path, implied in found.usages if path[:2] == ("context", "facts")]
    assert open_record(usages, paths=found.below("context", "facts")) == record(x=type_)


def test_nothing_read_is_an_empty_record() -> None:
    assert open_record([], paths=frozenset({()})) == Record()
