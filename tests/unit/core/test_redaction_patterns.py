"""Which names of keys hold a secret, which do not, and which shapes of credentials are known."""

import base64

import pytest

from interlock.core.redaction import MASK, Redactor
from interlock.core.redaction_patterns import (
    NOTHING,
    PAYMENT_CARD,
    STANDARD,
    Vocabulary,
    is_secret_name,
    passes_luhn,
)

SECRET_NAMES = """
password PassWord pass-word PASSWORD passwords user_password newPassword password2 password_hash passwd pwd passphrase
passcode db_pass secret secrets clientSecret client_secret SecretString secret_value apiKey api_key api-key APIKEY
x-api-key X-API-Key api_keys openai_api_key accessKey aws_secret_access_key secretKey private_key privateKeyPem
signing_key encryption_key accountKey token accessToken access_token access_tokens refresh_token id_token csrf-token
github_token bot_token authorization Authorization Proxy-Authorization authorization_header cookie cookies Set-Cookie
credential credentials creds auth x-auth user.auth otp user_otp cvv connectionString connection_string
client_assertion mcp-session-id user[password] jwt 密码 用户密码 密钥
""".split()

HARMLESS_NAMES = """
max_tokens maxTokens token_count tokens_used tokens total_tokens prompt_tokens completion_tokens tokenizer token_type
token_endpoint token_limit key keys primary_key foreign_key sort_key cache_key idempotency_key public_key key_id
page_token next_page_token nextPageToken next_token continuation_token sync_token progressToken cancellation_token
fencing_token eos_token pad_token max_token password_policy password_length passwordless secretary author authors
authority oauth_provider authorization_url cookie_policy pass passed first_pass compass bypass keyboard monkey draft_id
content resource session_id signature description cvvx robot hotp_algorithm 名称
""".split()


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_key_that_names_a_secret_hides_its_value(name: str) -> None:
    assert is_secret_name(name, STANDARD)
    assert Redactor().json({name: "v"}) == {name: MASK}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_key_that_only_sounds_like_one_survives(name: str) -> None:
    assert not is_secret_name(name, STANDARD)
    assert Redactor().json({name: "v"}) == {name: "v"}


def test_names_of_the_user_count_in_any_spelling_as_whole_words() -> None:
    own = Vocabulary().extended(["taxNumber", "pin"], [])
    assert all(is_secret_name(name, own) for name in ("tax_number", "TAX-NUMBER", "taxnumber", "card.pin", "pin"))
    assert not any(is_secret_name(name, own) for name in ("spin", "pinned", "tax_numbers_count", "password"))
    assert not is_secret_name("password", NOTHING)


CREDENTIALS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "cut private key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2" * 9,
    "github fine-grained": "github_pat_" + "a1B2_" * 9,
    "gitlab": "glpat-" + "a1B2-" * 4,
    "slack": "xoxb-" + "123456789012-abcdef",
    "slack hook": "hooks.slack.com/services/T00000000/B00000000/XXXXXXXX",
    "stripe": "sk_live_" + "a1B2" * 6,
    "stripe hook": "whsec_" + "a1B2" * 6,
    "openai": "sk-proj-" + "a1B2" * 6,
    "anthropic": "sk-ant-api03-" + "a1B2" * 6,
    "google": "AIza" + "a1B2-" * 7,
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "npm": "npm_" + "a1B2" * 9,
    "sendgrid": "SG." + "a1B2" * 5 + "." + "c3D4" * 5,
}


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize("credential", CREDENTIALS.values(), ids=CREDENTIALS)
@pytest.mark.parametrize("around", ["{}", "see {} there", "line\n{}\nline", "中文{}。", '"{}"', "a\t{}"])
def test_a_credential_is_masked_by_its_shape(credential: str, around: str) -> None:
    text = around.format(credential)
    redactor = Redactor()
    assert credential not in redactor.text(text)
    assert redactor.json({"note": [text]}) == {"note": [redactor.text(text)]}
    assert MASK in redactor.text(text)


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer abc", "Authorization: [redacted]"),
        ("curl -H 'Authorization: Digest u=1, r=2'", "curl -H 'Authorization: [redacted]"),
        ("Cookie: sid=a; theme=b\nHost: x", "Cookie: [redacted]\nHost: x"),
        ("got Bearer t0kent0kent0k end", "got Bearer [redacted] end"),
        ("with basic " + base64.b64encode(b"user:pass").decode(), "with basic [redacted]"),
        ("postgresql://app:pa55@db/x", "postgresql://app:[redacted]@db/x"),
        ("redis://:pa55@db/0", "redis://:[redacted]@db/0"),
        ("https://x.org/?a=1&api_key=abc&b=2", "https://x.org/?a=1&api_key=[redacted]&b=2"),
        ("PGPASSWORD=abc psql", "PGPASSWORD=[redacted] psql"),
        ("tool --api-key abc --verbose", "tool --api-key [redacted] --verbose"),
        ("{'token': 'a b', 'n': 1}", "{'token': '[redacted]', 'n': 1}"),
        ('token: "a \\" b" end', 'token: "[redacted]" end'),
        ('{"token":"a \\" b","n":1}', '{"token":"[redacted]","n":1}'),
        ('log {\\"token\\": \\"a \\\\\\" b\\"}', 'log {\\"token\\": \\"[redacted]\\"}'),
        ("page_token=password=abc", "page_token=password=[redacted]"),
        ("密码：一二三", "密码：[redacted]"),
        ("card.otp=123456", "card.otp=[redacted]"),
    ],
)
def test_secrets_in_running_text_are_masked(text: str, redacted: str) -> None:
    redactor = Redactor()
    assert redactor.text(text) == redacted
    assert redactor.text(redacted) == redacted
    assert redactor.json([text]) == [redacted]


@pytest.mark.requirement("OBS-5")
@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=100, token_count: 5",
        "Bearer authentication is required",
        "Basic information follows: nothing",
        "the next page token: abc",
        "password: null, token: true, secret: ''",
        "task-with-a-very-long-slug-name-here",
        "https://example.org:8080/path@x",
        "ordinary prose about secrets and tokens.",
        "AKIA is a prefix",
    ],
)
def test_ordinary_text_survives_as_the_same_object(text: str) -> None:
    assert Redactor().text(text) is text


def test_payment_cards_are_masked_only_where_asked_for_and_only_with_a_valid_check_digit() -> None:
    cards = Redactor(vocabulary=Vocabulary(rules=(PAYMENT_CARD,)))
    assert cards.json(["pay 4111 1111 1111 1111 now", "4111111111111112"]) == [f"pay {MASK} now", "4111111111111112"]
    assert Redactor().text("4111111111111111") == "4111111111111111"
    assert passes_luhn(b"378282246310005")
