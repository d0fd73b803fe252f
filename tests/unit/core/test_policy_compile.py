"""From text to policies, within limits that keep the parser on its feet."""

import pytest

from interlock.core.errors import PolicyInvalid
from interlock.core.policy import PolicySource
from interlock.core.policy_compile import compile_source, digest_of

ALL = "permit (principal, action, resource)"


def condition(text: str) -> PolicySource:
    return PolicySource("main", f"{ALL} when {{ {text} }};")


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (condition("(" * 1000 + "true" + ")" * 1000), "nests more than 64 brackets"),
        (condition("[" * 1000 + "]" * 1000), "nests more than 64 brackets"),
        (condition("||".join(["true"] * 40_000)), "over 16384 characters"),
        (condition("if true then false else " * 10_000 + "true"), "over 16384 characters"),
        (condition("||".join(["true"] * 2_000)), "nests too deeply"),
        (condition("if true then false else " * 600 + "true"), "nests too deeply"),
        (PolicySource("main", "// x\n" * 60_000), "262144 are allowed"),
        (PolicySource("../main", ALL + ";"), "no name for a policy file"),
        (PolicySource("main", f'@id("x") @quorum("2") {ALL};'), "policy main/x in main.cedar: @quorum"),
    ],
)
def test_a_source_that_cannot_be_held_is_refused_before_it_ends_the_process(source: PolicySource, says: str) -> None:
    with pytest.raises(PolicyInvalid) as refused:
        compile_source(source)
    assert says in str(refused.value)


def test_brackets_nest_as_deep_as_the_limit_says() -> None:
    compile_source(condition("(" * 63 + "true" + ")" * 63))
    with pytest.raises(PolicyInvalid, match="nests more than 64"):
        compile_source(condition("(" * 64 + "true" + ")" * 64))


def test_brackets_and_semicolons_in_strings_and_comments_do_not_count() -> None:
    text = "// " + "(" * 100 + ";\n" + f'{ALL} when {{ context.agent == "{"(" * 100};\\"" }};'
    assert len(compile_source(PolicySource("main", text))) == 1


def test_policies_keep_the_order_of_their_file_beyond_ten() -> None:
    text = "".join(f'@id("p{number}") {ALL} when {{ {number} == 0 }};' for number in range(12))
    assert [policy.id for policy in compile_source(PolicySource("main", text))] == [f"main/p{n}" for n in range(12)]


def test_the_digest_follows_conditions_annotations_and_ids_but_not_the_order() -> None:
    one, two = f'@id("a") {ALL};', f'@id("b") {ALL} when {{ true }};'
    base = digest_of(compile_source(PolicySource("main", one + two)))
    assert digest_of(compile_source(PolicySource("main", two + one))) == base
    assert digest_of(compile_source(PolicySource("main", one + two.replace("true", "false")))) != base
    assert digest_of(compile_source(PolicySource("main", f'@reason("r") {one}{two}'))) != base
    assert digest_of(compile_source(PolicySource("other", one + two))) != base


def test_a_policy_knows_what_its_scope_names() -> None:
    text = 'forbid (principal, action in [Action::"a", Action::"b"], resource is Draft in Draft::"d");'
    [policy] = compile_source(PolicySource("main", text))
    assert (policy.actions, policy.resource, policy.permit) == (frozenset({"a", "b"}), "Draft", False)
    [policy] = compile_source(PolicySource("main", 'permit (principal, action, resource == Draft::"d");'))
    assert (policy.actions, policy.resource, policy.by_group) == (None, "Draft", True)
