"""Key files: made once, for their owner only, and never guessed around when broken."""

import stat
from pathlib import Path

import pytest

from interlock.core.errors import KeyInvalid
from interlock.core.signing import public_key
from interlock.keys import Keys, KeySigner, key_file


@pytest.mark.requirement("AUD-2")
def test_a_key_file_is_made_on_first_use_and_read_after_that(tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    made = key_file(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert key_file(path) == made
    assert len({made.signing, made.master, Keys.random().signing}) == 3


def test_keys_do_not_show_themselves() -> None:
    keys = Keys.random()
    assert keys.signing.hex() not in repr(keys)
    assert repr(keys.master) not in repr(keys)


@pytest.mark.parametrize("text", ["", "zz\nzz\n", "00\n00\n", "aa", "ä\n"])
def test_a_broken_key_file_is_refused_and_left_as_it_is(text: str, tmp_path: Path) -> None:
    path = tmp_path / "k.key"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(KeyInvalid):
        key_file(path)
    assert path.read_text(encoding="utf-8") == text


def test_a_key_file_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "folder.key").mkdir()
    with pytest.raises(KeyInvalid, match="cannot be read: Is a directory"):
        key_file(tmp_path / "folder.key")
    with pytest.raises(KeyInvalid, match="No such file"):
        key_file(tmp_path / "missing" / "k.key")


def test_a_signer_signs_with_its_own_key() -> None:
    keys = Keys.random()
    signer = KeySigner(keys.signing)
    assert signer.public_key() == public_key(keys.signing)
    assert signer.sign(b"x") != signer.sign(b"y")
