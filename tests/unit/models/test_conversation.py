"""A conversation is a list of messages of which it is remembered how far it was looked at."""

from interlock.models.conversation import Conversation


def test_a_conversation_that_begins_was_not_looked_at() -> None:
    said = Conversation([{"role": "user", "content": "Hello."}])
    assert (said, said.paired) == ([{"role": "user", "content": "Hello."}], 0)


def test_a_whole_turn_behind_what_was_looked_at_needs_no_look_and_one_behind_anything_else_does() -> None:
    said = Conversation([{"role": "user", "content": "Hello."}])
    turn: list[dict[str, object]] = [{"role": "assistant", "content": "Good day."}]
    said.add_whole(turn)
    assert (len(said), said.paired) == (2, 0)
    said.paired = 2
    said.add_whole(turn)
    assert (len(said), said.paired) == (3, 3)
