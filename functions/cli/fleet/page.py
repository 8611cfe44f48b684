"""The fleet as one HTML page: no script, nothing from a server, the style of `ebb report`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from importlib.resources import files
from typing import Final

from functions.cli.fleet.installations import InstallationHealth
from functions.cli.fleet.view import (
    TITLES,
    FleetHold,
    FleetLine,
    FleetRow,
    FleetView,
    lines,
    states,
    titles,
    total,
    whose_of,
)
from functions.cli.output.format import count, moment, monthly, some
from functions.cli.output.visible import visible_lines
from functions.cli.plan import compute
from functions.cli.plan.ladder import title
from functions.cli.plan.sentences import HOLDING
from functions.cli.plan.table import HEADINGS
from functions.cli.report.page import asset, filled, head
from shared.core.reasons import PodBlock, Unremovable, named


class Html(str):
    """Markup that this module made."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class PageColumn:
    """One column of a table: its title, whether it holds figures, and what else its looks are known by."""

    title: str
    number: bool = False
    looks: str = ""

    @property
    def class_(self) -> str:
        return " ".join(part for part in ("number" if self.number else "", self.looks) if part)


def element(tag: str, *children: str, **given: str) -> Html:
    """Return an element; `class_` is its class. Children that are no elements are escaped."""
    names = {name.rstrip("_").replace("_", "-"): value for name, value in given.items() if value}
    attributes = "".join(f' {name}="{escape(visible_lines(value))}"' for name, value in names.items())
    return Html(f"<{tag}{attributes}>{together(children)}</{tag}>")


def together(children: Iterable[str]) -> Html:
    return Html("".join(each if isinstance(each, Html) else escape(visible_lines(each)) for each in children))


def table(label: str, columns: Sequence[PageColumn], rows: Iterable[Html], class_: str = "") -> Html:
    """Return a table that may be scrolled by itself, and by the keyboard."""
    heads = [element("th", each.title, scope="col", class_=each.class_) for each in columns]
    head, body = element("thead", element("tr", *heads)), element("tbody", *rows)
    whole = element("table", head, body, class_=class_)
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=label)


def row(columns: Sequence[PageColumn], cells: Sequence[str], class_: str = "") -> Html:
    """Return a row, whose first cell heads it."""
    pairs = zip(columns, cells, strict=True)
    made = [
        element("td" if place else "th", cell, scope="" if place else "row", class_=each.class_)
        for place, (each, cell) in enumerate(pairs)
    ]
    return element("tr", *made, class_=class_)


