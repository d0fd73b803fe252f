"""Words of people who have looked at a version are kept as they were said, and hold for that one alone."""

import pytest

from interlock.core.sign_offs import SignOff, reviewers_of, sign_offs_from_bytes, sign_offs_to_bytes, signed_too

EVE = SignOff("eve", "read the code", 1, "a" * 64)
REX = SignOff("rex", "ran it", 2, "b" * 64)


def test_what_is_kept_is_read_as_it_was_written_in_the_form_of_stores_that_are_there() -> None:
    body = sign_offs_to_bytes((EVE,))
    assert body == b'{"signed":[{"at_us":1,"by":"eve","digest":"%s","why":"read the code"}]}' % (b"a" * 64)
    assert sign_offs_from_bytes(body) == (EVE,)


def test_who_signs_again_takes_the_place_of_what_they_said_before() -> None:
    again = SignOff("eve", "read it again", 3, "b" * 64)
    assert signed_too((EVE, REX), again) == (REX, again)


def test_a_word_for_one_version_is_none_for_another() -> None:
    assert reviewers_of((EVE, REX), EVE.digest) == ("eve",)


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"signed":1}', b'{"signed":[{"by":"eve"}]}', b"not JSON"])
def test_what_cannot_be_read_is_nobodys_word(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        sign_offs_from_bytes(body)
