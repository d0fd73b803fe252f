"""Labels say where data came from, how far it is trusted, and who may see it.

A run joins the labels of everything that it has read: confidentiality only rises, trust only falls, origins only grow.
"""

from __future__ import annotations

from enum import IntEnum

from interlock.core.frozen import frozen


class Confidentiality(IntEnum):
    """Who may see it, in rising order."""

    PUBLIC = 0
    INTERNAL = 1
    CONFIDENTIAL = 2
    RESTRICTED = 3


class Trust(IntEnum):
    """How far its words may be believed, in rising order. UNTRUSTED is text that anyone could have written."""

    UNTRUSTED = 0
    INTERNAL = 1
    TRUSTED = 2


@frozen
class Labels:
    """The labels of one value, or of everything that a run has seen."""

    confidentiality: Confidentiality = Confidentiality.PUBLIC
    trust: Trust = Trust.TRUSTED
    origins: frozenset[str] = frozenset()

    def join(self, other: Labels) -> Labels:
        """The labels of a value made from both."""
        if other in (self, NO_LABELS):
            return self
        return Labels(
            max(self.confidentiality, other.confidentiality),
            min(self.trust, other.trust),
            self.origins | other.origins,
        )

    def within(self, ceiling: Labels) -> bool:
        """Whether a result with these labels stays under what its tool declared."""
        return self.confidentiality <= ceiling.confidentiality and self.trust >= ceiling.trust


NO_LABELS = Labels()
