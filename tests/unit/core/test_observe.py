"""What goes back for a call: checked, cleaned, redacted, limited, labelled and put into words that are true."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.approval import ApprovalState
from interlock.core.budget import Amounts
from interlock.core.canonical import Json, canonical
from interlock.core.catalogue import Tool
from interlock.core.decision import Deny, Replay
from interlock.core.evidence import Evidence, EvidenceKind, EvidenceRule, Source
from interlock.core.labels import Confidentiality, Labels, Trust
from interlock.core.observation import Observation, Status, to_bytes
from interlock.core.observe import WORDS_CHARS_MAX, Frame, observe, refused, replayed, waiting
from interlock.core.outcome import Failed, Outcome, Partial, Produced, Succeeded, Unknown
from interlock.core.policy import Answer, Verdict
from interlock.core.redaction import MASK, Redactor
from interlock.core.refusals import BEFORE_DISPATCH, REFUSALS, Code
from interlock.core.tool import Document, OutputCheck
from tests.unit.core.call_cases import NOW_US, READ, SAVE, approval, operation, prior, tool

SECRET = "hunter2-hunter2"
FRAME = Frame("op1", NOW_US, Redactor([SECRET]), spent=Amounts(tokens=7, cost_micros=30, working_ms=12))
NUMBERS = Document.of({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


def seen(outcome: Outcome, of: Tool = SAVE, frame: Frame = FRAME) -> Observation:
    return observe(operation(of=of), outcome, frame)


def result(value: Json, of: Tool = SAVE, **produced: object) -> Observation:
    return seen(Succeeded(canonical(value), Produced(**produced)), of)  # type: ignore[arg-type]


@pytest.mark.requirement("OBS-1")
def test_a_result_carries_what_was_asked_and_what_came_of_it() -> None:
    found = result({"id": "r1"}, resource_version="8")
    assert found == Observation(
        call_id="c1",
        tool="save_draft",
        version="1",
        status=Status.OK,
        data_json=b'{"id":"r1"}',
        operation_id="op1",
        resource="Draft/r1",
        resource_version="8",
        evidence=Evidence(EvidenceKind.STATUS),
        labels=Labels(),
        executed_at_us=NOW_US,
        usage={"tokens": 7, "cost_micros": 30, "working_ms": 12},
        user_text="This is done.",
    )


@pytest.mark.requirement("OBS-1")
def test_a_partial_result_names_what_is_still_open() -> None:
    found = seen(Partial(b'["a"]', ("b", "c")))
    assert (found.status, found.data, found.open_items) == (Status.PARTIAL, ["a"], ("b", "c"))
    assert "in part" in found.user_text


@pytest.mark.requirement("OBS-3")
def test_evidence_is_of_the_kind_that_the_tool_declares_with_the_sources_of_the_result() -> None:
    rule = EvidenceRule(EvidenceKind.AUTHORITATIVE, quotable=True, reportable=True, confirm=True, scope="eu")
    source = Source("doc://1", "Terms", 3, 5)
    found = result(
        1, tool("read_terms", evidence=rule), sources=(source,), data_time_us=5, data_version="2026-11"
    ).evidence
    assert found == Evidence(
        EvidenceKind.AUTHORITATIVE,
        quotable=True,
        reportable=True,
        confirm=True,
        scope="eu",
        sources=(source,),
        data_time_us=5,
        data_version="2026-11",
    )


@pytest.mark.requirement("OBS-3")
def test_what_was_not_executed_is_evidence_of_nothing() -> None:
    assert seen(Failed(Code.TOOL_ERROR, "No.")).evidence is None
    assert seen(Unknown("Lost.")).evidence is None


@pytest.mark.requirement("OBS-2")
def test_a_result_that_breaks_its_schema_is_executed_and_withheld() -> None:
    found = result({"n": "x"}, tool(output_schema=NUMBERS, promises={"failed": "Nothing was saved."}))
    assert (found.status, found.data_json, found.executed_at_us) == (Status.FAILED, None, NOW_US)
    assert found.error is not None
    assert found.error.code is Code.OUTPUT_INVALID
    assert found.error.message.startswith("It was executed")
    assert found.user_text == "This was executed, but its result cannot be shown."
    assert "x" not in repr(found.error.details)


@pytest.mark.requirement("OBS-2")
@pytest.mark.parametrize(
    ("check", "hint"),
    [
        (OutputCheck.OFF, ""),
        (OutputCheck.WARN, "The result does not have the promised form; check it before you use it."),
    ],
)
def test_a_schema_that_is_not_strict_lets_the_result_through(check: OutputCheck, hint: str) -> None:
    found = result({"n": "x"}, tool(output_schema=NUMBERS, output_check=check))
    assert (found.status, found.data, found.hint) == (Status.OK, {"n": "x"}, hint)
    assert result({"n": 1}, tool(output_schema=NUMBERS, output_check=check)).hint == ""


@pytest.mark.requirement("OBS-2", "OBS-6")
@pytest.mark.parametrize(
    "labels", [Labels(Confidentiality.RESTRICTED, Trust.INTERNAL), Labels(Confidentiality.PUBLIC, Trust.UNTRUSTED)]
)
def test_a_result_labelled_above_the_ceiling_of_its_tool_is_executed_and_withheld(labels: Labels) -> None:
    of = tool(labels=Labels(Confidentiality.CONFIDENTIAL, Trust.INTERNAL))
    found = result({"id": "r1"}, of, labels=labels)
    assert (found.status, found.data_json) == (Status.FAILED, None)
    assert found.error is not None
    assert (found.error.code, found.error.message[:15]) == (Code.OUTPUT_INVALID, "It was executed")
    lower = Labels(Confidentiality.INTERNAL, Trust.TRUSTED, frozenset({"crm"}))
    assert result(1, of, labels=lower).labels == lower


@pytest.mark.requirement("OBS-6")
def test_a_result_without_labels_of_its_own_has_those_of_its_tool() -> None:
    ceiling = Labels(Confidentiality.CONFIDENTIAL, Trust.UNTRUSTED, frozenset({"web"}))
    assert result(1, tool(labels=ceiling)).labels == ceiling


@pytest.mark.requirement("OBS-6")
@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\U000e0041", "\x07", "\b", "\x7f", "\x1b"])
def test_invisible_characters_are_taken_out_and_counted(hidden: str) -> None:
    found = result({"text": f"a{hidden}b"})
    assert (found.data, found.invisible_removed) == ({"text": "ab"}, 1)


def test_a_result_without_invisible_characters_keeps_its_bytes() -> None:
    for data in (b'{"b":1,"a":1.0}', '{"b":"ü\\n","a":"€"}'.encode()):
        assert seen(Succeeded(data)).data_json == data


@pytest.mark.requirement("OBS-5")
def test_secrets_of_the_tool_and_fields_that_policy_names_are_masked() -> None:
    frame = replace(FRAME, redact=frozenset({"salary"}))
    found = seen(Succeeded(canonical({"note": f"key {SECRET}", "salary": 5, "name": "Eve"})), frame=frame)
    assert found.data == {"note": f"key {MASK}", "salary": MASK, "name": "Eve"}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("outcome", [Failed(Code.TOOL_ERROR, f"no {SECRET}"), Unknown(f"lost {SECRET}")])
def test_secrets_in_what_went_wrong_are_masked(outcome: Outcome) -> None:
    error = seen(outcome).error
    assert error is not None
    assert SECRET not in error.message


@given(st.text(min_size=60), st.integers(40, 120))
def test_a_result_over_the_limit_is_cut_to_valid_json_within_it(text: str, limit: int) -> None:
    of = tool("read_draft", resource=None, output_bytes_max=limit)
    whole = canonical({"text": text})
    found = seen(Succeeded(whole), of)
    assert found.data_json is not None
    assert len(found.data_json) <= limit
    assert isinstance(json.loads(found.data_json), dict)
    full = seen(Succeeded(whole), tool("read_draft", resource=None)).data_json or b""
    assert found.truncated == (len(full) if len(full) > limit else None)
    if found.truncated is not None:
        cut = found.data
        assert isinstance(cut, dict)
        assert cut["truncated"] is True
        assert full.decode().startswith(str(cut["head"]))


def test_a_result_that_just_fits_is_whole() -> None:
    data = canonical({"text": "x" * 50})
    assert seen(Succeeded(data), tool(output_bytes_max=len(data))).truncated is None
    cut = seen(Succeeded(data), tool(output_bytes_max=len(data) - 1))
    assert cut.truncated == len(data)


@pytest.mark.requirement("OBS-7")
@pytest.mark.parametrize("code", sorted(set(Code) - {Code.OUTCOME_UNKNOWN, Code.APPROVAL_REQUIRED}))
def test_a_failure_has_the_status_and_the_words_of_its_code(code: Code) -> None:
    found = seen(Failed(code, "It did not work.", tool_code="E1"))
    assert found.status is (Status.REFUSED if code in BEFORE_DISPATCH else Status.FAILED)
    assert (found.executed_at_us is None) == (code in BEFORE_DISPATCH)
    assert (found.hint, found.user_text) == (REFUSALS[code].next_step, REFUSALS[code].user)
    assert found.error is not None
    assert found.error.details == {"tool_code": "E1"}


@pytest.mark.requirement("OBS-1")
def test_whether_a_failure_may_be_retried_is_what_the_tool_declares() -> None:
    again = seen(Failed(Code.TOOL_ERROR, "Busy.", retryable=True, retry_after_s=2.5))
    assert (again.retryable, again.retry_after_s) == (True, 2.5)
    assert not seen(Failed(Code.TOOL_TIMEOUT, "Late.")).retryable


@pytest.mark.requirement("OBS-7", "CALL-8")
def test_an_unknown_outcome_is_said_to_be_unknown() -> None:
    found = seen(Unknown("The connection was lost."))
    assert (found.status, found.status.is_terminal) == (Status.UNKNOWN, False)
    assert found.error is not None
    assert found.error.code is Code.OUTCOME_UNKNOWN
    assert "not yet known" in found.user_text


@pytest.mark.requirement("OBS-7", "TOOL-3")
def test_a_user_is_told_what_the_tool_promises_for_a_status() -> None:
    of = tool(promises={"ok": "Saved.", "unknown": "We are looking.", "failed": "Not saved.", "waiting": "Asked."})
    assert result(1, of).user_text == "Saved."
    assert seen(Unknown("Lost."), of).user_text == "We are looking."
    assert seen(Failed(Code.TOOL_ERROR, "No."), of).user_text == "Not saved."
    asked = replace(approval(operation(of=of)), state=ApprovalState.PENDING)
    assert waiting(operation(of=of), asked, resource=None).user_text == "Asked."
    assert "approved" in waiting(operation(of=of), replace(asked, state=ApprovalState.GRANTED), resource=None).user_text


@pytest.mark.requirement("OBS-1", "CALL-8")
def test_a_refusal_says_the_code_the_next_step_and_when_to_come_back() -> None:
    deny = Deny(Code.RATE_LIMITED, "Too many.", {"limit": 1}, retry_after_s=2.0, tool=SAVE)
    found = refused("c1", "save_draft", deny, redactor=Redactor())
    assert (found.status, found.status.is_terminal, found.version) == (Status.REFUSED, True, "1")
    assert (found.retryable, found.retry_after_s) == (True, 2.0)
    assert found.error is not None
    assert (found.error.code, found.error.details) == (Code.RATE_LIMITED, {"limit": 1})
    assert (found.executed_at_us, found.operation_id, dict(found.usage)) == (None, None, {})


@pytest.mark.requirement("CALL-4")
def test_a_refusal_of_a_tool_that_is_not_there_has_no_version_and_repeats_little_of_the_name() -> None:
    found = refused("c1", "x" * 1000, Deny(Code.TOOL_NOT_FOUND, "No.", tool=SAVE), redactor=Redactor())
    assert (found.version, len(found.tool)) == ("", 128)


@pytest.mark.requirement("OBS-1", "CALL-8")
def test_a_waiting_call_says_what_it_waits_for_and_until_when() -> None:
    asked = approval(operation(), ApprovalState.PENDING)
    found = waiting(operation(), asked, resource="Draft/r1")
    assert (found.status, found.approval_id, found.expires_at_us) == (Status.WAITING, "a1", asked.expires_at_us)
    assert "Nothing has been done yet." in (found.error.message if found.error else "")
    assert found.executed_at_us is None


@pytest.mark.requirement("IDEM-2", "OBS-1")
def test_a_replay_is_the_recorded_observation_marked_with_its_original_time() -> None:
    found = _replayed(result({"id": "r1"}), visible=True)
    assert (found.replayed, found.executed_at_us, found.data) == (True, NOW_US, {"id": "r1"})
    assert (found.call_id, dict(found.usage)) == ("c1", {})


@pytest.mark.requirement("IDEM-2", "OBS-7")
def test_a_replay_that_may_not_be_seen_says_that_it_was_done_and_withholds_the_rest() -> None:
    whole = seen(Partial(b'["secret-item"]', ("secret-open",), Produced(resource_version="8")))
    found = _replayed(whole, visible=False)
    assert (found.replayed, found.executed_at_us, found.status) == (True, NOW_US, Status.PARTIAL)
    assert (found.data_json, found.evidence, found.open_items, found.resource_version) == (None, None, (), None)
    assert "secret" not in repr(found)
    assert found.user_text == "This was done; the result may not be shown to you."


@pytest.mark.requirement("IDEM-2", "OBS-7")
@pytest.mark.parametrize("outcome", [Unknown("secret"), Failed(Code.TOOL_ERROR, "secret", tool_code="secret")])
def test_a_replay_that_may_not_be_seen_never_says_done_of_what_may_not_be(outcome: Outcome) -> None:
    found = _replayed(seen(outcome), visible=False)
    assert "secret" not in repr(found)
    assert found.error is not None
    assert found.user_text == REFUSALS[found.error.code].user
    assert "done" not in found.user_text


@pytest.mark.requirement("CALL-8")
@pytest.mark.parametrize(
    "outcome", [Succeeded(b"1"), Partial(b"1", ("x",)), Failed(Code.TOOL_ERROR, "No."), Unknown("?")]
)
@pytest.mark.parametrize("of", [SAVE, READ])
def test_whatever_came_of_a_call_there_is_one_observation_with_its_id(outcome: Outcome, of: Tool) -> None:
    found = seen(outcome, of)
    assert (found.call_id, found.tool, found.operation_id) == ("c1", of.spec.name, "op1")
    assert found.user_text


def _replayed(recorded: Observation, *, visible: bool, redact: frozenset[str] = frozenset()) -> Observation:
    of = operation()
    before = prior(of, observation=to_bytes(recorded.changed({"call_id": "c0"})))
    return replayed(of, Replay(before, visible, Verdict(Answer.ALLOW, redact=redact)), Redactor([SECRET]))


@pytest.mark.requirement("POL-6")
def test_a_field_that_policy_names_is_redacted_wherever_it_stands_in_the_result() -> None:
    frame = replace(FRAME, redact=frozenset({"ssn"}))
    data = canonical({"ssn": "123", "rows": [{"ssn": "123", "n": 1}]})
    found = seen(Succeeded(data), frame=frame)
    assert found.data == {"ssn": MASK, "rows": [{"ssn": MASK, "n": 1}]}
    assert found.resource == "Draft/r1"


@pytest.mark.requirement("POL-6", "IDEM-2")
def test_a_replay_is_redacted_as_policy_has_it_today() -> None:
    recorded = result({"ssn": "123", "rows": [{"ssn": "123"}]})
    assert _replayed(recorded, visible=True, redact=frozenset({"ssn"})).data == {"ssn": MASK, "rows": [{"ssn": MASK}]}
    assert _replayed(recorded, visible=True).data == recorded.data
    cut = result([{"ssn": "123"}] * 50, tool(output_bytes_max=100))
    assert cut.truncated
    assert "123" not in repr(_replayed(cut, visible=True, redact=frozenset({"ssn"})))
    known_today = replace(FRAME, redactor=Redactor())
    assert SECRET not in repr(_replayed(seen(Succeeded(canonical(SECRET)), frame=known_today), visible=True))


@pytest.mark.requirement("POL-6")
@pytest.mark.parametrize("visible", [True, False])
def test_a_resource_that_a_redacted_field_names_is_not_named(visible: bool) -> None:
    redact = frozenset({"draft_id"})
    assert seen(Succeeded(b"1"), frame=replace(FRAME, redact=redact)).resource == f"Draft/{MASK}"
    assert _replayed(result(1), visible=visible, redact=redact).resource == f"Draft/{MASK}"


@pytest.mark.requirement("OBS-5")
def test_whatever_a_tool_hands_back_beside_its_value_is_redacted() -> None:
    labels = Labels(origins=frozenset({f"crm-{SECRET}"}))
    found = result(1, resource_version=f"v-{SECRET}", data_version=f"d-{SECRET}", labels=labels)
    assert SECRET not in repr(found)
    assert found.resource_version == f"v-{MASK}"
    assert found.evidence is not None
    assert found.evidence.data_version == f"d-{MASK}"
    assert found.labels == Labels(origins=frozenset({f"crm-{MASK}"}))


@pytest.mark.requirement("OBS-5")
def test_a_refusal_repeats_no_secret_that_a_model_made_a_name_of() -> None:
    name = f"{'x' * 120}{SECRET}"
    deny = Deny(Code.TOOL_NOT_FOUND, f"There is no tool named {name!r}.", {"nearest": [SECRET]})
    found = refused("c1", name, deny, redactor=Redactor([SECRET]))
    assert SECRET[:8] not in repr(found)


@pytest.mark.requirement("OBS-5", "OBS-6")
def test_what_a_tool_says_beside_its_result_is_made_as_safe_as_the_result() -> None:
    told = f"doc\u200b://{SECRET}"
    found = seen(Partial(b"1", (told,), Produced(sources=(Source(told, told),))))
    assert found.open_items == (f"doc://{MASK}",)
    assert found.evidence is not None
    assert found.evidence.sources == (Source(f"doc://{MASK}", f"doc://{MASK}"),)
    failed = seen(Failed(Code.TOOL_ERROR, told + "x" * 10_000_000)).error
    assert failed is not None
    assert failed.message.startswith(f"doc://{MASK}x")
    assert len(failed.message) == WORDS_CHARS_MAX
