"""A spec that contradicts itself is refused with a sentence for everything that is wrong."""

from dataclasses import replace
from typing import Any

import pytest

from interlock.core.effect import Effect
from interlock.core.errors import SpecInvalid
from interlock.core.spec_check import check_spec
from interlock.core.tool import (
    ApprovalFloor,
    Cost,
    Document,
    Entrypoint,
    ErrorContract,
    Example,
    IdempotencyRule,
    Localized,
    Parameter,
    ParameterSource,
    ResourceRule,
    RetryRule,
    ToolSpec,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "draft_id": {"type": "string", "description": "Which draft.", "maxLength": 64},
        "tenant": {"type": "string", "description": "Whose."},
    },
    "required": ["draft_id", "tenant"],
    "additionalProperties": False,
}
INJECTED = Parameter("tenant", source=ParameterSource.CONTEXT, inject="tenant")
SPEC = ToolSpec(
    name="save_draft",
    description="Save a draft of the report under its id.",
    input_schema=Document.of(SCHEMA),  # type: ignore[arg-type]
    handler=Entrypoint("python", "m:f", "0" * 64),
    effect=Effect.WRITE,
    owner="research",
    reconcile=True,
    parameters=(INJECTED,),
    idempotency=IdempotencyRule(("draft_id",)),
    resource=ResourceRule("Draft", "{tenant}/{draft_id}"),
    locks=("draft:{draft_id}",),
    summary="Save {draft_id}",
    localized={"zh-CN": Localized(summary="保存 {draft_id}")},
    promises={"ok": "Saved."},
    errors=(ErrorContract("STALE"),),
    examples=(Example("One", Document.of({"draft_id": "r1"})),),
)


def test_a_sound_spec_has_nothing_wrong_and_nothing_to_advise() -> None:
    assert check_spec(SPEC) == ()


@pytest.mark.requirement("TOOL-5")
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": ""}, "its name"),
        ({"name": "a" * 129}, "its name"),
        ({"name": "save\u200bdraft"}, "visible"),
        ({"name": " save"}, "its name"),
        ({"name": "save\ndraft"}, "its name"),
        ({"version": ""}, "its version"),
        ({"description": " "}, "no description"),
        ({"handler": Entrypoint("python", "m:f", "")}, "fingerprint"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"retry": RetryRule(attempts=0)}, "attempts"),
        ({"retry": RetryRule(backoff_ms=10, backoff_max_ms=5)}, "backoff"),
        ({"output_bytes_max": 0}, "output_bytes_max"),
        ({"concurrency": -1}, "concurrency"),
        ({"cost": Cost(-1)}, "max_micros"),
        ({"cost": Cost(10**15 + 1)}, "max_micros"),
        ({"idempotency": IdempotencyRule(lifetime_s=0)}, "lifetime_s"),
        ({"approval_floor": ApprovalFloor(quorum=0)}, "quorum"),
        ({"idempotency": IdempotencyRule(("draft",))}, "key names 'draft'.*is it draft_id"),
        ({"resource": ResourceRule("Draft", "draft")}, "resource names 'draft'"),
        ({"resource": ResourceRule("Draft", "{tenant}/{x}")}, "resource names 'x'"),
        ({"resource": ResourceRule("My Draft", "draft_id")}, "identifier"),
        ({"resource": ResourceRule("Draft", "{tenant}{draft_id}")}, "nothing between two arguments"),
        ({"locks": ("draft:{id}",)}, "locks names 'id'"),
        ({"summary": "Save {it}"}, "summary names 'it'"),
        ({"localized": {"zh-CN": Localized(summary="{it}")}}, "summary names 'it'"),
        ({"localized": {"Chinese!": Localized()}}, "language tag"),
        ({"parameters": (Parameter("nobody"),)}, "parameters names 'nobody'"),
        ({"parameters": (INJECTED, INJECTED)}, "described twice"),
        ({"parameters": (Parameter("tenant", source=ParameterSource.CONTEXT, inject="moon"),)}, "'moon'"),
        ({"parameters": (Parameter("draft_id", source=ParameterSource.CONTEXT),)}, "'draft_id'"),
        ({"parameters": (INJECTED, Parameter("draft_id", inject="task"))}, "source is the context"),
        ({"secrets": ("draft_id",)}, "a secret and an argument"),
        ({"errors": (ErrorContract("A"), ErrorContract("A"))}, "declared twice"),
        ({"promises": {"okay": "Saved."}}, "no status"),
        ({"depends_on": ("save_draft",)}, "depends on itself"),
        ({"effect": Effect.READ}, "nothing to compensate"),
        ({"examples": (Example("Two", Document.of({"draft_id": 2})),)}, "'Two' does not fit"),
        ({"examples": (Example("Three", Document.of({"draft_id": "r", "tenant": "acme"})),)}, "'Three' does not fit"),
    ],
)
def test_what_leads_nowhere_is_refused(change: dict[str, Any], says: str) -> None:
    with pytest.raises(SpecInvalid, match=says):
        check_spec(replace(SPEC, **change))


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(SpecInvalid, match=r"timeout_ms.*locks names 'a'.*locks names 'b'"):
        check_spec(replace(SPEC, timeout_ms=-1, locks=("{a}", "{b}")))


def test_a_context_parameter_may_be_named_like_the_value_that_fills_it() -> None:
    assert check_spec(replace(SPEC, parameters=(Parameter("tenant", source=ParameterSource.CONTEXT),))) == ()
