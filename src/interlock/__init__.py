"""Interlock takes the authority to execute back from AI models: a model proposes, the gate decides, and it runs once.

Everything public is here, `import_openapi`, `import_mcp` and `import_python` among it, but for what has a module of its
own: copies of stores (`interlock.copies`), moves of versions (`interlock.lifecycle`), how snapshots of what is imported
are taken and compared (`interlock.importers.openapi`, `.mcp`, `.python`), examples of tools
(`interlock.importers.examples`, `interlock.rehearsal`), models that can be asked (`interlock.providers`) and what tests
use (`interlock.testing`). Each name is loaded when it is first used, so importing the package costs little. What needs
an extra that is not installed (`interlock.public.EXTRAS`) is not there; asking for it by its name says which extra.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from interlock.public import EXTRAS, HOMES, RENAMED

if TYPE_CHECKING:
    from interlock.assemble import Gate, Host
    from interlock.core.agents import AgentTools, Canary, ShadowRule, ToolUse, Upgrade
    from interlock.core.approval import Approval, ApprovalState
    from interlock.core.artifact import Match, Page
    from interlock.core.audit_log import Verified
    from interlock.core.breaker import Breaker
    from interlock.core.budget import Limit, Limits, ScopeKey, ScopeKind, Unit, Usage
    from interlock.core.call import Caller, Origin, Principal, PrincipalKind, ToolCall
    from interlock.core.catalogue import Tool
    from interlock.core.chain import Break, Damage, Head
    from interlock.core.checkpoint import Checkpoint, Mark
    from interlock.core.choice import FoundTool, ToolChoice, Withheld
    from interlock.core.compatibility import Comparison, Finding, Verdict
    from interlock.core.compensation_plan import CompensationPlan, CompensationState, CompensationStep, UndoState
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
    from interlock.core.example import ExampleKind, Expected, ToolExample
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
    from interlock.core.policy_terms import Explanation, Mode
    from interlock.core.probe import ProbeFinding, ProbeHistory, ProbeRecord
    from interlock.core.program import SandboxLimits
    from interlock.core.readiness import Readiness
    from interlock.core.recovery import Closing, Looks, LookUpRule
    from interlock.core.refusals import Code
    from interlock.core.resource import Resource
    from interlock.core.review import Review
    from interlock.core.review_rules import ReviewRules
    from interlock.core.routing_words import Explained
    from interlock.core.selection import Choice, SelectionCase
    from interlock.core.spec_changes import SpecChange
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
    from interlock.core.view import ToolPage
    from interlock.declare import Arg, HttpTool, http_tool, program, tool
    from interlock.declare.grpc import GrpcTool, grpc_tool
    from interlock.declare.grpc_options import GrpcLookUp
    from interlock.declare.http_options import HttpLookUp
    from interlock.declare.http_request import HttpParameter
    from interlock.declare.mcp import McpTool, mcp_tool
    from interlock.declare.mcp_server import McpListed, McpServer
    from interlock.importers.imported import Imported, NotImported, import_mcp, import_openapi, import_python
    from interlock.keys import Keys
    from interlock.loop.agent import Agent
    from interlock.loop.begin import RunOptions
    from interlock.loop.desk import Run, RunExists, RunUnknown
    from interlock.loop.entries import Check, Wish
    from interlock.loop.events import RunEvent
    from interlock.loop.limits import RunLimits
    from interlock.loop.machine import State as RunState
    from interlock.loop.model import Model, ModelUnknown, Price
    from interlock.loop.replay import Against, Redecided
    from interlock.loop.report import RunReport
    from interlock.loop.view import RunView
    from interlock.models.dialects import Declarations, Dialect
    from interlock.ports import (
        Clock,
        Entropy,
        FactSource,
        OpenCall,
        Principals,
        Ranked,
        Ranker,
        Registered,
        RunQuery,
        Secrets,
        Signer,
        StoredRun,
    )
    from interlock.runtime.audit import Purgeable
    from interlock.runtime.health import HealthState
    from interlock.runtime.policies import Change as PolicyChange
    from interlock.runtime.probes import ProbeResult
    from interlock.runtime.recovery import Recovered
    from interlock.runtime.shadows import ShadowReport
    from interlock.settings import Drives, FindsBy, Gates, ProbeActs, Publish, Settings
    from interlock.upstream import mcp_listing

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
        "Breaker",
        "CacheRule",
        "Caller",
        "Canary",
        "Check",
        "Checkpoint",
        "Choice",
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
        "Declarations",
        "DefaultVersion",
        "Deny",
        "Dialect",
        "DocumentChanged",
        "Drives",
        "Effect",
        "Entropy",
        "ErrorContract",
        "EventKind",
        "Evidence",
        "EvidenceKind",
        "EvidenceRule",
        "ExampleKind",
        "Expected",
        "Explained",
        "Explanation",
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
        "Imported",
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
        "NotImported",
        "NotWritten",
        "Observation",
        "OpenCall",
        "Operation",
        "Origin",
        "OutputCheck",
        "Page",
        "Parameter",
        "ParameterSource",
        "PolicyChange",
        "PolicyInvalid",
        "PolicySource",
        "Price",
        "Principal",
        "PrincipalKind",
        "Principals",
        "ProbeActs",
        "ProbeFinding",
        "ProbeHistory",
        "ProbeRecord",
        "ProbeResult",
        "Publish",
        "Purgeable",
        "Ranked",
        "Ranker",
        "Readiness",
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
        "RunOptions",
        "RunQuery",
        "RunReport",
        "RunState",
        "RunUnknown",
        "RunView",
        "SandboxLimits",
        "ScopeKey",
        "ScopeKind",
        "Secrets",
        "SelectionCase",
        "Settings",
        "SettingsInvalid",
        "ShadowReport",
        "ShadowRule",
        "Signer",
        "Source",
        "SpecChange",
        "SpecInvalid",
        "Standing",
        "Status",
        "StoreError",
        "StoreMoved",
        "StoreNewer",
        "StoredRun",
        "Tool",
        "ToolCall",
        "ToolChoice",
        "ToolExample",
        "ToolFault",
        "ToolPage",
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
        "import_mcp",
        "import_openapi",
        "import_python",
        "lineage_of",
        "mcp_listing",
        "mcp_tool",
        "program",
        "tool",
        "verify_export",
    ]

_HOME_OF = {name: home for home, names in HOMES.items() for name in names.split()}
_MODULE = sys.modules[__name__]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name == "__all__":
        return [each for each in sorted(_HOME_OF) if _HOME_OF[each] not in EXTRAS or hasattr(_MODULE, each)]
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'interlock' has no attribute {name!r}")
    try:
        found = getattr(import_module(home), RENAMED.get(name, name))
    except ModuleNotFoundError as missing:
        # `from interlock import NAME` tells what an ImportError says, and of an AttributeError nothing.
        if home not in EXTRAS or sys._getframe(1).f_code.co_name == "_handle_fromlist":
            raise
        raise AttributeError(str(missing), name=name) from missing
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*_HOME_OF, "__all__", "__version__"]
