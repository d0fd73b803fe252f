"""Sorts the items of a Responses output: calls that the client has to answer, work of the provider's own, and words.

Source: the type definitions of OpenAI's SDK and recorded traffic. Only what the client alone can answer is a call. What
already has its output beside it, or runs in the provider's container, was done by the provider and is never run again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from interlock.models.strict import free_id, mapping, mappings, raw_text, text
from interlock.models.turn import CallKind, Proposed, ProviderCall


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How one kind of call is spelled. `name` is the tool where the item has none of its own."""

    kind: CallKind
    arguments: str
    name: str = ""


SPELLINGS: Final[Mapping[str, _Spelling]] = {
    "function_call": _Spelling(CallKind.FUNCTION, "arguments"),
    "custom_tool_call": _Spelling(CallKind.CUSTOM, "input"),
    "mcp_approval_request": _Spelling(CallKind.MCP_APPROVAL, "arguments"),
    "tool_search_call": _Spelling(CallKind.TOOL_SEARCH, "arguments", "tool_search"),
    "apply_patch_call": _Spelling(CallKind.APPLY_PATCH, "operation", "apply_patch"),
    "shell_call": _Spelling(CallKind.SHELL, "action", "shell"),
    "local_shell_call": _Spelling(CallKind.LOCAL_SHELL, "action", "local_shell"),
    "computer_call": _Spelling(CallKind.COMPUTER, "action", "computer"),
}
PROVIDER_ITEMS: Final = frozenset({"program", "mcp_list_tools"})
FACTS: Final = ("status", "server_label", "error", "environment", "caller")
ENVIRONMENTS_OF_THE_CLIENT: Final = frozenset({"", "local"})


@dataclass(slots=True)
class Item:
    """One item of the output as it was last sent, and what came for it in pieces since."""

    value: Mapping[str, object]
    closed: bool = True
    place: str = ""
    pieces: dict[str, list[str]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return text(self.value.get("type")) or ("message" if "role" in self.value else "unknown")

    @property
    def label(self) -> str:
        """The kind, marked where the wire never closed the item."""
        return self.kind if self.closed else f"{self.kind}*"

    @property
    def is_whole(self) -> bool:
        return self.closed and self.value.get("status") != "incomplete"

    def joined(self, name: str) -> str:
        """A field that may have come in pieces; a closed item says it all itself."""
        told = raw_text(self.value.get(name))
        return told if self.closed and told else "".join(self.pieces.get(name, ())) or told

    def words(self, name: str) -> str:
        """The `text` or the `refusal` of a message."""
        content = self.value.get("content") if self.kind == "message" else None
        if isinstance(content, str) and name == "text":
            return content
        return "".join(text(part.get(name)) for part in mappings(content)) or "".join(self.pieces.get(name, ()))


def calls_of(items: Sequence[Item]) -> tuple[Proposed, ...]:
    """The calls to answer, numbered. Equal labels in one response are two calls; the second gets a label of its own."""
    answered = _answered(items)
    mine = [(at, item) for at, item in enumerate(items) if _is_for_client(item, answered)]
    taken = {_wire_id(item) for _, item in mine}
    used: set[str] = set()
    calls = []
    for position, (at, item) in enumerate(mine):
        wire_id = _wire_id(item)
        reply_id = wire_id if wire_id and wire_id not in used else free_id(position, taken | used)
        used.add(reply_id)
        calls.append(_call(item, at=at, position=position, reply_id=reply_id))
    return tuple(calls)


def provider_calls_of(items: Sequence[Item]) -> tuple[ProviderCall, ...]:
    """What the provider did or does itself."""
    answered = _answered(items)
    return tuple(
        _provider_call(item)
        for item in items
        if not _is_for_client(item, answered) and (item.kind in PROVIDER_ITEMS or _is_call(item.kind))
    )


def words_of(items: Iterable[Item], name: str) -> str:
    """All visible `text`, or all of the `refusal`."""
    return "".join(item.words(name) for item in items)


def _call(item: Item, *, at: int, position: int, reply_id: str) -> Proposed:
    spelling = SPELLINGS[item.kind]
    caller = item.value.get("caller")
    return Proposed(
        position=position,
        wire_id=_wire_id(item) or None,
        reply_id=reply_id,
        name=text(item.value.get("name")) or spelling.name,
        arguments_raw=_arguments(item),
        kind=spelling.kind,
        echo=json.dumps({"item": at} | _warnings(item)),
        closed=item.is_whole,
        item_id=text(item.value.get("id")),
        namespace=text(item.value.get("namespace")),
        server=text(item.value.get("server_label")),
        caller=json.dumps(caller) if isinstance(caller, dict) else "",
    )


def _warnings(item: Item) -> dict[str, object]:
    checks = mappings(item.value.get("pending_safety_checks")) if item.kind == "computer_call" else []
    return {"checks": checks} if checks else {}


def _provider_call(item: Item) -> ProviderCall:
    value, spelling = item.value, SPELLINGS.get(item.kind)
    facts: dict[str, object] = {name: value[name] for name in FACTS if value.get(name) is not None}
    if spelling is not None:
        name = text(value.get("name")) or spelling.name
        facts |= {"item_id": value.get("id")}
        return ProviderCall(name, _wire_id(item) or None, spelling.kind.value, _arguments(item), json.dumps(facts))
    if value.get("name") is not None:
        facts |= {"tool": value.get("name")}
    return ProviderCall(
        item.kind, text(value.get("id")) or None, item.kind, item.joined("arguments"), json.dumps(facts)
    )


def _arguments(item: Item) -> str:
    if item.kind == "computer_call":
        return _movements(item)
    return item.joined(SPELLINGS[item.kind].arguments)


def _movements(item: Item) -> str:
    """What is done to the screen, with what the provider warns of: whoever lets it run acknowledges that."""
    action, actions = item.value.get("action"), item.value.get("actions")
    checks = mappings(item.value.get("pending_safety_checks"))
    moved = action if action is not None or actions is None else {"actions": actions}
    return raw_text({**moved, "pending_safety_checks": checks} if isinstance(moved, dict) and checks else moved)


def _wire_id(item: Item) -> str:
    """The label that the result goes back under: an approval request has only its item's."""
    return text(item.value.get("id" if item.kind == "mcp_approval_request" else "call_id"))


def _answered(items: Iterable[Item]) -> frozenset[str]:
    return frozenset(text(item.value.get("call_id")) for item in items if item.kind.endswith("_output"))


def _is_for_client(item: Item, answered: frozenset[str]) -> bool:
    if item.kind not in SPELLINGS or (_wire_id(item) and _wire_id(item) in answered):
        return False
    if item.kind == "tool_search_call":
        return item.value.get("execution") == "client"
    environment = mapping(item.value.get("environment"))
    return item.kind != "shell_call" or text(environment.get("type")) in ENVIRONMENTS_OF_THE_CLIENT


def _is_call(kind: str) -> bool:
    return kind.endswith("_call") or kind in SPELLINGS
