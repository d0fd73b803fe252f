"""Interlock takes the authority to execute back from AI models: a model proposes, the gate decides, and it runs once.

Everything public is here, but for what has a module of its own: copies of stores (`interlock.copies`), moves of
versions (`interlock.lifecycle`), imports (`interlock.importers.openapi`, `.mcp`, `.python`), examples of tools
(`interlock.importers.examples`, `interlock.rehearsal`), models that can be asked (`interlock.providers`) and what tests
use (`interlock.testing`). Each name is loaded when it is first used, so importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from interlock.assemble import Gate, Host
    from interlock.core.agents import AgentTools, Canary, ShadowRule, ToolUse, Upgrade
    from interlock.core.approval import Approval, ApprovalState
    from interlock.core.artifact import Match, Page
    from interlock.core.audit_log import Verified
    from interlock.core.budget import Limit, Limits, ScopeKey, ScopeKind, Unit, Usage
    from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
    from interlock.core.chain import Break, Damage, Head
    from interlock.core.checkpoint import Checkpoint, Mark
    from interlock.core.choice import FoundTool, ToolChoice, Withheld
    from interlock.core.compatibility import Comparison, Finding, Verdict
    from interlock.core.compensation_plan import (
        CompensationPlan,
        CompensationState,
        CompensationStep,
        UndoState,
    )
    from interlock.core.decision import Deny
    from interlock.core.default_versions import DefaultVersion
    from interlock.core.effect import Effect
    from interlock.core.errors import (
        ActRefused,
        AgentInvalid,
        AgentUnknown,
        ApprovalUnknown,
        BackupInvalid,
        DocumentChanged,
        InterlockError,
        KeyInvalid,
        MoveRefused,
        NotWritten,
        PolicyInvalid,
        SettingsInvalid,
        SpecInvalid,
        StoreError,
        StoreMoved,
        StoreNewer,
        ToolFault,
        ToolUnknown,
        VersionExists,
    )
    from interlock.core.evidence import Evidence, EvidenceKind, EvidenceRule, Source
    from interlock.core.export import verify_export
    from interlock.core.functions import Binary, Context, Declaration, Result
    from interlock.core.http_template import Credential, CredentialPlace, HttpError
    from interlock.core.items import Item, ItemState
    from interlock.core.journal import AuditQuery, AuditRecord, EventKind
    from interlock.core.labels import Confidentiality, Labels, Trust
    from interlock.core.lifecycle import Lifecycle
    from interlock.core.lineage import Lineage, Standing, Traced, lineage_of
    from interlock.core.mcp_call import McpLookUp
    from interlock.core.observation import Observation, Status
    from interlock.core.operation import Operation
    from interlock.core.policy import PolicySource
    from interlock.core.policy_terms import Mode
    from interlock.core.program import SandboxLimits
    from interlock.core.recovery import Closing, Looks, LookUpRule
    from interlock.core.refusals import Code
    from interlock.core.resource import Resource
    from interlock.core.review import Review
    from interlock.core.review_rules import ReviewRules
    from interlock.core.tool import (
        ApprovalFloor,
        CacheRule,
        ChosenBy,
        Cost,
        ErrorContract,
        Localized,
        OutputCheck,
        Parameter,
        ParameterSource,
        RetryRule,
        Risk,
        ToolSpec,
        Vendor,
    )
    from interlock.declare import Arg, HttpTool, http_tool, program, tool
    from interlock.declare.grpc import GrpcTool, grpc_tool
    from interlock.declare.grpc_options import GrpcLookUp
    from interlock.declare.http_options import HttpLookUp
    from interlock.declare.http_request import HttpParameter
    from interlock.declare.mcp import McpTool, mcp_tool
    from interlock.declare.mcp_server import McpListed, McpServer
    from interlock.keys import Keys
    from interlock.loop.agent import Agent
    from interlock.loop.desk import Run, RunExists, RunUnknown
    from interlock.loop.entries import Check, Wish
    from interlock.loop.events import RunEvent
    from interlock.loop.limits import RunLimits
    from interlock.loop.machine import State as RunState
    from interlock.loop.model import Model, ModelUnknown, Price
    from interlock.loop.replay import Against, Redecided
    from interlock.loop.report import RunReport
    from interlock.ports import (
        Clock,
        Entropy,
        FactSource,
        OpenCall,
        Principals,
        Ranked,
        Ranker,
        Registered,
        Secrets,
        Signer,
    )
    from interlock.runtime.health import HealthState
    from interlock.runtime.recovery import Recovered
    from interlock.settings import Drives, FindsBy, Gates, ProbeActs, Publish, Settings
    from interlock.upstream import mcp_listing

_HOMES = {
    "interlock.assemble": "Gate Host",
    "interlock.core.agents": "AgentTools Canary ShadowRule ToolUse Upgrade",
    "interlock.core.approval": "Approval ApprovalState",
    "interlock.core.artifact": "Match Page",
    "interlock.core.audit_log": "Verified",
    "interlock.core.budget": "Limit Limits ScopeKey ScopeKind Unit Usage",
    "interlock.core.call": "Caller Origin Principal PrincipalKind ToolCall",
    "interlock.core.chain": "Break Damage Head",
    "interlock.core.checkpoint": "Checkpoint Mark",
    "interlock.core.choice": "FoundTool ToolChoice Withheld",
    "interlock.core.compatibility": "Comparison Finding Verdict",
    "interlock.core.compensation_plan": "CompensationPlan CompensationState CompensationStep UndoState",
    "interlock.core.decision": "Deny",
    "interlock.core.default_versions": "DefaultVersion",
    "interlock.core.effect": "Effect",
    "interlock.core.errors": (
        "ActRefused AgentInvalid AgentUnknown ApprovalUnknown BackupInvalid DocumentChanged InterlockError "
        "KeyInvalid MoveRefused NotWritten PolicyInvalid SettingsInvalid SpecInvalid StoreError StoreMoved "
        "StoreNewer ToolFault ToolUnknown VersionExists"
    ),
    "interlock.core.evidence": "Evidence EvidenceKind EvidenceRule Source",
    "interlock.core.export": "verify_export",
    "interlock.core.functions": "Binary Context Declaration Result",
    "interlock.core.http_template": "Credential CredentialPlace HttpError",
    "interlock.core.items": "Item ItemState",
    "interlock.core.journal": "AuditQuery AuditRecord EventKind",
    "interlock.core.labels": "Confidentiality Labels Trust",
    "interlock.core.lifecycle": "Lifecycle",
    "interlock.core.lineage": "Lineage Standing Traced lineage_of",
    "interlock.core.mcp_call": "McpLookUp",
    "interlock.core.observation": "Observation Status",
    "interlock.core.operation": "Operation",
    "interlock.core.policy": "PolicySource",
    "interlock.core.policy_terms": "Mode",
    "interlock.core.program": "SandboxLimits",
    "interlock.core.recovery": "Closing LookUpRule Looks",
    "interlock.core.refusals": "Code",
    "interlock.core.resource": "Resource",
    "interlock.core.review": "Review",
    "interlock.core.review_rules": "ReviewRules",
    "interlock.core.tool": (
        "ApprovalFloor CacheRule ChosenBy Cost ErrorContract Localized OutputCheck Parameter ParameterSource "
        "RetryRule Risk ToolSpec Vendor"
    ),
    "interlock.declare": "Arg HttpTool http_tool program tool",
    "interlock.declare.grpc": "GrpcTool grpc_tool",
    "interlock.declare.grpc_options": "GrpcLookUp",
    "interlock.declare.http_options": "HttpLookUp",
    "interlock.declare.http_request": "HttpParameter",
    "interlock.declare.mcp": "McpTool mcp_tool",
    "interlock.declare.mcp_server": "McpListed McpServer",
    "interlock.keys": "Keys",
    "interlock.loop.agent": "Agent",
    "interlock.loop.desk": "Run RunExists RunUnknown",
    "interlock.loop.entries": "Check Wish",
    "interlock.loop.events": "RunEvent",
    "interlock.loop.limits": "RunLimits",
    "interlock.loop.machine": "RunState",
    "interlock.loop.model": "Model ModelUnknown Price",
    "interlock.loop.replay": "Against Redecided",
    "interlock.loop.report": "RunReport",
    "interlock.ports": "Clock Entropy FactSource OpenCall Principals Ranked Ranker Registered Secrets Signer",
    "interlock.runtime.health": "HealthState",
    "interlock.runtime.recovery": "Recovered",
    "interlock.settings": "Drives FindsBy Gates ProbeActs Publish Settings",
    "interlock.upstream": "mcp_listing",
}
"""Where each public name is defined; `TYPE_CHECKING` above says the same to type checkers."""

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

RENAMED = {"RunState": "State"}
"""What is called otherwise where it is defined."""

__version__ = "0.1.0"

__all__ = [
    "ActRefused",
    "Against",
    "Agent",
    "AgentInvalid",
    "AgentTools",
    "AgentUnknown",
    "Approval",
    "ApprovalFloor",
    "ApprovalState",
    "ApprovalUnknown",
    "Arg",
    "AuditQuery",
    "AuditRecord",
    "BackupInvalid",
    "Binary",
    "Break",
    "CacheRule",
    "Caller",
    "Canary",
    "Check",
    "Checkpoint",
    "ChosenBy",
    "Clock",
    "Closing",
    "Code",
    "Comparison",
    "CompensationPlan",
    "CompensationState",
    "CompensationStep",
    "Confidentiality",
    "Context",
    "Cost",
    "Credential",
    "CredentialPlace",
    "Damage",
    "Declaration",
    "DefaultVersion",
    "Deny",
    "DocumentChanged",
    "Drives",
    "Effect",
    "Entropy",
    "ErrorContract",
    "EventKind",
    "Evidence",
    "EvidenceKind",
    "EvidenceRule",
    "FactSource",
    "Finding",
    "FindsBy",
    "FoundTool",
    "Gate",
    "Gates",
    "GrpcLookUp",
    "GrpcTool",
    "Head",
    "HealthState",
    "Host",
    "HttpError",
    "HttpLookUp",
    "HttpParameter",
    "HttpTool",
    "InterlockError",
    "Item",
    "ItemState",
    "KeyInvalid",
    "Keys",
    "Labels",
    "Lifecycle",
    "Limit",
    "Limits",
    "Lineage",
    "Localized",
    "LookUpRule",
    "Looks",
    "Mark",
    "Match",
    "McpListed",
    "McpLookUp",
    "McpServer",
    "McpTool",
    "Mode",
    "Model",
    "ModelUnknown",
    "MoveRefused",
    "NotWritten",
    "Observation",
    "OpenCall",
    "Operation",
    "Origin",
    "OutputCheck",
    "Page",
    "Parameter",
    "ParameterSource",
    "PolicyInvalid",
    "PolicySource",
    "Price",
    "Principal",
    "PrincipalKind",
    "Principals",
    "ProbeActs",
    "Publish",
    "Ranked",
    "Ranker",
    "Recovered",
    "Redecided",
    "Registered",
    "Resource",
    "Result",
    "RetryRule",
    "Review",
    "ReviewRules",
    "Risk",
    "Run",
    "RunEvent",
    "RunExists",
    "RunLimits",
    "RunReport",
    "RunState",
    "RunUnknown",
    "SandboxLimits",
    "ScopeKey",
    "ScopeKind",
    "Secrets",
    "Settings",
    "SettingsInvalid",
    "ShadowRule",
    "Signer",
    "Source",
    "SpecInvalid",
    "Standing",
    "Status",
    "StoreError",
    "StoreMoved",
    "StoreNewer",
    "ToolCall",
    "ToolChoice",
    "ToolFault",
    "ToolSpec",
    "ToolUnknown",
    "ToolUse",
    "Traced",
    "Trust",
    "UndoState",
    "Unit",
    "Upgrade",
    "Usage",
    "Vendor",
    "Verdict",
    "Verified",
    "VersionExists",
    "Wish",
    "Withheld",
    "grpc_tool",
    "http_tool",
    "lineage_of",
    "mcp_listing",
    "mcp_tool",
    "program",
    "tool",
    "verify_export",
]


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'interlock' has no attribute {name!r}")
    found = getattr(import_module(home), RENAMED.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
