"""What moves of versions take and leave: grounds and evidence, stops, notices of retirement, replacements."""

from interlock.core.errors import MoveRefused
from interlock.core.evidence_pack import MoveEvidence, is_whole
from interlock.core.lifecycle import Lifecycle, Need
from interlock.core.move_gates import Grounds
from interlock.core.retirement import Replacement
from interlock.core.stops import StopScope
from interlock.runtime.retiring import Notice

__all__ = [
    "Grounds",
    "Lifecycle",
    "MoveEvidence",
    "MoveRefused",
    "Need",
    "Notice",
    "Replacement",
    "StopScope",
    "is_whole",
]
