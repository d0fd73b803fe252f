"""YAML as plain data: read without tags, aliases or a key twice, and written so that people can review it."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import yaml

from interlock.core.canonical import Json
from interlock.core.errors import SpecInvalid

BYTES_MAX = 1_048_576


class _Strict(yaml.SafeLoader):
    """Safe, and refuses what makes a reader and a machine see different things."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise SpecInvalid(f"line {mark.line + 1}: aliases are not read; write the value out")
        node: yaml.Node | None = super().compose_node(parent, index)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise SpecInvalid(f"line {key.start_mark.line + 1}: a key must be text; quote it")
            if key.value in seen:
                raise SpecInvalid(f"line {key.start_mark.line + 1}: {key.value!r} stands here twice")
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def read_yaml(text: str) -> object:
    """The one document that the text holds. Raises `SpecInvalid` with the line."""
    if len(text.encode(errors="replace")) > BYTES_MAX:
        raise SpecInvalid(f"it is larger than {BYTES_MAX} bytes")
    try:
        return yaml.load(text, Loader=_Strict)  # noqa: S506 - a stricter safe loader
    except yaml.MarkedYAMLError as fault:
        line = 0 if fault.problem_mark is None else fault.problem_mark.line + 1
        raise SpecInvalid(f"line {line}: {fault.problem or 'this is not YAML'}") from fault
    except (yaml.YAMLError, RecursionError, ValueError) as fault:
        raise SpecInvalid(f"this is not YAML: {type(fault).__name__}") from fault


class _Plain(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Writes texts of many lines as they are."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Plain.add_representer(str, _text)


def write_yaml(head: str, document: Mapping[str, Json]) -> str:
    """A file for people: the head, which is a remark, and the document."""
    # Written and read once more: equal parts that are one object would be written as aliases, which are not read.
    plain = json.loads(json.dumps(document))
    return head + yaml.dump(plain, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)
