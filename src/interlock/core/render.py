"""Puts an observation into words for a model: our own words outside, the tool's result fenced inside as data.

The fence helps a model to tell the two apart. It is not the control: what may follow is for policy to say.
"""

from __future__ import annotations

from typing import Final

from interlock.core.fence import fence
from interlock.core.labels import NO_LABELS, Trust
from interlock.core.observation import Observation

_TRUST: Final = {each: each.name.lower() for each in Trust}


def for_model(observation: Observation, *, nonce: str) -> str:
    """The text of a tool message. `nonce` is 16 to 128 characters that the result cannot know."""
    lines = [f"{observation.tool}: {observation.status}{' (recorded earlier)' if observation.replayed else ''}"]
    if observation.error is not None:
        lines.append(f"{observation.error.code.value}: {observation.error.message}")
        lines += [_told(name, value) for name, value in observation.error.details.items()]
    if observation.data_json is not None:
        labels = observation.labels or NO_LABELS
        data = observation.data_json.decode()
        lines.append(fence(data, nonce=nonce, origin=f"tool {observation.tool}", trust=_TRUST[labels.trust]))
    if observation.truncated is not None:
        lines.append(f"Shortened: the whole result has {observation.truncated} bytes.")
    if observation.handle is not None:
        lines.append(f"Handle: {observation.handle}")
    if observation.retry_after_s is not None:
        lines.append(f"Wait: {observation.retry_after_s:g} seconds")
    if observation.hint:
        lines.append(f"Next: {observation.hint}")
    return "\n".join(lines)


def _told(name: str, value: object) -> str:
    return f"{name.replace('_', ' ')}: {value}"
