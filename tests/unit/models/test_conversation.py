"""A conversation is a list of messages of which it is remembered how far it was looked at."""

from interlock.models.conversation import Conversation


def test_a_conversation_that_begins_was_not_looked_at() -> None:
    said = Conversation([{"role": "user", "content": "Hello."}])
    assert (said, said.paired) == ([{"role": "user", "content": "Hello."}], 0)
