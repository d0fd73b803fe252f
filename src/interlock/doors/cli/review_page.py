"""A review as one HTML page that needs nothing else: no script, no font, no picture, nothing from anywhere.

Whatever a tool is called or says is hostile: every text is made visible and escaped where it enters an element
(`element`), and there is no other way into the page. Its own policy forbids it to load anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from interlock.core.review import Review
from interlock.core.review_counts import Counts
from interlock.core.review_likeness import Likeness
from interlock.core.review_proposals import Kind, Proposal
from interlock.core.review_tool import ToolReview
from interlock.doors.cli.review_style import STYLE
from interlock.doors.cli.review_words import Language, Words, words_in
from interlock.doors.cli.shown import moment, visible

TOOLS_MAX: Final = 300
"""How many tools the page shows, those that were called most first; the document has all."""

_VOID: Final = frozenset({"meta", "col"})
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Html(str):
    """Markup that `element` made: the only text that is not escaped."""

    __slots__ = ()


def element(tag: str, /, *children: object, **attributes: object) -> Html:
    """An element. `class_` is the attribute `class`; what is None is left out; children that are no `Html` are text."""
    given = (f' {key.rstrip("_")}="{escape(str(value))}"' for key, value in attributes.items() if value is not None)
    opening = f"<{tag}{''.join(given)}>"
    return Html(opening if tag in _VOID else f"{opening}{''.join(map(_child, children))}</{tag}>")


def page(review: Review, language: Language = Language.EN) -> str:
    """The whole page."""
    words = words_in(language)
    title = f"{words['title']}: {visible(review.tenant)}"
    head = (
        element("meta", charset="utf-8"),
        element("meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY}),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(STYLE)),
    )
    body = element(
        "main",
        _top(review, words),
        _figures(review, words),
        _section(words["proposed"], _proposals(review.proposals, words), note=words["never_acts"]),
        _section(words["tools"], _legend(words), _tools(review.tools, words)),
        _section(words["gaps"], *_gaps(review, words)),
        _section(words["alike"], _alike(review.alike, words)),
        element("footer", words["how_read"]),
    )
    return f"<!doctype html>\n{element('html', element('head', *head), element('body', body), lang=language.value)}\n"


def _child(child: object) -> str:
    if isinstance(child, Html):
        return child
    if isinstance(child, list | tuple):
        return "".join(map(_child, child))
    return escape(visible(child))


def _section(title: str, *children: object, note: str = "") -> Html:
    return element("section", element("h2", title), element("p", note, class_="note") if note else (), *children)


def _top(review: Review, words: Words) -> Html:
    span = f"{words['covers']} {moment(review.first_us) or '-'} {words['until']} {moment(review.last_us) or '-'}"
    read = f"{words['records']}: {_number(review.records)}"
    if review.unread:
        read += f" ({words['unread']}: {_number(review.unread)})"
    runs = f"{words['runs']}: {_number(review.runs)} ({words['followed']}: {_number(review.runs_followed)})"
    made = f"{words['made']} {moment(review.at_us)}"
    return element(
        "header",
        element("h1", words["title"], " ", element("span", review.tenant, class_="tenant")),
        element("p", " · ".join((made, span, read, runs)), class_="note"),
    )


def _figures(review: Review, words: Words) -> Html:
    counts, whole = review.whole.counts, review.whole
    cost = counts.cost_micros + review.model_cost_micros
    shown = [
        ("proposals", _number(counts.proposals)),
        ("well", _share(counts.succeeded + counts.partial, counts.ended)),
        ("refused", _number(counts.refused)),
        ("denied", _number(whole.denials)),
        ("asked", _number(counts.asked)),
        ("open", _number(sum(each.open_unknown for each in review.tools))),
        ("stopped", _number(sum(review.people.values()))),
        ("cost", _cost(cost)),
        ("tokens", _number(counts.tokens + review.model_tokens)),
    ]
    return element("dl", [_figure(words[name], value) for name, value in shown], class_="figures")


def _figure(name: str, value: str) -> Html:
    return element("div", element("dt", name), element("dd", value))


def _proposals(proposals: Sequence[Proposal], words: Words) -> Html:
    if not proposals:
        return element("p", words["nothing_proposed"], class_="none")
    kinds = dict.fromkeys(each.kind for each in proposals)
    by_kind = ((kind, [each for each in proposals if each.kind is kind]) for kind in kinds)
    return element("ul", [_of_kind(kind, found, words) for kind, found in by_kind], class_="proposals")


def _of_kind(kind: Kind, proposals: Iterable[Proposal], words: Words) -> Html:
    told = [
        element("li", element("strong", each.tool), " ", each.reason, element("code", each.command))
        for each in proposals
    ]
    return element(
        "li",
        element("span", words[kind.value], class_=f"kind {kind.value}"),
        element("div", element("ul", told)),
    )


def _legend(words: Words) -> Html:
    return element("p", [element("span", words[name], class_=f"key {name}") for name in _PARTS], class_="legend")


_CLASSES: Final = {1: "plain", 2: "number", 4: "number", 5: "plain"}
_PARTS: Final = ("well", "again", "asked", "refused", "failed", "lost")


def _parts(counts: Counts) -> Mapping[str, int]:
    """What became of the proposals of a tool, in the order of the bar."""
    return {
        "well": counts.succeeded + counts.partial,
        "again": counts.replayed + counts.cached,
        "asked": counts.asked,
        "refused": counts.refused,
        "failed": counts.failed + counts.let_go,
        "lost": counts.lost,
    }


def _bar(counts: Counts, words: Words) -> Html:
    parts = _parts(counts)
    whole = sum(parts.values())
    told = ", ".join(f"{words[name]} {_number(count)}" for name, count in parts.items() if count)
    pieces = [
        element("i", class_=name, style=f"width:{100 * count / whole:.2f}%") for name, count in parts.items() if count
    ]
    return element("span", pieces, class_="bar", role="img", title=told, **{"aria-label": told or "0"})


def _tools(tools: Sequence[ToolReview], words: Words) -> Html:
    called = sorted(tools, key=lambda each: (-each.numbers.counts.proposals, each.name))
    header = [words[each] for each in ("tool", "state", "calls", "how", "took", "last", "owner", "lacks")]
    rows = (row for each in called[:TOOLS_MAX] for row in _tool(each, words))
    heads = [element("th", each, class_=_CLASSES.get(index)) for index, each in enumerate(header)]
    table = element("table", element("thead", element("tr", heads)), element("tbody", list(rows)), class_="tools")
    left = len(called) - TOOLS_MAX
    more = element("p", f"{left} {words['more']}", class_="note") if left > 0 else ()
    return element("div", element("div", table, class_="wide"), more)


def _tool(tool: ToolReview, words: Words) -> Iterator[Html]:
    """Two rows: the numbers, and beneath them what else is known."""
    numbers = tool.numbers
    took = "" if tool.p50_ms is None else f"{_number(tool.p50_ms)} / {_number(tool.p95_ms or 0)} ms"
    lacks = ", ".join(words[f"gap_{each.value}"] for each in tool.gaps)
    cells: tuple[object, ...] = (
        (element("strong", tool.name), " ", element("small", tool.version)),
        "" if tool.state is None else tool.state.value,
        _number(numbers.counts.proposals),
        _bar(numbers.counts, words),
        took,
        (moment(numbers.last_used_us) or words["never"])[:10],
        tool.owner or element("em", words["unowned"]),
        element("em", lacks) if lacks else "",
    )
    yield element("tr", [element("td", each, class_=_CLASSES.get(index)) for index, each in enumerate(cells)])
    details = element("dl", [_figure(name, value) for name, value in _details(tool, words)], class_="details")
    more = element("details", element("summary", words["details"]), details)
    yield element("tr", element("td", more, colspan=len(cells)), class_="more")


def _details(tool: ToolReview, words: Words) -> Iterator[tuple[str, str]]:
    """What is known of a tool beside its row, as far as there is anything."""
    numbers, counts, signs = tool.numbers, tool.numbers.counts, tool.signs
    approvals = (counts.granted, counts.declined, counts.expired, counts.edited)
    missing = (
        counts.without_agent,
        counts.without_model,
        counts.without_trace,
        counts.without_task,
        counts.without_evidence,
    )
    versions = " · ".join(
        f"{each.version} ({' '.join(filter(None, (each.state and each.state.value, each.verdict)))}): "
        f"{_number(each.numbers.counts.proposals)}"
        for each in tool.versions
    )
    found: dict[str, object] = {
        words["versions"]: versions,
        words["refusals"]: _by(numbers.refusals),
        words["failures"]: _by(numbers.failures),
        words["effects"]: _by(numbers.effects),
        words["approvals"]: " / ".join(map(_number, approvals)) if any(approvals) else "",
        words["deciding"]: "" if tool.decided_p50_s is None else f"{tool.decided_p50_s} / {tool.decided_p95_s} s",
        words["closed"]: f"{counts.closed_by_tool} / {counts.closed_by_person}" if counts.lost else "",
        words["open"]: tool.open_unknown or "",
        words["undone"]: f"{counts.compensated} / {counts.not_compensated}" if counts.compensated else "",
        words["arguments"]: numbers.arguments_refused or "",
        words["repaired"]: f"{signs.repaired} / {signs.misspelt}" if signs.misspelt else "",
        words["exchanged"]: signs.exchanged or "",
        words["turned_away"]: signs.turned_away or "",
        words["stopped"]: signs.stopped or "",
        words["retries"]: counts.retries or "",
        words["timeouts"]: numbers.timeouts or "",
        words["empty"]: counts.empty or "",
        words["cost"]: _cost(counts.cost_micros) if counts.cost_micros else "",
        words["tokens"]: _number(counts.tokens) if counts.tokens else "",
        words["missing"]: " / ".join(map(_number, missing)) if any(missing) else "",
        words["unmeasured"]: counts.unmeasured or "",
        words["changes"]: tool.changes["breaking"] or "",
    }
    return ((name, str(value)) for name, value in found.items() if value != "")


def _gaps(review: Review, words: Words) -> Iterator[Html]:
    gaps = review.coverage
    times, last, near = words["times"], words["seen"], words["near"]
    invented = [
        (each.text, _number(each.times), moment(each.last_us), ", ".join(each.nearest)) for each in gaps.invented
    ]
    unfound = [(each.text, _number(each.times), moment(each.last_us)) for each in gaps.unfound]
    ways = [(" → ".join(each.tools), *map(_number, (each.times, each.runs, each.again))) for each in gaps.detours]
    denied = [(name, _number(count)) for name, count in gaps.denied_again.items()]
    tables = (
        _titled(words["invented"], (words["tool"], times, last, near), invented),
        _titled(words["unfound"], (words["unfound"], times, last), unfound),
        _titled(
            words["detours"], (words["tools"], times, words["runs_with"], words["within"]), ways, numeric=(1, 2, 3)
        ),
        _titled(words["denied_again"], (words["tool"], words["runs_with"]), denied),
    )
    found = [each for each in tables if each is not None]
    yield from found or [element("p", words["no_gaps"], class_="none")]


def _titled(
    title: str, header: Sequence[str], values: Sequence[Sequence[object]], *, numeric: tuple[int, ...] = (1,)
) -> Html | None:
    return element("div", element("h3", title), _table(header, values, numeric=numeric)) if values else None


def _alike(pairs: Sequence[Likeness], words: Words) -> Html:
    if not pairs:
        return element("p", words["none_alike"], class_="none")
    return element("ul", [_pair(each, words) for each in pairs], class_="pairs")


def _pair(pair: Likeness, words: Words) -> Html:
    bars = [
        element("span", words[name], " ", element("meter", value=share, min=0, max=100), f" {share}%")
        for name, share in pair.fields.items()
    ]
    says = [words[pair.instead], "" if pair.same_effect else words["effects_differ"]]
    shared = f"{words['share']}: {', '.join(pair.shared)}"
    return element(
        "li",
        element("strong", pair.one), " · ", element("strong", pair.other), f" {pair.percent}%",
        element("p", bars, class_="bars"),
        element("p", " ".join(filter(None, says))),
        element("p", shared, class_="note"),
    )  # fmt: skip


def _table(header: Sequence[str], values: Iterable[Sequence[object]], *, numeric: tuple[int, ...]) -> Html:
    def cell(name: str, index: int, value: object) -> Html:
        return element(name, value, class_="number" if index in numeric else None)

    heads = element("tr", [cell("th", index, each) for index, each in enumerate(header)])
    rows = [element("tr", [cell("td", index, each) for index, each in enumerate(row)]) for row in values]
    return element("div", element("table", element("thead", heads), element("tbody", rows)), class_="wide")


def _by(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name or '-'} {_number(count)}" for name, count in counts.items())


def _number(value: int) -> str:
    return f"{value:,}"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _cost(micros: int) -> str:
    return f"{micros / 1_000_000:,.2f}"
