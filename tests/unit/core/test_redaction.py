"""A planted secret survives in no output, in no spelling, and what holds no secret is not touched."""

import base64
import html
import json
import logging
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlock.core.canonical import Json, canonical, decode
from interlock.core.errors import RedactionInvalid
from interlock.core.redaction import MASK, NOTHING, Redactor, loggable_headers, marked_pointers

SECRET = 'hunter2-"ü/\\+ &<x>'
KNOWN = Redactor([SECRET])

SPELLINGS = {
    "as is": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 without padding": base64.urlsafe_b64encode(SECRET.encode()).decode().rstrip("="),
    "base64 after one byte": base64.b64encode(b"u" + SECRET.encode() + b"xyz").decode(),
    "base64 after two bytes": base64.b64encode(b"u:" + SECRET.encode() + b"x").decode(),
    "url": quote(SECRET),
    "url, strict": quote(SECRET, safe=""),
    "url, small hex": quote(SECRET, safe="").lower(),
    "form": quote_plus(SECRET),
    "every byte escaped": "".join(f"%{byte:02X}" for byte in SECRET.encode()),
    "json": json.dumps(SECRET)[1:-1],
    "json, raw": json.dumps(SECRET, ensure_ascii=False)[1:-1],
    "json in json": json.dumps(json.dumps(SECRET))[1:-1],
    "json with escaped slashes": json.dumps(SECRET)[1:-1].replace("/", "\\/"),
    "html": html.escape(SECRET),
    "hex": SECRET.encode().hex(),
}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@pytest.mark.parametrize("around", ["{}", "a {} b", "x={}&y", "中{}文", "\n{}\n"])
def test_a_known_secret_is_masked_in_every_spelling(spelling: str, around: str) -> None:
    text = around.format(spelling)
    for redacted in (KNOWN.text(text), KNOWN.json([text]), decode(KNOWN.json_bytes(canonical([text])))):
        assert spelling not in str(redacted)
        assert MASK in str(redacted)


def test_an_ascii_secret_is_masked_in_any_case() -> None:
    assert Redactor(["s3cr3t-Value"]).text("S3CR3T-VALUE s3cr3t-value") == f"{MASK} {MASK}"


secrets = st.text(min_size=6, max_size=40).filter(
    lambda text: len(text.strip()) >= 6 and "redacted" not in text and text.strip().lower() not in MASK
)
noise = st.text(max_size=20)
values: st.SearchStrategy[Json] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), noise),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(noise, inner, max_size=3)),
    max_leaves=8,
)


def strings(value: Json) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for item in value for text in strings(item)]
        case dict():
            return [text for key, item in value.items() for text in (key, *strings(item))]
        case _:
            return []


def spelled(secret: str, way: str) -> str:
    raw = secret.encode()
    return {
        "as is": lambda: secret,
        "base64": lambda: base64.b64encode(raw).decode(),
        "basic": lambda: base64.b64encode(b"user:" + raw).decode(),
        "url": lambda: quote(raw),
        "json": lambda: json.dumps(secret),
        "json in json": lambda: json.dumps(json.dumps({"a": [secret]})),
    }[way]()


@pytest.mark.requirement("OBS-5")
@given(
    secrets,
    st.sampled_from(["as is", "base64", "basic", "url", "json", "json in json"]),
    noise,
    noise,
    values,
)
def test_a_planted_secret_survives_nowhere(secret: str, way: str, before: str, after: str, other: Json) -> None:
    planted = spelled(secret.strip(), way)
    redactor = Redactor([secret])
    text = before + planted + after
    value = decode(canonical({"a": [other, {text: 1}], "b": text}))
    outputs = [
        redactor.text(text),
        *strings(redactor.json(value)),
        *strings(decode(redactor.json_bytes(canonical(value)))),
    ]
    assert not any(planted in output for output in outputs)
    assert redactor.json(value) == decode(redactor.json_bytes(canonical(value)))


