"""What goes back after a turn is what the provider is on record to have accepted."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from interlock.models.codec import Answer, Codec, Image
from interlock.models.turn import Proposed
from tests.wire.follow_ups import FollowUp, Told, follow_ups, plain, told
from tests.wire.providers import MODULES, codecs

pytestmark = pytest.mark.wire

CODECS = codecs()
PROVIDERS = sorted(MODULES)


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_accepted_history_is_given_back_as_it_was(wire_corpus: Path, provider: str) -> None:
    seen = list(_accepted(wire_corpus, provider))
    wrong = {
        case_id: (plain(CODECS[provider].echo(CODECS[provider].read_response(one.body))), plain(list(one.echoed)))
        for case_id, one in seen
        if plain(CODECS[provider].echo(CODECS[provider].read_response(one.body))) != plain(list(one.echoed))
    }
    _report(seen, wrong)


@pytest.mark.requirement("LOOP-2")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_results_go_back_in_a_form_that_was_accepted(wire_corpus: Path, provider: str) -> None:
    seen = list(_accepted(wire_corpus, provider))
    wrong = {}
    for case_id, one in seen:
        recorded = told(provider, one.answered)
        sent = told(provider, _answered(CODECS[provider], one, recorded, provider))
        if sent != recorded:
            wrong[case_id] = (sent, recorded)
    _report(seen, wrong)


def _answered(codec: Codec, one: FollowUp, recorded: Sequence[Told], provider: str) -> Sequence[Mapping[str, Any]]:
    calls = codec.read_response(one.body).calls
    assert len(calls) == len(recorded)
    by_label = {call.reply_id: call for call in calls}
    return codec.results(
        [_answer(by_label.get(result.correlation, call), result) for call, result in zip(calls, recorded, strict=True)]
    )


def _answer(call: Proposed, result: Told) -> Answer:
    return Answer(call, result.text, failed=result.failed, images=tuple(map(_image, result.images)))


def _image(link: str) -> Image:
    if not link.startswith("data:"):
        return Image(url=link)
    media_type, _, data = link.removeprefix("data:").partition(";base64,")
    return Image(media_type=media_type, base64=data)


def _accepted(corpus: Path, provider: str) -> Iterator[tuple[str, FollowUp]]:
    """The turns of all requests that the provider answered without complaint."""
    index = json.loads((corpus / "index.json").read_text(encoding="utf-8"))
    entries = [entry for entry in [*index["cases"], *index.get("exchanges", [])] if entry["provider"] == provider]
    for entry in entries:
        file = entry.get("request_file") or (entry["file"] if "accepted" in entry else None)
        if file is None or entry["http_status"] >= 400:
            continue
        request = json.loads((corpus / file).read_text(encoding="utf-8"))
        for number, one in enumerate(follow_ups(provider, request.get("request", request))):
            yield f"{entry['id']}#{number}", one


def _report(seen: Sequence[object], wrong: Mapping[str, object]) -> None:
    if not seen:
        pytest.skip("The corpus holds no such request.")
    lines = [f"{case_id}: {str(pair)[:1500]}" for case_id, pair in sorted(wrong.items())][:20]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(seen)} differ (sent, accepted):", *lines])
