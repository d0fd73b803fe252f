"""What a cached read depends on, and which effects end it."""

import pytest

from interlock.core.budget import Amounts, ScopeKind, Usage
from interlock.core.cache import counted_effects, generation, types_read_by
from interlock.core.effect import Effect
from interlock.core.tool import CacheRule, ResourceRule
from tests.unit.core.call_cases import operation, tool

NOTE = ResourceRule("Note", "draft_id")


@pytest.mark.parametrize(
    ("rule", "resource", "types"),
    [
        (None, NOTE, ()),
        (CacheRule(1), NOTE, ("Note",)),
        (CacheRule(1), None, ("*",)),
        (CacheRule(1, ("Mail", "User")), NOTE, ("Mail", "User")),
    ],
)
def test_a_read_depends_on_what_it_names_else_on_its_resource_else_on_everything(
    rule: CacheRule | None, resource: ResourceRule | None, types: tuple[str, ...]
) -> None:
    read = tool(effect=Effect.READ, cache=rule, resource=resource).spec
    assert types_read_by(read) == types


@pytest.mark.parametrize(
    ("effect", "resource", "types"),
    [
        (Effect.WRITE, NOTE, ["*", "Note"]),
        (Effect.WRITE, None, ["*", "Mail", "Note"]),
        (Effect.DESTRUCTIVE, ResourceRule("Other", "draft_id"), ["*"]),
        (Effect.READ, NOTE, []),
    ],
)
def test_an_effect_counts_on_its_own_type_and_on_all_where_it_names_none(
    effect: Effect, resource: ResourceRule | None, types: list[str]
) -> None:
    made = operation(of=tool(effect=effect, resource=resource))
    counted = counted_effects(made, frozenset({"Note", "Mail", "*"}))
    assert [each.scope.id for each in counted] == types
    assert {each.scope.kind for each in counted} <= {ScopeKind.EFFECTS}
    assert counted_effects(made, frozenset()) == ()


def test_nothing_holds_while_an_effect_is_on_its_way() -> None:
    done, busy = Usage(Amounts(calls=3)), Usage(Amounts(calls=3), Amounts(calls=1))
    assert generation([done, Usage()]) == (3, 0)
    assert generation([done, busy]) is None