@given(values)
def test_redacting_twice_changes_nothing(value: Json) -> None:
    redactor = Redactor()
    once = redactor.json(value)
    assert redactor.json(once) == once


@pytest.mark.requirement("OBS-5")
@given(
    values,
    st.sampled_from(
        ["ghp_" + "a1B2" * 9, "Bearer t0kent0ken", "password: hunter2", "--token hunter2", "AKIA" + "A1B2" * 4]
    ),
)
@example({"a": "\n"}, "Bearer\nt0kent0ken")
@example({}, "bearer\x0c:\n t0kent0ken")
def test_the_quick_search_finds_whatever_the_exact_one_would(value: Json, credential: str) -> None:
    redactor = Redactor()
    for text in strings([value, credential, f"\n{credential}\n", f"\\{credential}", f'"{credential}"']):
        assert redactor.json([text]) == [redactor.text(text)]


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize(
    "value", [{"a": 1, "max_tokens": 100}, [], "text", 2**70, {"n": [2**70, "x"]}, {"token": None}]
)
def test_a_value_without_a_secret_is_the_same_object(value: Json) -> None:
    data = canonical(value)
    assert KNOWN.json(value) is value
    assert KNOWN.json_bytes(data) is data
    assert KNOWN.json_bytes(data, marked=frozenset({"/absent"})) is data


@pytest.mark.requirement("OBS-5")
def test_a_secret_key_hides_texts_numbers_and_whole_objects_but_not_what_says_nothing() -> None:
    value: dict[str, Json] = {
        "password": 123456,
        "credentials": {"user": "a", "code": "b"},
        "cookies": ["a", "b"],
        "secret": None,
        "token": True,
        "api_key": "",
    }
    hidden = dict.fromkeys(("password", "credentials", "cookies"), MASK)
    assert Redactor().json(value) == {**value, **hidden}


@pytest.mark.requirement("OBS-5", "APR-2")
def test_schema_marks_hide_and_an_approver_is_denied_nothing_else() -> None:
    marked = marked_pointers({"properties": {"iban": {"sensitive": True}, "note": {}}})
    value: Json = {"iban": "DE02", "note": f"use {SECRET}", "password": "shown"}
    approver = Redactor([SECRET], vocabulary=NOTHING)
    shown: Json = {"iban": MASK, "note": f"use {MASK}", "password": "shown"}
    assert approver.json(value, marked=marked) == shown
    assert decode(approver.json_bytes(canonical(value), marked=marked)) == shown
    assert Redactor().json({"iban": "DE02"}, marked=marked) == {"iban": MASK}
    assert Redactor().json_bytes(b'{"iban":"DE02"}', marked=marked) == b'{"iban":"[redacted]"}'


@pytest.mark.requirement("OBS-5")
def test_json_inside_a_text_is_redacted_as_json() -> None:
    inner = json.dumps({"apiKey": 'a" b', "list": [{"nested": {"PassWord": ["x", "y"]}}], "max_tokens": 5})
    (redacted,) = strings(Redactor().json([inner]))
    assert json.loads(redacted) == {"apiKey": MASK, "list": [{"nested": {"PassWord": MASK}}], "max_tokens": 5}


def test_a_number_that_is_a_known_secret_is_masked() -> None:
    assert Redactor(["12345678"]).json({"a": 12345678, "b": 1.5}) == {"a": MASK, "b": 1.5}


def test_a_secret_that_is_no_text_is_masked_in_its_encodings() -> None:
    key = bytes(range(250, 256)) * 2
    redactor = Redactor([key])
    assert redactor.json([key.hex(), base64.b64encode(key).decode(), quote(key)]) == [MASK, MASK, MASK]


def test_members_whose_keys_are_masked_are_all_kept() -> None:
    assert Redactor(["alpha-x", "alpha-y"]).json({"alpha-x": 1, "alpha-y": 2}) == {MASK: 1, f"{MASK}#2": 2}


