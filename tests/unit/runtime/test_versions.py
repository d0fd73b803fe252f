"""Versions are found by what is asked for: tool, digest, what names them, what they replace; at no look at the rest."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from interlock import Caller, PolicySource, ToolCall
from interlock.core.errors import PolicyInvalid, SpecInvalid
from interlock.core.journal import EventKind
from interlock.core.lifecycle import Lifecycle
from interlock.core.retirement import Replacement, Retirement, written
from interlock.core.review import Review
from interlock.core.tool import CacheRule, Document, ToolSpec, spec_to_bytes
from interlock.ports import Registered
from interlock.runtime import versions
from interlock.runtime.versions import Versions, going_of
from tests.gates import ALICE, ALL, AUDITOR, OPERATOR, READS, Shelf, code, opened, records, save, search
from tests.steps import steps
from tests.unit.runtime.test_views import stored

SEARCH, SAVE = Shelf().search.spec(), Shelf().save.spec()
UNDOES = replace(SAVE, name="undo", compensate="save", fallback="spare", depends_on=("search",))


def known(*rows: Registered, here: ToolSpec | None = None) -> Versions:
    versions = Versions()
    for each in rows:
        versions.put(each, spec=here if here is not None and here.name == each.name else None)
    return versions


def test_a_version_is_found_by_its_tool_its_digest_and_its_identity() -> None:
    two = stored(replace(SEARCH, version="2"))
    mine = stored(replace(SAVE, tenant="acme"))
    versions = known(stored(SEARCH), mine, two)
    assert [*versions] == [stored(SEARCH), mine, two]
    assert versions.of("*", "search") == (stored(SEARCH), two)
    assert versions.named("save", ("acme", "*")) == versions.named("save", ("acme", "acme")) == (mine,)
    assert versions.digested(two.digest) == versions.get(("*", "python", "search", "2")) == two
    assert (versions.tenants("save"), versions.tenants("nothing"), versions.digested("x")) == (("acme",), (), None)
    frozen = replace(two, state=Lifecycle.FROZEN)
    versions.put(frozen, spec=None)
    assert versions.of("*", "search") == (stored(SEARCH), frozen)
    assert versions.digested(two.digest) == frozen


@pytest.mark.parametrize("here", [None, UNDOES])
def test_what_names_a_tool_is_found_whether_its_code_is_here_or_not(here: ToolSpec | None) -> None:
    versions = known(stored(SEARCH), stored(UNDOES), here=here)
    for name in ("save", "spare", "search"):
        assert versions.naming(name) == (stored(UNDOES),)
    assert versions.naming("undo") == ()


@pytest.mark.parametrize("is_here", [True, False])
def test_what_cached_reads_of_any_version_read_is_known(is_here: bool) -> None:
    cached = replace(SEARCH, cache=CacheRule(60, ("Note",)))
    assert known(stored(cached), stored(SAVE), here=cached if is_here else None).cached == {"Note"}


def test_what_takes_the_place_of_a_version_is_found_until_something_else_does() -> None:
    def going(name: str) -> Registered:
        instead = Retirement(announced_us=0, retires_us=1, replacement=Replacement(name))
        return replace(stored(SAVE), retirement=written(instead))

    versions = known(stored(SAVE), going("one"))
    assert [row.name for row, _ in versions.replaced_with("one")] == ["save"]
    versions.put(going("other"), spec=None)
    assert (versions.replaced_with("one"), len(versions.replaced_with("other"))) == ((), 1)
    versions.put(stored(SAVE), spec=None)
    assert versions.replaced_with("other") == ()


def test_what_was_said_of_a_retirement_and_cannot_be_read_is_nothing_and_is_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert going_of(replace(stored(SAVE), retirement="{")) is None
    assert "retirement of save 1 cannot be read" in caplog.text


@pytest.mark.requirement("SCALE-3")
def test_a_change_and_each_look_cost_the_same_among_few_and_among_many() -> None:
    def work(count: int) -> int:
        versions = known(*(stored(replace(SEARCH, name=f"search_{number}")) for number in range(count)))
        frozen = replace(stored(replace(SEARCH, name="search_3")), state=Lifecycle.FROZEN)

        def some() -> None:
            versions.put(frozen, spec=None)
            assert versions.of("*", "search_3") == (frozen,) == versions.named("search_3", ("acme", "*"))
            assert versions.naming("search_3") == versions.replaced_with("search_3") == ()
            assert versions.digested(frozen.digest) == frozen

        return steps(some)

    work(5)
    assert work(500) == work(5)


NAMED = ALL + '@id("named") forbid (principal, action == Action::"save", resource) when { context.args.text == "x" };'


@pytest.fixture
async def spoilt(tmp_path: Path) -> str:
    """A store in which the stored spec of `save` cannot be read."""
    path = str(tmp_path / "gate.db")
    async with opened(path, Shelf().tools, NAMED):
        pass
    with closing(apsw.Connection(path)) as file:
        file.execute("UPDATE versions SET spec = ? WHERE name = 'save'", (b"nonsense",))
    return path


async def test_a_stored_spec_that_cannot_be_read_closes_that_tool_alone(
    spoilt: str, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = Shelf()
    async with opened(spoilt, [shelf.search], NAMED) as gate:
        assert caplog.text.count("the stored spec of save 1 of * cannot be read") == 1
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "TOOL_NOT_FOUND"
        assert [each.spec.name for each in gate.catalogue.visible(Caller(ALICE))] == ["search"]
        assert [each.name for each in await gate.catalogue.list_versions("save")] == ["save"]
        later = replace(shelf.save.spec(), version="1.1")
        for asked in (
            gate.catalogue.diff("save", "1", "1"),
            gate.catalogue.successions([later]),
            gate.catalogue.evidence("save", version="1", by=OPERATOR),
        ):
            with pytest.raises(SpecInvalid, match="stored spec of save 1 cannot be read"):
                await asked
        await gate.catalogue.register([replace(shelf.search.spec(), name="more")], by=OPERATOR)
        review = await gate.catalogue.review(by=AUDITOR)
        assert isinstance(review, Review)
        assert {each.name for each in review.tools} >= {"search", "more"}
        await gate.catalogue.freeze("search", by=OPERATOR, reason="others are not held up by it")


@pytest.mark.requirement("EXEC-5", "CALL-8")
@pytest.mark.parametrize(
    "schema", [b'{"type":"array"}', b'{"type":"object","properties":{"query":{"type":"no such"}}}']
)
async def test_a_late_call_of_a_version_whose_stored_spec_describes_no_tool_is_refused_on_record(
    tmp_path: Path, schema: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    async with opened(path, shelf.tools, ALL) as gate:
        await gate.catalogue.retire("search", by=OPERATOR, reason="nobody needs it")
    spoilt = spec_to_bytes(replace(shelf.search.spec(), input_schema=Document(schema)))
    with closing(apsw.Connection(path)) as file:
        file.execute("UPDATE versions SET spec = ? WHERE name = 'search'", (spoilt,))
    async with opened(path, [shelf.save], ALL) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "TOOL_NOT_FOUND"
        assert [each["code"] for each in await records(gate, EventKind.REFUSED)] == ["TOOL_UNAVAILABLE"]
    assert "late calls of search are told nothing" in caplog.text


@pytest.mark.requirement("REG-2")
@pytest.mark.parametrize(("verb", "told"), [("freeze", "TOOL_FROZEN"), ("retire", "TOOL_RETIRED")])
async def test_a_name_is_closed_as_a_whole_where_one_of_its_versions_cannot_be_read(
    tmp_path: Path, verb: str, told: str
) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    async with opened(path, shelf.tools, ALL) as gate:
        await gate.catalogue.register([replace(shelf.save.spec(), version="0.9")], by=OPERATOR)
    with closing(apsw.Connection(path)) as file:
        file.execute("UPDATE versions SET spec = ? WHERE version = '0.9'", (b"nonsense",))
    async with opened(path, shelf.tools, ALL) as gate:
        moved = await getattr(gate.catalogue, verb)("save", by=OPERATOR, reason="it goes wrong")
        assert [each.version for each in moved] == ["1", "0.9"]
        assert code(await gate.call(save(), principal=ALICE, task="t")) == told
        if verb == "freeze":
            with pytest.raises(SpecInvalid, match=r"stored spec of save 0\.9 cannot be read"):
                await gate.catalogue.release("save", by=OPERATOR, reason="it is well again")


async def test_a_process_with_its_code_calls_it_by_that_and_policies_hold(spoilt: str) -> None:
    async with opened(spoilt, Shelf().tools, NAMED) as gate:
        assert code(await gate.call(save(text="x"), principal=ALICE, task="t")) == "PERMISSION_DENIED"
        assert code(await gate.call(save(), principal=ALICE, task="t")) == "ok"


async def test_a_policy_that_names_what_is_not_there_is_refused_beside_it(spoilt: str) -> None:
    async with opened(spoilt, [Shelf().search], NAMED) as gate:
        with pytest.raises(PolicyInvalid, match="no tool 'nothing'"):
            await gate.policies.save([PolicySource("x", NAMED.replace("save", "nothing"))], by=OPERATOR)


@pytest.mark.requirement("SCALE-3")
async def test_opening_reads_of_tools_whose_code_is_elsewhere_no_more_than_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, path = Shelf(), str(tmp_path / "gate.db")
    others = [replace(shelf.search.spec(), name=f"search_{number}") for number in range(50)]
    async with opened(path, shelf.tools, READS) as gate:
        await gate.catalogue.register(others, by=OPERATOR)
        await gate.catalogue.retire("search_7", by=OPERATOR, reason="nobody needs it")
    monkeypatch.setattr(versions, "spec_in", lambda *_, name, **__: pytest.fail(f"it read {name}"))
    async with opened(path, [shelf.search], READS) as gate:
        assert code(await gate.call(search(), principal=ALICE)) == "ok"
        assert code(await gate.call(search_of("search_3"), principal=ALICE)) == "TOOL_NOT_FOUND"
        monkeypatch.undo()
        assert code(await gate.call(search_of("search_7"), principal=ALICE)) == "TOOL_RETIRED"


def search_of(name: str) -> ToolCall:
    return ToolCall("c", name, {"query": "x"})
