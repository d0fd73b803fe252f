"""What a run has done so far, as far as a decision needs to know it."""

from __future__ import annotations

from interlock.core.frozen import frozen
from interlock.core.labels import NO_LABELS, Labels


@frozen
class RunFacts:
    """One run at one moment.

    `version` rises with every change that a decision may read. `labels` joins those of everything read and, for calls
    in flight, their tools' ceilings. `tools` are the names called so far, `denied` the operation digests that an
    approver declined in this run, `ended` the reason why the run takes no more calls.
    """

    id: str
    version: int = 0
    labels: Labels = NO_LABELS
    tools: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    ended: str | None = None


NO_RUN = RunFacts("")
