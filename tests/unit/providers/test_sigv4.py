"""A signature is the one that AWS's rules give, worked out here once more from what was sent."""

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

pytest.importorskip("botocore")

from interlock.providers.hosted import NotSendable
from interlock.providers.sigv4 import Signer

URL = "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.claude-x-v1%3A0/converse"
CONTENT = b'{"messages":[]}'
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token")


def test_the_signature_is_the_one_of_the_rules(credentials: None) -> None:
    headers = Signer("eu-west-1").signed(URL, CONTENT)
    said = dict(part.strip(",").split("=", 1) for part in headers["authorization"].split()[1:])
    assert said["Signature"] == expected(headers, said["SignedHeaders"].split(";"))
    assert headers["x-amz-security-token"] == "token"
    assert SECRET not in str(headers)


def test_no_credentials_are_told_without_waiting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(NotSendable, match="AWS_PROFILE"):
        Signer("eu-west-1").signed(URL, CONTENT)


def expected(headers: Mapping[str, str], names: list[str]) -> str:
    """Source: AWS Signature Version 4, "Create a signed AWS API request"."""
    at = urlsplit(URL)
    values = {**headers, "host": at.netloc}
    canonical = "\n".join(
        [
            "POST",
            quote(at.path, safe="/-_.~"),
            "",
            *(f"{name}:{values[name].strip()}" for name in names),
            "",
            ";".join(names),
            hashlib.sha256(CONTENT).hexdigest(),
        ]
    )
    moment = headers["x-amz-date"]
    scope = f"{moment[:8]}/eu-west-1/bedrock/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = f"AWS4{SECRET}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.new(key, to_sign.encode(), "sha256").hexdigest()
