"""What a model is told of a tool in words: what it is for, what it does, how it fails; never how it is controlled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.core.effect import Effect
from interlock.core.tool import Risk, ToolSpec

_EFFECTS: Mapping[Effect, str] = {
    Effect.READ: "It reads; it changes nothing.",
    Effect.IDEMPOTENT_WRITE: "It changes something; the same call again changes nothing more.",
    Effect.WRITE: "It changes something.",
    Effect.DESTRUCTIVE: "It destroys or replaces something.",
}
_RISKY = "Much depends on it: a person may have to approve each call."


def model_text(spec: ToolSpec) -> str:
    """The description that a model gets."""
    return "\n".join(_lines(spec))


def _lines(spec: ToolSpec) -> Iterator[str]:
    yield spec.description.strip()
    if spec.use_when:
        yield f"Use it when: {spec.use_when}"
    if spec.not_for:
        yield f"Not for: {spec.not_for}"
    yield " ".join([
        _EFFECTS[spec.effect],
        *(["It reaches outside the organisation."] if spec.external else []),
        *([_RISKY] if spec.risk >= Risk.HIGH else []),
    ])  # fmt: skip
    for each in spec.errors:
        yield f"It may report {each.code}{f': {each.description}' if each.description else '.'}"
    for example in spec.examples:
        yield f"Example, {example.title}: {example.arguments.text.decode()}"
