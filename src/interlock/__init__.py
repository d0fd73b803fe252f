"""Interlock takes the authority to execute back from AI models: a model proposes, the gate decides, and it runs once.

Everything public is here; each name is loaded when it is first used, so importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.assemble import Gate, Host
    from interlock.core.approval import Approval, ApprovalState
    from interlock.core.budget import Limit, Limits, ScopeKind, Unit
    from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
    from interlock.core.effect import Effect
    from interlock.core.errors import InterlockError, ToolFault
    from interlock.core.evidence import Evidence, EvidenceKind, Source
    from interlock.core.functions import Context, Result
    from interlock.core.labels import Confidentiality, Labels, Trust
    from interlock.core.observation import Observation, Status
    from interlock.core.policy import PolicySource
    from interlock.core.refusals import Code
    from interlock.core.resource import Resource
    from interlock.core.tool import ApprovalFloor, ChosenBy, Cost, ErrorContract, Risk, ToolSpec
    from interlock.declare import Arg, tool
    from interlock.settings import Settings

_HOMES = {
    "interlock.assemble": ("Gate", "Host"),
    "interlock.core.approval": ("Approval", "ApprovalState"),
    "interlock.core.budget": ("Limit", "Limits", "ScopeKind", "Unit"),
    "interlock.core.call": ("Caller", "Origin", "Principal", "PrincipalKind", "ToolCall"),
    "interlock.core.effect": ("Effect",),
    "interlock.core.errors": ("InterlockError", "ToolFault"),
    "interlock.core.evidence": ("Evidence", "EvidenceKind", "Source"),
    "interlock.core.functions": ("Context", "Result"),
    "interlock.core.labels": ("Confidentiality", "Labels", "Trust"),
    "interlock.core.observation": ("Observation", "Status"),
    "interlock.core.policy": ("PolicySource",),
    "interlock.core.refusals": ("Code",),
    "interlock.core.resource": ("Resource",),
    "interlock.core.tool": ("ApprovalFloor", "ChosenBy", "Cost", "ErrorContract", "Risk", "ToolSpec"),
    "interlock.declare": ("Arg", "tool"),
    "interlock.settings": ("Settings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__version__ = "0.1.0"

__all__ = [
    "Approval",
    "ApprovalFloor",
    "ApprovalState",
    "Arg",
    "Caller",
    "ChosenBy",
    "Code",
    "Confidentiality",
    "Context",
    "Cost",
    "Effect",
    "ErrorContract",
    "Evidence",
    "EvidenceKind",
    "Gate",
    "Host",
    "InterlockError",
    "Labels",
    "Limit",
    "Limits",
    "Observation",
    "Origin",
    "PolicySource",
    "Principal",
    "PrincipalKind",
    "Resource",
    "Result",
    "Risk",
    "ScopeKind",
    "Settings",
    "Source",
    "Status",
    "ToolCall",
    "ToolFault",
    "ToolSpec",
    "Trust",
    "Unit",
    "tool",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'interlock' has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found
