"""Random tool schemas, and the edits that people make to them from one version to the next."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

Schema = dict[str, Any]

NAMES = ("id", "name", "kind", "limit", "tags", "owner")
PATTERNS = ("^a", "^[a-z]+$", "^\\d{4}-\\d{2}$", "b$", "^(x|y)-[0-9]+$")
FORMATS = ("date", "date-time", "email", "uri", "uuid")
VALUES = ("open", "closed", "draft", 1, 2, None)


def schema(dice: Random) -> Schema:
    """An object schema as tools have them, with the odd corners that some have."""
    root = _object(dice, 0)
    if "#/$defs" in str(root) or dice.random() < 0.2:
        root["$defs"] = {
            "name": {"type": "string", "maxLength": 8},
            "node": {
                "type": "object",
                "properties": {
                    "name": {"$ref": "#/$defs/name"},
                    "below": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["name"],
            },
        }
    return root


def edited(original: Schema, dice: Random) -> Schema:
    """The schema after one to three edits."""
    result = deepcopy(original)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        for _ in range(40):
            node = dice.choice(list(_nodes(result)))
            if dice.choice(EDITS)(node, dice):
                break
    result["type"] = "object"
    return result


def _part(dice: Random, level: int) -> Schema:
    kind = dice.choice(KINDS[: 12 if level < 2 else 7] if dice.random() < 0.85 else ODD)
    return kind(dice, level)


def _object(dice: Random, level: int) -> Schema:
    names = dice.sample(NAMES, dice.randint(1, 4))
    properties = {name: _part(dice, level + 1) for name in names}
    for each in properties.values():
        if dice.random() < 0.1 and each.get("type") in ("string", "integer"):
            each["default"] = each.get("enum", ["ab" if each["type"] == "string" else 3])[0]
    found: Schema = {"type": "object", "properties": properties}
    if dice.random() < 0.7:
        found["required"] = [name for name in names if dice.random() < 0.5]
    if dice.random() < 0.6:
        found["additionalProperties"] = False
    elif dice.random() < 0.1:
        found["additionalProperties"] = {"type": "string"}
    if dice.random() < 0.05:
        found["maxProperties"] = dice.randint(2, 4)
    if dice.random() < 0.05:
        found["dependentRequired"] = {names[0]: [names[-1]]}
    if dice.random() < 0.04:
        found["patternProperties"] = {"^x-": {"type": "string"}}
    return found


def _text(dice: Random, level: int) -> Schema:
    found: Schema = {"type": "string", "description": "A text."}
    if dice.random() < 0.3:
        found["minLength"] = dice.randint(0, 3)
    if dice.random() < 0.3:
        found["maxLength"] = dice.randint(3, 9)
    if dice.random() < 0.15:
        return {"type": "string", "pattern": dice.choice(PATTERNS)}
    if dice.random() < 0.1:
        return {"type": "string", "format": dice.choice(FORMATS)}
    return found


def _number(dice: Random, level: int) -> Schema:
    found: Schema = {"type": dice.choice(("integer", "integer", "number"))}
    if dice.random() < 0.4:
        found["minimum"] = dice.randint(-3, 3)
    if dice.random() < 0.4:
        found["maximum"] = dice.randint(5, 100)
    if dice.random() < 0.1:
        found["multipleOf"] = dice.choice((2, 5))
    return found


def _list(dice: Random, level: int) -> Schema:
    found: Schema = {"type": "array", "items": _part(dice, level + 1)}
    if dice.random() < 0.3:
        found["maxItems"] = dice.randint(1, 5)
    if dice.random() < 0.2:
        found["minItems"] = 1
    if dice.random() < 0.15:
        found["uniqueItems"] = True
    return found


KINDS: tuple[Callable[[Random, int], Schema], ...] = (
    _text,
    _text,
    _number,
    lambda dice, level: {"type": "boolean"},
    lambda dice, level: {"type": "string", "enum": dice.sample(("a", "b", "c", "d"), dice.randint(1, 4))},
    lambda dice, level: {"type": ["string", "null"]},
    lambda dice, level: {"$ref": "#/$defs/name"},
    _list,
    _object,
    _object,
    lambda dice, level: {"anyOf": [_part(dice, level + 1), {"type": "null"}]},
    lambda dice, level: {"$ref": "#/$defs/node"},
)
ODD: tuple[Callable[[Random, int], Schema], ...] = (
    lambda dice, level: {},
    lambda dice, level: {"enum": dice.sample(VALUES, 3)},
    lambda dice, level: {"const": dice.choice(VALUES)},
    lambda dice, level: {"oneOf": [_kinded("a", dice, level), _kinded("b", dice, level)]},
    lambda dice, level: {"allOf": [{"$ref": "#/$defs/node"}, {"properties": {"kind": _text(dice, level)}}]},
    lambda dice, level: {"type": "string", "not": {"enum": ["root", "a"]}},
    lambda dice, level: {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "limit": {"type": "integer"}},
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["limit"]},
    },
    lambda dice, level: {"type": "array", "prefixItems": [_text(dice, 9), _number(dice, 9)], "items": False},
    lambda dice, level: {"type": "array", "contains": {"const": "x"}, "items": {"type": "string"}},
    lambda dice, level: {"type": "object", "additionalProperties": _part(dice, level + 2)},
    lambda dice, level: {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}},
    lambda dice, level: {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "array"}]},
)


def _kinded(kind: str, dice: Random, level: int) -> Schema:
    properties = {"kind": {"const": kind}, "name": _part(dice, level + 2)}
    return {"type": "object", "properties": properties, "required": ["kind"]}


def _nodes(node: Any) -> Iterator[Schema]:
    if isinstance(node, dict):
        yield node
        for word in ("properties", "$defs", "patternProperties"):
            for each in node.get(word, {}).values():
                yield from _nodes(each)
        for word in ("items", "additionalProperties", "contains"):
            yield from _nodes(node.get(word))
        for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
            for each in node.get(word, []):
                yield from _nodes(each)


def _bound(word: str, low: int, high: int, kind: str) -> Callable[[Schema, Random], bool]:
    def edit(node: Schema, dice: Random) -> bool:
        if node.get("type") not in (kind, "integer" if kind == "number" else kind) or "enum" in node:
            return False
        if word in node and dice.random() < 0.3:
            del node[word]
        elif word in node:
            node[word] = max(0, node[word] + dice.choice((-2, -1, 1, 3)))
        else:
            node[word] = dice.randint(low, high)
        return True

    return edit


def _type(node: Schema, dice: Random) -> bool:
    kinds = ("string", "integer", "number", "boolean", "array", "object", "null")
    if "type" not in node:
        return False
    stated = node["type"]
    if isinstance(stated, list):
        node["type"] = stated[0] if dice.random() < 0.5 else [*dict.fromkeys([*stated, dice.choice(kinds)])]
    elif dice.random() < 0.4:
        node["type"] = [stated, "null"] if stated != "null" else stated
    elif stated in ("integer", "number"):
        node["type"] = "number" if stated == "integer" else "integer"
    else:
        node["type"] = dice.choice(kinds)
    return True


def _values(node: Schema, dice: Random) -> bool:
    if "enum" not in node:
        return False
    node["enum"] = [each for each in node["enum"] if dice.random() < 0.7] or node["enum"][:1]
    if dice.random() < 0.5:
        node["enum"] = [*node["enum"], "new"]
    return True


def _restrict(node: Schema, dice: Random) -> bool:
    if node.get("type") != "string" or "enum" in node:
        return False
    word = dice.choice(("enum", "pattern", "format"))
    value = {"enum": ["a", "ab"], "pattern": dice.choice(PATTERNS), "format": dice.choice(FORMATS)}[word]
    if word in node and dice.random() < 0.6:
        del node[word]
    else:
        node[word] = value
    return True


def _add_member(node: Schema, dice: Random) -> bool:
    if "properties" not in node:
        return False
    name = dice.choice(("cursor", "dry_run", *NAMES))
    node["properties"][name] = _part(dice, 2)
    if dice.random() < 0.3:
        node["required"] = sorted({*node.get("required", []), name})
    return True


def _drop_member(node: Schema, dice: Random) -> bool:
    if not node.get("properties"):
        return False
    name = dice.choice(sorted(node["properties"]))
    del node["properties"][name]
    if "required" in node:
        node["required"] = [each for each in node["required"] if each != name]
    return True


def _demand(node: Schema, dice: Random) -> bool:
    if not node.get("properties"):
        return False
    name = dice.choice(sorted(node["properties"]))
    known = node.get("required", [])
    node["required"] = [each for each in known if each != name] if name in known else [*known, name]
    return True


def _default(node: Schema, dice: Random) -> bool:
    if node.get("type") != "boolean":
        return False
    node["default"] = not node.get("default", True)
    return True


def _open(node: Schema, dice: Random) -> bool:
    if node.get("type") != "object":
        return False
    if "additionalProperties" in node:
        del node["additionalProperties"]
    else:
        node["additionalProperties"] = False
    return True


def _alternatives(node: Schema, dice: Random) -> bool:
    for word in ("anyOf", "oneOf"):
        if len(node.get(word, [])) > 1:
            if dice.random() < 0.5:
                node[word].pop(dice.randrange(len(node[word])))
            else:
                node[word].append(_part(dice, 3))
            return True
    return False


def _nullable(node: Schema, dice: Random) -> bool:
    if not node or "properties" in node or "$defs" in node:
        return False
    inner = dict(node)
    node.clear()
    node["anyOf"] = [inner, {"type": "null"}]
    return True


def _conjunction(node: Schema, dice: Random) -> bool:
    if "$ref" in node:
        return False
    kind = {"string": {"minLength": 2}, "integer": {"maximum": 50}, "object": {"required": ["name"]}}
    node["allOf"] = [*node.get("allOf", []), kind.get(str(node.get("type")), {"type": "string"})]
    return True


def _remark(node: Schema, dice: Random) -> bool:
    node["description"] = f"Version {dice.randint(1, 99)}."
    return True


def _inlined(node: Schema, dice: Random) -> bool:
    if node.get("$ref") != "#/$defs/name":
        return False
    del node["$ref"]
    node |= {"type": "string", "maxLength": 8}
    return True


def _shuffled(node: Schema, dice: Random) -> bool:
    for word in ("enum", "required", "anyOf", "oneOf"):
        if len(node.get(word, [])) > 1:
            dice.shuffle(node[word])
            return True
    return False


def _unique(node: Schema, dice: Random) -> bool:
    if node.get("type") != "array":
        return False
    node["uniqueItems"] = not node.get("uniqueItems", False)
    return True


EDITS: tuple[Callable[[Schema, Random], bool], ...] = (
    _type,
    _values,
    _values,
    _restrict,
    _restrict,
    _add_member,
    _add_member,
    _drop_member,
    _demand,
    _demand,
    _default,
    _open,
    _alternatives,
    _nullable,
    _conjunction,
    _remark,
    _inlined,
    _shuffled,
    _unique,
    _bound("minLength", 1, 4, "string"),
    _bound("maxLength", 3, 12, "string"),
    _bound("minimum", 0, 4, "number"),
    _bound("maximum", 5, 60, "number"),
    _bound("minItems", 1, 2, "array"),
    _bound("maxItems", 1, 6, "array"),
)
