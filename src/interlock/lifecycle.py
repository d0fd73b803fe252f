"""What moves of versions take and leave: grounds and evidence, stops, notices of retirement, replacements."""

from interlock.core.errors import MoveRefused
from interlock.core.evidence_pack import MoveEvidence, is_whole
from interlock.core.lifecycle import Lifecycle, Need
from interlock.core.move_gates import Grounds, Weighed
from interlock.core.references import References
from interlock.core.retirement import Replacement
from interlock.core.stops import Stop, StopScope
from interlock.runtime.retiring import Notice, Watched

__all__ = [
    "Grounds",
    "Lifecycle",
    "MoveEvidence",
    "MoveRefused",
    "Need",
    "Notice",
    "References",
    "Replacement",
    "Stop",
    "StopScope",
    "Watched",
    "Weighed",
    "is_whole",
]
