"""What a policy reads, found by walking its JSON form (Cedar's EST).

Decisions are remembered by exactly this, and the engine is shown exactly this and no more: a path that the walk missed
would be a missing attribute, hence a denial, never a remembered answer to another question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interlock.core.canonical import Json
from interlock.core.frozen import frozen
from interlock.core.policy_values import (
    BOOLEAN,
    DECIMAL,
    LONG,
    STRING,
    STRINGS,
    CedarType,
    Field,
    Plain,
    Record,
    SetOf,
)

Path = tuple[str, ...]
Expression = Mapping[str, Json]

PARENTS: Path = ("principal", "parents")
"""The path of what a principal is in; no attribute has this name."""

_PARENT_TYPES = ("Group", "Tenant")
_PARTS_OF_LITERALS = {"Value", "Var", "Slot"}
_BOTH_SIDES: Mapping[str, CedarType] = {
    **dict.fromkeys(("<", "<=", ">", ">=", "+", "-", "*", "neg"), LONG),
    **dict.fromkeys(("&&", "||", "!", "if-then-else"), BOOLEAN),
    **dict.fromkeys(("lessThan", "lessThanOrEqual", "greaterThan", "greaterThanOrEqual"), DECIMAL),
    "like": STRING,
}
_NOT_STRINGS: Mapping[Path, CedarType] = {
    ("principal", "groups"): STRINGS,
    ("context", "tool", "external"): BOOLEAN,
    **{("context", "tool", name): LONG for name in ("risk", "confidentiality")},
    **{("context", "run", name): LONG for name in ("confidentiality", "trust")},
    **{("context", "run", name): STRINGS for name in ("origins", "tools")},
    ("context", "tool", "tags"): STRINGS,
}


@frozen
class Reads:
    """`paths` are rooted in `principal`, `resource`, `context`; `actions` are named in conditions; `likes` by `like`.

    `usages` are the types that the policy's own use of a path implies, in the order of their finding.
    """

    paths: frozenset[Path]
    actions: frozenset[str]
    likes: frozenset[Path]
    usages: tuple[tuple[Path, CedarType], ...]

    def below(self, *root: str) -> frozenset[Path]:
        """What is read below a path, without that path; the empty path where all of it is read."""
        return below(self.paths, root=root)


def below(paths: Iterable[Path], *, root: Path) -> frozenset[Path]:
    """The tails of the paths that lead below `root`, and the empty path where a part of `root` is read whole."""
    found = set()
    for path in paths:
        if path[: len(root)] == root:
            found.add(path[len(root) :])
        elif root[: len(path)] == path:
            found.add(())
    return frozenset(found)


def reads_of(form: Expression) -> Reads:
    """What the policy with this JSON form reads."""
    expressions = list(_expressions(form))
    paths = {path for each in _tops(form) for path in _paths(each)}
    return Reads(
        frozenset(paths) | _scope_paths(form),
        frozenset(name for each in expressions for name in _action_names(each)),
        frozenset(_like_paths(expressions)),
        tuple(usage for each in expressions for usage in _usages(each)) + tuple(_condition_usages(form)),
    )


def open_record(usages: Iterable[tuple[Path, CedarType]], *, paths: frozenset[Path]) -> Record:
    """The record that the policies imply where no schema says what it holds: the first use of a path gives its type."""
    types: dict[Path, CedarType] = {}
    for path, type_ in usages:
        types.setdefault(path, type_)
    return _tree(frozenset(path for path in paths if path), types, ())


def _tree(paths: frozenset[Path], types: Mapping[Path, CedarType], at: Path) -> Record:
    fields = []
    for name in sorted({path[0] for path in paths}):
        here = (*at, name)
        under = frozenset(path[1:] for path in paths if path[0] == name and len(path) > 1)
        fields.append(Field(name, _tree(under, types, here) if under else types.get(here, STRING)))
    return Record(tuple(fields))


def _tops(form: Expression) -> Iterator[Expression]:
    conditions = form.get("conditions")
    for each in conditions if isinstance(conditions, list) else []:
        if isinstance(each, dict) and isinstance(body := each.get("body"), dict):
            yield body


def _expressions(form: Expression) -> Iterator[Expression]:
    stack = list(_tops(form))
    while stack:
        expression = stack.pop()
        yield expression
        stack.extend(_children(expression))


def _children(expression: Expression) -> list[Expression]:
    [(operator, body)] = expression.items()
    if operator in _PARTS_OF_LITERALS:
        return []
    parts = body.values() if isinstance(body, dict) else body if isinstance(body, list) else ()
    return [each for each in parts if isinstance(each, dict)]


def _paths(top: Expression) -> Iterator[Path]:
    stack = [top]
    while stack:
        expression = stack.pop()
        path = path_of(expression)
        if path is not None:
            yield path
        elif _is_parent_test(expression):
            yield PARENTS
        else:
            stack.extend(_children(expression))


def path_of(expression: Expression) -> Path | None:
    """`context.args.path` (or `context.args has path`) as a path; None for anything else."""
    names: list[str] = []
    here: Json = dict(expression)
    while isinstance(here, dict):
        [(operator, body)] = here.items()
        if operator == "Var" and isinstance(body, str):
            return (body, *reversed(names))
        if operator not in (".", "has") or not isinstance(body, dict) or not isinstance(body.get("attr"), str):
            return None
        names.append(str(body["attr"]))
        here = body.get("left")
    return None


def _is_parent_test(expression: Expression) -> bool:
    """`principal in Group::"g"`, or in a set of them: a test that reads no more than what the principal is in."""
    body = expression.get("in")
    if not isinstance(body, dict) or body.get("left") != {"Var": "principal"}:
        return False
    right = body.get("right")
    members = right.get("Set", [right]) if isinstance(right, dict) else []
    return isinstance(members, list) and all(_entity(each)[0] in _PARENT_TYPES for each in members)


def _entity(literal: Json) -> tuple[str, str]:
    value = literal.get("Value") if isinstance(literal, dict) else None
    entity = value.get("__entity") if isinstance(value, dict) else None
    return (str(entity.get("type")), str(entity.get("id"))) if isinstance(entity, dict) else ("", "")


def _action_names(expression: Expression) -> Iterator[str]:
    type_, name = _entity(dict(expression))
    if type_ == "Action":
        yield name


def _like_paths(expressions: Iterable[Expression]) -> Iterator[Path]:
    for each in expressions:
        body = each.get("like")
        path = path_of(left) if isinstance(body, dict) and isinstance(left := body.get("left"), dict) else None
        if path is not None:
            yield path


def _scope_paths(form: Expression) -> set[Path]:
    paths = set()
    for name in ("principal", "resource"):
        scope = form.get(name)
        if isinstance(scope, dict):
            path = _scope_path(name, scope)
            paths |= {path} if path else set()
    return paths


def _scope_path(name: str, scope: Mapping[str, Json]) -> Path | None:
    inner = scope.get("in") if scope.get("op") == "is" else scope
    entity = inner.get("entity") if isinstance(inner, dict) else None
    if not isinstance(entity, dict):
        return None
    return PARENTS if name == "principal" and entity.get("type") in _PARENT_TYPES else (name, "id")


def _condition_usages(form: Expression) -> Iterator[tuple[Path, CedarType]]:
    for top in _tops(form):
        path = path_of(top)
        if path is not None and "has" not in top:
            yield path, BOOLEAN


def _usages(expression: Expression) -> Iterator[tuple[Path, CedarType]]:
    [(operator, body)] = expression.items()
    operands = [each for each in _children(expression) if "has" not in each]
    implied = _BOTH_SIDES.get(operator)
    if implied is not None:
        yield from ((path, implied) for each in operands if (path := path_of(each)))
    elif operator in ("==", "!=") and len(operands) == 2:
        yield from _alike(operands[0], operands[1])
        yield from _alike(operands[1], operands[0])
    elif operator in ("contains", "containsAll", "containsAny", "isEmpty") and isinstance(body, dict):
        yield from _members(operator, operands)


def _alike(one: Expression, other: Expression) -> Iterator[tuple[Path, CedarType]]:
    path = path_of(one)
    if path is not None:
        yield path, _type_of(other)


def _members(operator: str, operands: list[Expression]) -> Iterator[tuple[Path, CedarType]]:
    types = [_type_of(each) for each in operands]
    element = types[-1] if len(types) == 2 and operator == "contains" else STRING
    whole = next((each for each in types[1:] if isinstance(each, SetOf)), SetOf(element))
    for position, each in enumerate(operands):
        path = path_of(each)
        if path is not None:
            yield path, element if operator == "contains" and position == 1 else whole


def _type_of(expression: Expression) -> CedarType:
    """The type of a literal or of a path of known type; String for all else, and validation has the last word."""
    [(operator, body)] = expression.items()
    path = path_of(expression)
    if path is not None:
        return _NOT_STRINGS.get(path, STRING)
    if operator == "Value":
        return _literal_type(body)
    if operator == "Set" and isinstance(body, list):
        elements = [_type_of(each) for each in body if isinstance(each, dict)]
        return SetOf(elements[0] if elements else STRING)
    return _BOTH_SIDES.get(operator, STRING) if operator in ("+", "-", "*", "neg") else _extension_type(operator)


def _extension_type(operator: str) -> Plain:
    return DECIMAL if operator == "decimal" else STRING


def _literal_type(value: Json) -> CedarType:
    if isinstance(value, bool):
        return BOOLEAN
    return LONG if isinstance(value, int) else STRING
