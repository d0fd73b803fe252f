"""Where each public name of the package is defined: it is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HOMES: Final[Mapping[str, str]] = {
    "interlock.assemble": "Gate Host",
    "interlock.core.agents": "AgentTools Canary ShadowRule ToolUse Upgrade",
    "interlock.core.approval": "Approval ApprovalState",
    "interlock.core.artifact": "Match Page",
    "interlock.core.audit_log": "Verified",
    "interlock.core.breaker": "Breaker",
    "interlock.core.budget": "Limit Limits ScopeKey ScopeKind Unit Usage",
    "interlock.core.call": "Caller Origin Principal PrincipalKind ToolCall",
    "interlock.core.catalogue": "Tool",
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
    "interlock.core.example": "ExampleKind Expected ToolExample",
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
    "interlock.core.policy_terms": "Explanation Mode",
    "interlock.core.probe": "ProbeFinding ProbeHistory ProbeRecord",
    "interlock.core.program": "SandboxLimits",
    "interlock.core.readiness": "Readiness",
    "interlock.core.recovery": "Closing LookUpRule Looks",
    "interlock.core.refusals": "Code",
    "interlock.core.resource": "Resource",
    "interlock.core.review": "Review",
    "interlock.core.review_rules": "ReviewRules",
    "interlock.core.routing_words": "Explained",
    "interlock.core.selection": "Choice SelectionCase",
    "interlock.core.spec_changes": "SpecChange",
    "interlock.core.tool": (
        "ApprovalFloor CacheRule ChosenBy Cost ErrorContract Localized OutputCheck Parameter ParameterSource "
        "RetryRule Risk ToolSpec Vendor"
    ),
    "interlock.core.view": "ToolPage",
    "interlock.declare": "Arg HttpTool http_tool program tool",
    "interlock.declare.grpc": "GrpcTool grpc_tool",
    "interlock.declare.grpc_options": "GrpcLookUp",
    "interlock.declare.http_options": "HttpLookUp",
    "interlock.declare.http_request": "HttpParameter",
    "interlock.declare.mcp": "McpTool mcp_tool",
    "interlock.declare.mcp_server": "McpListed McpServer",
    "interlock.importers.imported": "Imported NotImported import_mcp import_openapi import_python",
    "interlock.keys": "Keys",
    "interlock.loop.agent": "Agent",
    "interlock.loop.begin": "RunOptions",
    "interlock.loop.desk": "Run RunExists RunUnknown",
    "interlock.loop.entries": "Check Wish",
    "interlock.loop.events": "RunEvent",
    "interlock.loop.limits": "RunLimits",
    "interlock.loop.machine": "RunState",
    "interlock.loop.model": "Model ModelUnknown Price",
    "interlock.loop.replay": "Against Redecided",
    "interlock.loop.report": "RunReport",
    "interlock.loop.view": "RunView",
    "interlock.models.dialects": "Declarations Dialect",
    "interlock.ports": (
        "Clock Entropy FactSource OpenCall Principals Ranked Ranker Registered RunQuery Secrets Signer StoredRun"
    ),
    "interlock.runtime.audit": "Purgeable",
    "interlock.runtime.health": "HealthState",
    "interlock.runtime.policies": "PolicyChange",
    "interlock.runtime.probes": "ProbeResult",
    "interlock.runtime.recovery": "Recovered",
    "interlock.runtime.shadows": "ShadowReport",
    "interlock.settings": "Drives FindsBy Gates ProbeActs Publish Settings",
    "interlock.upstream": "mcp_listing",
}
"""Names by their module, as they are called here; `interlock` says the same to type checkers."""

RENAMED: Final[Mapping[str, str]] = {"PolicyChange": "Change", "RunState": "State"}
"""What is called otherwise where it is defined."""

EXTRAS: Final[frozenset[str]] = frozenset({"interlock.declare.grpc", "interlock.upstream"})
"""Modules that need an extra of the package, and say which where it is not installed."""
