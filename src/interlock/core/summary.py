"""Says a whole operation in plain words for who approves it: nothing cut, nothing invisible, secrets counted."""

from __future__ import annotations

import json
from collections.abc import Iterator

from interlock.core.call import RUNS_DOOR
from interlock.core.canonical import Json, decode
from interlock.core.effect import Effect
from interlock.core.freeze import filled
from interlock.core.frozen import frozen
from interlock.core.operation import Operation
from interlock.core.redaction import MASK, Redactor
from interlock.core.text import visible

_EFFECTS = {
    Effect.READ: "It reads; it changes nothing.",
    Effect.IDEMPOTENT_WRITE: "It changes something; repeating it under the same key changes nothing more.",
    Effect.WRITE: "It changes something.",
    Effect.DESTRUCTIVE: "It destroys or replaces something.",
}


@frozen
class Provenance:
    """Origins: `untrusted` names arguments whose value stood only in untrusted results."""

    untrusted: tuple[str, ...] = ()


NO_PROVENANCE = Provenance()


def summarize(operation: Operation, redactor: Redactor, provenance: Provenance = NO_PROVENANCE) -> str:
    """The operation for an approver, line by line: what, who for, on what, every argument, what cannot be undone."""
    spec = operation.spec
    principal = operation.caller.principal
    acting = "" if principal.on_behalf_of == principal.id else f" on behalf of {_line(principal.on_behalf_of)}"
    arguments, hidden = _arguments(operation, redactor)
    lines = [
        _headline(operation, redactor),
        f"Tool: {spec.name} version {spec.version} ({spec.effect.value}, risk {spec.risk.name.lower()})",
        f"Asked by: {_line(principal.id)}{acting}, through {_door(operation)}",
    ]
    if operation.resource is not None:
        lines.append(f"Resource: {_line(redactor.text(operation.resource.name))}")
    lines += ["Arguments:", *arguments]
    if hidden:
        lines.append(f"Hidden: {hidden} secret value{'s' if hidden > 1 else ''}")
    if provenance.untrusted:
        lines.append(f"From untrusted text: {', '.join(map(_line, provenance.untrusted))}")
    lines.append(_reach(operation))
    if operation.call.expectation:
        lines.append(f"The model says it expects: {_line(redactor.text(operation.call.expectation))}")
    return "\n".join(lines)


def _door(operation: Operation) -> str:
    """Which way it came, in words; a run's calls come through its agent."""
    origin = operation.caller.origin
    return f"a run of the agent {_line(origin.agent)}" if origin.door == RUNS_DOOR else _line(origin.door)


def _headline(operation: Operation, redactor: Redactor) -> str:
    template = operation.spec.summary
    words = filled(template, _safe(operation, redactor)) if template else None
    return _line(words or operation.spec.title or operation.spec.name)


def _line(text: str) -> str:
    """The whole text on one line: who writes it cannot add lines of ours."""
    return visible(text).replace("\n", "⟨new line⟩")


def _safe(operation: Operation, redactor: Redactor) -> dict[str, Json]:
    redacted = redactor.json(decode(operation.arguments), marked=operation.tool.sensitive)
    return redacted if isinstance(redacted, dict) else {}


def _arguments(operation: Operation, redactor: Redactor) -> tuple[list[str], int]:
    """One line for each scalar, by path; text of several lines stands indented below its path.

    No two operations read the same: a text stands in quotes, so it is no number, no `null` and no mask, and so does a
    name that could be taken for a path.
    """
    whole = decode(operation.arguments)
    shown = redactor.json(whole, marked=operation.tool.sensitive)
    lines = [line for leaf in _leaves(whole, shown, "") for line in _lines(leaf)] if whole else ["  (none)"]
    return lines, _hidden(whole, shown)


@frozen
class _Leaf:
    """A value that is shown on its own, by its path: one that is not made of others, or that is masked."""

    path: str
    shown: Json
    is_mask: bool


def _leaves(whole: Json, shown: Json, path: str) -> Iterator[_Leaf]:
    if isinstance(shown, dict) and isinstance(whole, dict) and shown:
        for each, (name, part) in zip(whole.values(), shown.items(), strict=True):
            yield from _leaves(each, part, f"{path}.{_key(name)}" if path else _key(name))
    elif isinstance(shown, list) and isinstance(whole, list) and shown:
        for index, (each, part) in enumerate(zip(whole, shown, strict=True)):
            yield from _leaves(each, part, f"{path}[{index}]")
    else:
        yield _Leaf(path or "(all)", shown, shown == MASK != whole)


def _hidden(whole: Json, shown: Json) -> int:
    """How many secrets are masked, in names too; a `[redacted]` that was there before is none."""
    if isinstance(shown, dict) and isinstance(whole, dict):
        names = sum(_hidden(name, key) for name, key in zip(whole, shown, strict=True))
        return names + sum(_hidden(each, part) for each, part in zip(whole.values(), shown.values(), strict=True))
    if isinstance(shown, list) and isinstance(whole, list):
        return sum(_hidden(each, part) for each, part in zip(whole, shown, strict=True))
    if shown == whole or not isinstance(shown, str):
        return 0
    return max(1, shown.count(MASK) - (whole.count(MASK) if isinstance(whole, str) else 0))


def _key(name: str) -> str:
    """A name as it stands in a path: in quotes where it could be taken for more than a name."""
    return name if name.replace("-", "_").isidentifier() else json.dumps(name, ensure_ascii=False)


def _lines(leaf: _Leaf) -> list[str]:
    path = _line(leaf.path)
    if leaf.is_mask or not isinstance(leaf.shown, str):
        return [f"  {path}: {leaf.shown if leaf.is_mask else _scalar(leaf.shown)}"]
    text = visible(leaf.shown)
    if "\n" not in text:
        return [f'  {path}: "{text}"']
    return [f"  {path}:", *[f"    {line}" for line in text.split("\n")]]


def _scalar(value: Json) -> str:
    match value:
        case None:
            return "null"
        case True | False:
            return "true" if value else "false"
        case dict():
            return "{}"
        case list():
            return "[]"
        case _:
            return str(value)


def _reach(operation: Operation) -> str:
    spec = operation.spec
    parts = [_EFFECTS[spec.effect]]
    if spec.external:
        parts.append("It leaves the organisation.")
    if spec.effect.is_effect:
        parts.append(f"It can be undone by {spec.compensate}." if spec.compensate else "It cannot be undone.")
    return " ".join(parts)