_CLUSTERS: Final = 6
_WORDS: Final = {
    "now": "now, a month",
    "alone": "the autoscaler alone, a month",
    "at rest": "at rest, a month",
    "bound": "bound, a month",
    "saved": "saved a month",
}
_HELD: Final = (
    PageColumn("holds a month", number=True, looks="money"), PageColumn("nodes", number=True, looks="nodes"),
    PageColumn("why, and what to do"),
)  # fmt: skip
_STATES: Final = (
    PageColumn("installation"), PageColumn("is"), PageColumn("last pass"), PageColumn("claims", number=True),
    PageColumn("left alone", number=True), PageColumn("breakers open", number=True),
    PageColumn("still saved a month", number=True),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageSection:
    """One section: its anchor, its title, one sentence and what stands below."""

    anchor: str
    title: str
    lead: str
    body: tuple[Html, ...]


def of(view: FleetView) -> tuple[PageSection, ...]:
    """Return the sections that have something to say."""
    return tuple(each for each in (_clusters(view), _blockers(view), _installations(view), _basis(view)) if each.body)


def key_figures(view: FleetView) -> Iterator[Html]:
    """Yield the figures on top."""
    ladder, money = compute.summed(view.views), compute.money_of(view.views)
    if ladder and money:
        saved = ladder.now.cost - ladder.at_rest.cost
        yield _figure("Now, a month", money.month(ladder.now), count(ladder.now.nodes, "node"))
        rest = f"{money.month(ladder.at_rest)} a month at rest"
        yield _figure("Saved in a year", money.saved_year(ladder.at_rest), rest, good=saved > 0)
    missing = f"{view.not_read:,} could not be read" if view.not_read else "all were read"
    yield _figure("Clusters", f"{len(view.rows):,}", missing)
    if view.installations:
        yield _figure("Installations", f"{len(view.installations):,}", states(view))


def _figure(label: str, value: str, note: str, *, good: bool = False) -> Html:
    shown = element("dd", value, class_="value good" if good else "value")
    return element("div", element("dt", label), shown, element("dd", note, class_="note"))


def _clusters(view: FleetView) -> PageSection:
    columns = [PageColumn(_WORDS.get(each, each), number=each in TITLES) for each in titles(view)]
    columns.insert(len(TITLES) + 1, PageColumn("the bill: what stays, what goes, the bound"))
    most = max((each.cost or 0 for each in view.rows), default=0)
    pairs = zip(lines(view, None), view.rows, strict=True)
    made = [each for line, told in pairs for each in _rows(columns, line, _bar(told, most))]
    if len(view.rows) > 1:
        made.append(row(columns, _with_bar(total(view), Html()), "sum"))
    lead = "Each cluster is planned by itself. What could not be read is a row, too, and is not in the sum."
    return PageSection("clusters", "Money by cluster", lead, (table("Money by cluster", columns, made, "clusters"),))


def _rows(columns: Sequence[PageColumn], line: FleetLine, bar: Html) -> Iterator[Html]:
    yield row(columns, _with_bar(line.cells, bar), "followed" if line.below else "")
    if line.below:
        said = together(element("div", each) for each in line.below)
        yield Html(f'<tr class="amiss"><td colspan="{len(columns)}">{said}</td></tr>')


def _with_bar(cells: Sequence[str], bar: Html) -> tuple[str, ...]:
    at = len(TITLES) + 1
    return (*cells[:at], bar, *cells[at:])


def _bar(told: FleetRow, most: int) -> Html:
    """Draw what stays of a cluster's bill, what is saved of it, and the bound as a line; the cells have the figures."""
    ladder = told.view.ladder.ladder if told.view and told.view.ladder else None
    if ladder is None or not most:
        return Html()
    amounts = (ladder.at_rest.cost, ladder.now.cost, ladder.bound.cost)
    stays, now, least = (round(1000 * each / most) for each in amounts)
    place = {"x1": str(least), "x2": str(least), "y1": "0", "y2": "20", "vector_effect": "non-scaling-stroke"}
    saves = _rectangle("saves", stays, now - stays) if now > stays else Html()
    parts = (_rectangle("remains", 0, min(stays, now)), saves, element("line", class_="least", **place))
    return element("svg", *parts, viewBox="0 0 1000 20", preserveAspectRatio="none", class_="bill", aria_hidden="true")


def _rectangle(class_: str, x: int, width: int) -> Html:
    return element("rect", x=str(x), y="2", width=str(width), height="16", class_=class_)


def _blockers(view: FleetView) -> PageSection:
    made = []
    for kind in HOLDING:
        own = [each for each in view.holds if each.entry.kind is kind]
        if own:
            made += [element("h3", HEADINGS[kind]), table(HEADINGS[kind], _HELD, map(_hold, own), "blockers")]
    lead = "Over all clusters, ordered by the money that it holds, with what can be done about it."
    return PageSection("blockers", "What keeps nodes", lead, tuple(made))


def _hold(hold: FleetHold) -> Html:
    entry, reason = hold.entry, named(hold.entry.word, Unremovable, PodBlock)
    cause = together((
        element("span", entry.sentence, " ", element("code", entry.word, class_="quiet"), class_="sentence"),
        element("span", reason.remedy if reason else "", class_="remedy"),
        element("span", some(hold.clusters_in_words, _CLUSTERS), class_="about"),
    ))  # fmt: skip
    cells = (monthly(entry.cost), f"{entry.nodes:,}", cause)
    pairs = zip(_HELD, cells, strict=True)
    return element("tr", *(element("td", cell, class_=each.class_) for each, cell in pairs))


def _installations(view: FleetView) -> PageSection:
    rows = [_installation(each.title, each.installation) for each in view.rows if each.installation]
    made = (table("Installations", _STATES, rows),) if rows else ()
    lead = "What state and policy of each say. What is amiss stands with the clusters."
    return PageSection("installations", "Installations", lead, made)


def _installation(title: str, health: InstallationHealth) -> Html:
    status = health.status
    last = moment(status.last_pass) if status.last_pass else "never"
    numbers = (len(status.claims), len(status.backoffs), len(status.breakers))
    return row(_STATES, (title, health.in_words, last, *(f"{each:,}" for each in numbers), monthly(health.saved)))


def _basis(view: FleetView) -> PageSection:
    notes = element("ul", *(element("li", each) for each in view.notes), class_="notes")
    return PageSection("basis", "What the figures rest on", "", (notes,) if view.notes else ())


_DARK: Final = ':root[data-theme="dark"]'
"""Whose colours a page without a script takes where its reader prefers them."""


def page(view: FleetView) -> str:
    """Return the page."""
    shown, called = of(view), _title(view)
    return filled(
        _own("fleet.html"),
        {
            "head": head(called, _style()),
            "title": together([called]),
            "kicker": together([_seen(view)]),
            "headline": together([view.headline]),
            "figures": together(key_figures(view)),
            "contents": together(element("li", element("a", each.title, href=f"#{each.anchor}")) for each in shown),
            "sections": together(map(_section, shown)),
            "made_by": f"ebb {version('ebb')}",
        },
    )


def _section(section: PageSection) -> Html:
    lead = (element("p", section.lead, class_="lead"),) if section.lead else ()
    return element("section", element("h2", section.title), *lead, *section.body, id=section.anchor)


def _title(view: FleetView) -> str:
    ladder, money = compute.summed(view.views), compute.money_of(view.views)
    every = count(len(view.rows), "cluster")
    if ladder is None or money is None:
        return every
    clusters = every if len(view.views) == len(view.rows) else f"{len(view.views):,} of {every}"
    return title(ladder, money, whose_of(view.rows), clusters)


def _seen(view: FleetView) -> str:
    times = sorted(each.taken_at for each in view.views)
    if not times:
        return "The state of installations"
    first, last = moment(times[0]), moment(times[-1])
    return f"As they were on {first}" if first == last else f"As they were between {first} and {last}"


def _style() -> str:
    """Return the report's style and ours; its dark colours for who prefers them, for no script chooses here."""
    looks = asset("report.css")
    dark = looks.partition(f"{_DARK} {{")[2].partition("}")[0]
    return f"{looks}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}}} }}\n{_own('fleet.css')}"


def _own(name: str) -> str:
    return (files("functions.cli.fleet.assets") / name).read_text(encoding="utf-8")
