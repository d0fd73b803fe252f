"""Says a whole operation in plain words for who approves it: nothing cut, nothing invisible, secrets counted."""

from __future__ import annotations

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
        f"Asked by: {_line(principal.id)}{acting}, through {operation.caller.origin.door}",
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


def _headline(operation: Operation, redactor: Redactor) -> str:
    template = operation.spec.summary
    words = filled(template, _safe(operation, redactor)) if template else None
    return _line(words or operation.spec.title or operation.spec.name)


def _line(text: str) -> str:
    """The whole text on one line: who writes it cannot add lines of ours."""
    return visible(text).replace("\n", "⟨new line⟩")


def _safe(operation: Operation, redactor: Redactor) -> dict[str, Json]:
    redacted = decode(redactor.json_bytes(operation.arguments, marked=operation.tool.sensitive))
    return redacted if isinstance(redacted, dict) else {}


def _arguments(operation: Operation, redactor: Redactor) -> tuple[list[str], int]:
    """One line for each scalar, by path; text of several lines stands indented below its path."""
    lines: list[str] = []
    arguments = _safe(operation, redactor)
    for path, value in _leaves(arguments, "") if arguments else ():
        shown = visible(value) if isinstance(value, str) else _scalar(value)
        if "\n" in shown:
            lines.append(f"  {_line(path)}:")
            lines += [f"    {line}" for line in shown.split("\n")]
        else:
            lines.append(f"  {_line(path)}: {shown}")
    hidden = sum(line.count(MASK) for line in lines)
    return lines or ["  (none)"], hidden


def _leaves(value: Json, path: str) -> list[tuple[str, Json]]:
    if isinstance(value, dict) and value:
        return [leaf for name, each in value.items() for leaf in _leaves(each, f"{path}.{name}" if path else name)]
    if isinstance(value, list) and value:
        return [leaf for index, each in enumerate(value) for leaf in _leaves(each, f"{path}[{index}]")]
    return [(path, value)]


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
