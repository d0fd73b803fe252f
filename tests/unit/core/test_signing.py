"""A signature holds for one statement and one key."""

import subprocess
import sys
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core.signing import fingerprint, is_signed, public_key, sign

# RFC 8032, section 7.1, tests 1 and 2.
VECTORS = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
]
PRIVATE_KEY = bytes(range(32))
KEY = public_key(PRIVATE_KEY)
SIGNATURE = sign(b"statement", private_key=PRIVATE_KEY)


@pytest.mark.parametrize(("private", "public", "message", "signature"), VECTORS)
def test_the_signatures_are_those_of_rfc_8032(private: str, public: str, message: str, signature: str) -> None:
    key, statement = bytes.fromhex(private), bytes.fromhex(message)
    assert public_key(key).hex() == public
    assert sign(statement, private_key=key).hex() == signature
    assert is_signed(statement, signature=bytes.fromhex(signature), public_key=bytes.fromhex(public))


@given(st.binary(max_size=80), st.binary(max_size=80), st.binary(max_size=40))
def test_whatever_is_no_signature_or_no_key_signs_nothing(statement: bytes, signature: bytes, key: bytes) -> None:
    assert not is_signed(statement, signature=signature, public_key=key)
    assert not is_signed(statement, signature=signature, public_key=KEY)
    assert is_signed(statement, signature=SIGNATURE, public_key=KEY) == (statement == b"statement")


def test_another_key_did_not_sign() -> None:
    assert not is_signed(b"statement", signature=SIGNATURE, public_key=public_key(bytes(32)))


def test_a_fingerprint_is_the_hash_of_the_raw_key() -> None:
    assert fingerprint(KEY) == sha256(KEY).hexdigest()


def test_what_writes_records_does_not_pay_for_importing_signatures() -> None:
    imports = "import sys, interlock.core.chain, interlock.core.audit_entry, interlock.core.checkpoint"
    program = f"{imports}; sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
