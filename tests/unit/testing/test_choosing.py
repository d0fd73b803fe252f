"""The chooser for tests."""

from interlock.testing.choosing import FakeChooser


async def test_it_chooses_what_was_written_down_and_remembers_what_it_was_asked() -> None:
    chooser = FakeChooser({"a": "look"})
    assert [await chooser.choose(words, ()) for words in ("a", "b")] == ["look", None]
    assert chooser.asked == ["a", "b"]