def test_secrets_can_be_added_without_changing_the_first_redactor() -> None:
    first = Redactor(["first-secret"], extra_keys=["tax"])
    both = first.with_secrets(["second-secret"])
    assert both.text("first-secret second-secret tax=1") == f"{MASK} {MASK} tax={MASK}"
    assert first.text("second-secret") == "second-secret"
    assert both.with_secrets(["first-secret", "second-secret"]) is both
    assert repr(both) == "<Redactor of 2 known secrets>"


@pytest.mark.parametrize("pattern", [r"^EMP-\d{4}$", r"\bEMP-\d{4}\b", r"员工\d{4}|EMP-\d+"])
def test_patterns_of_the_user_see_whole_decoded_strings(pattern: str) -> None:
    redactor = Redactor(extra_patterns=[pattern])
    value: Json = {"a": ["EMP-1234"], "b": 1}
    assert redactor.json(value) == {"a": [MASK], "b": 1}
    assert decode(redactor.json_bytes(canonical(value))) == {"a": [MASK], "b": 1}


@pytest.mark.parametrize("pattern", ["(", "(?=x)", "x*", ""])
def test_patterns_that_cannot_be_held_to_are_faults(pattern: str) -> None:
    with pytest.raises(RedactionInvalid, match="pattern 1"):
        Redactor(extra_patterns=[pattern])


@pytest.mark.parametrize("secret", ["", "abc", "12345", b"12345", "  abc   ", "密码密码密", "redacted", "x[redacted]"])
def test_a_secret_that_cannot_be_told_from_ordinary_text_is_a_fault_that_does_not_show_it(secret: str | bytes) -> None:
    with pytest.raises(RedactionInvalid) as fault:
        Redactor(["long-enough", secret])
    if secret and "redacted" not in str(secret):
        assert str(secret) not in str(fault.value)


def test_a_redactor_never_shows_its_secrets() -> None:
    logging.getLogger(__name__).debug("%r", KNOWN)
    assert "hunter" not in repr(KNOWN) + str(KNOWN)


@pytest.mark.requirement("OBS-5")
def test_a_thousand_known_secrets_are_all_found() -> None:
    known = [f"secret-{n:06d}-{n * 7919 % 100_003:06d}" for n in range(1000)]
    redactor = Redactor(known)
    assert all(redactor.text(f"a {secret} b") == f"a {MASK} b" for secret in known[::50])


@pytest.mark.requirement("OBS-5")
def test_what_is_too_deep_or_not_json_is_masked_whole() -> None:
    deep: Json = "password=hunter2"
    for _ in range(3000):
        deep = [deep]
    assert "hunter2" not in str(KNOWN.json(deep))
    assert KNOWN.json_bytes(b'{"password": hunter2') == b'"[redacted]"'


def test_escaped_names_in_bytes_that_are_not_canonical_are_seen() -> None:
    assert decode(Redactor().json_bytes(b'{"pass\\u0077ord":"x"}')) == {"password": MASK}


@pytest.mark.parametrize("text", ["\ud800 password=hunter2", "password=ab\ud800cd"])
def test_lone_surrogates_do_not_stop_redaction(text: str) -> None:
    assert Redactor().text(text).endswith(f"password={MASK}")
    assert Redactor().json([text]) == [Redactor().text(text)]


@pytest.mark.parametrize(
    "text",
    [
        "token=" * 30_000,
        "page_token='" * 20_000,
        '"' * 100_000 + "password",
        "a:" * 50_000 + "@",
        "sk-" * 50_000,
        "[" * 90_000,
    ],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert KNOWN.text(f"{text} password=hunter2")


@pytest.mark.requirement("OBS-5")
def test_only_listed_headers_are_logged_and_every_name_is_seen() -> None:
    headers = {"Content-Type": "text/plain", "Authorization": "Bearer x", "X-Anything": "y", "x-request-id": "7"}
    assert loggable_headers(headers) == {
        "Content-Type": "text/plain",
        "Authorization": MASK,
        "X-Anything": MASK,
        "x-request-id": "7",
    }
