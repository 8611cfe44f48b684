"""The report's page: one HTML file with its data inside; the script draws what can be chosen, searched and opened."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from functions.cli.output import html
from functions.cli.output.html import Frame, Html, Section, asset, element, figure
from functions.cli.output.tables import BOLD, DIM, Column, Table
from functions.cli.output.visible import visible_values
from functions.cli.report import drawings
from functions.cli.report.drawings import JsonRow

ASSETS: Final = "functions.cli.report.assets"
SCRIPTS: Final = ("elements.js", "data.js", "cluster.js", "details.js", "look_up.js", "page.js")
"""In the order in which they stand in the page."""
_WARNING: Final = "warning: "
_FIRST: Final = 15
_NONE: Final = "-"
_BODY: Final = element("div", class_="body")


def page(document: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    document = visible_values(dict(document))
    report: JsonRow = document["report"]
    kicker = html.together((element("b", document["cluster"] or "A cluster"), f", as it was on {report['seen_at']}"))
    frame = Frame(
        title=report["title"],
        kicker=kicker,
        headline=report["headline"],
        figures=tuple(figure(**each) for each in report["figures"]),
        made=f"Made by {report['made_by']} from a snapshot of {report['seen_at']}.",
        name=f"{report['title']} - {document['cluster'] or 'cluster'}",
        warnings=tuple(each for each in report["notes"] if each.startswith(_WARNING)),
        script=_script(),
        after=html.together((
            element("dialog", id="details", aria_labelledby="details-title"),
            element("script", Html(harmless(document)), type="application/json", id="data"),
        )),
    )  # fmt: skip
    return html.page(frame, _sections(document, report))


def harmless(document: Mapping[str, Any]) -> str:
    """Return JSON that no name can end: without `<`, `>` and `&`, and without what JavaScript takes for a new line."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _script() -> str:
    """Return the parts in one function of their own, strict, and after the page is there."""
    body = "\n".join(asset(name, ASSETS) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'


def _sections(document: JsonRow, report: JsonRow) -> list[Section]:
    no_script = element("noscript", element("p", "The bars and the look-up need JavaScript.", class_="warning"))
    extras = [
        Section(f"extra-{number}", each["title"], "", _extra(each)) for number, each in enumerate(report["extras"])
    ]
    return [
        Section("scenarios", "What Ebb saves", SCENARIOS, tuple(_scenarios(report))),
        Section("cluster", "The cluster before and after", CLUSTER, (no_script, _BODY, _zones(report))),
        Section("fill", "How full the nodes are", FILL, tuple(_fill(report))),
        Section("blockers", "What keeps nodes", BLOCKERS, tuple(_blockers(report))),
        Section("calendar", "When nodes may go", "", tuple(_calendar(report["calendar"]))),
        Section("order", "The order of the plan", ORDER, (_order(document["nodes"], report),)),
        *extras,
        Section("look-up", "Look up a node or a workload", "", (_BODY,)),
        Section("basis", "What the figures rest on", "", (_notes(report["notes"]),)),
        Section("glossary", "Glossary", "", (_words(report["glossary"]),)),
    ]


SCENARIOS: Final = (
    "Your bill now, with the autoscaler alone, and with Ebb; then what relaxing one constraint would add. No plan can "
    "go below the thin grey line."
)
CLUSTER: Final = (
    "Each bar is a node, filled with what its pods reserve, by workload. A dashed or empty place is a node that is "
    "gone. Choose a bar to see its pods; arrow keys go from bar to bar."
)
FILL: Final = "Nodes by how much of each is reserved. Fewer nodes that are fuller do the same work."
BLOCKERS: Final = (
    "Ordered by the cost of the nodes that each reason is on, with what to do. Several reasons may keep one node: "
    "ebb why-not shows what relaxing one would save."
)
ORDER: Final = (
    "The nodes one after another, until no more can go. Times are estimates: Ebb judges each node again when its drain "
    "begins."
)

_STEPS: Final = (
    Column("", wraps=True), Column("nodes", right=True), Column("a month", right=True), Column("a year", right=True),
    Column("change a month", right=True), Column("evictions a node", right=True),
)  # fmt: skip
_BILLED: Final = (
    *_STEPS[:2], *(Column(title, right=True) for title in ("list a month", "bill a month", "bill a year")), *_STEPS[4:],
)  # fmt: skip
_POOLS: Final = (Column("pool"), *(Column(each, right=True) for each in ("nodes", "CPU", "memory", "a month")))
_GOING: Final = (Column("nodes that go", right=True), Column("saved a month", right=True))


def _scenarios(report: JsonRow) -> Iterator[Html]:
    steps = report["ladder"]
    if steps:
        if report["has_money"]:
            yield drawings.waterfall(steps)
        yield html.table(_priced(_scenario_table(report), report), "The scenarios in figures", "scenarios")
    yield from (element("p", sentence, class_="quiet") for sentence in report["sentences"])
    yield element("h3", "By node pool")
    pools, rest = report["pools"], report["has_rest"]
    cells = (
        (each["name"] or "(none)", f"{each['nodes']:,}", each["cpu"], each["memory"], each["month"],
         *((f"{each['goes']:,}", each["saved"]) if each["goes"] else (_NONE, _NONE) if rest else ()))
        for each in pools
    )  # fmt: skip
    whole = Table.of((*_POOLS, *(_GOING if rest else ())), cells, styles=_sums(pools))
    yield html.table(_priced(whole, report), "The node pools", "pools")


def _scenario_table(report: JsonRow) -> Table:
    """Return a row for each scenario, with two columns of a month where capacity is committed."""
    steps, added = report["ladder"], {**report["added"], "saved": report["added"]["month"]}
    billed = added["list"] is not None
    keys = ("title", "nodes", *(("list",) if billed else ()), "month", "year", "saved", "evictions")
    styles = (BOLD, *(DIM if each["relaxed"] else "" for each in steps))
    rows = ([each[key] for key in keys] for each in (added, *steps))
    return Table.of(_BILLED if billed else _STEPS, rows, styles=styles)


_OF_MONEY: Final = ("a month", "a year", "change a month", "saved a month", "holds a month", "saves a month")


def _priced(table: Table, report: JsonRow) -> Table:
    """Return the table without its columns of money if the machines have no price."""
    return table if report["has_money"] else table.without(_OF_MONEY)


def _sums(rows: Sequence[JsonRow]) -> tuple[str, ...]:
    return tuple(BOLD if each["sum"] else "" for each in rows)


def _folded(table: Table, label: str, class_: str) -> Html:
    summary = element("summary", "The figures as a table")
    return element("details", summary, html.table(table, label, class_), class_="figures-of")


_OFFERED: Final = {"nodes": "nodes", "cpu": "CPU", "memory": "memory"}


def _zones(report: JsonRow) -> Html:
    titles = {name: f"{title} before" for name, title in _OFFERED.items()}
    if report["has_rest"]:
        titles |= {f"{name}_at_rest": f"{title} after" for name, title in _OFFERED.items()}
    columns = (Column("pool"), Column("zone"), *(Column(title, right=True) for title in titles.values()))
    rows = [
        (each["pool"] or "(none)", each["zone"] or _NONE, *(str(each[key]) for key in titles))
        for each in report["zones"]
    ]
    return _folded(Table.of(columns, rows), "Pools and zones before and after", "zones-table")


def _fill(report: JsonRow) -> Iterator[Html]:
    shown = {"now": "now", **({"at_rest": "in steady state"} if report["has_rest"] else {})}
    most = max(each[key] for section in report["fill"] for each in section["bins"] for key in shown)
    yield drawings.key((f"swatch {key}", title) for key, title in shown.items())
    columns = (Column("reserved"), *(Column(f"nodes {title}", right=True) for title in shown.values()))
    made = []
    for section in report["fill"]:
        label = f"Nodes by reserved {section['resource']}"
        table = Table.of(columns, ((each["share"], *(str(each[key]) for key in shown)) for each in section["bins"]))
        caption, picture = element("figcaption", label), drawings.histogram(section["bins"], shown, most, label)
        made.append(element("figure", caption, picture, _folded(table, label, "tenths")))
    yield element("div", *made, class_="pair")


_HELD: Final = (
    Column("holds a month", right=True), Column("nodes", right=True), Column("why, and what to do", wraps=True),
    Column("reason", below=True, code=True), Column("remedy", below=True), Column("about", below=True),
)  # fmt: skip


def _blockers(report: JsonRow) -> Iterator[Html]:
    for each in report["blockers"]:
        yield element("h3", each["title"])
        yield html.table(_priced(blocker_table(each["rows"]), report), each["title"], "blockers")
    if not report["blockers"]:
        yield element("p", "Nothing keeps a node.")


def blocker_table(rows: Sequence[JsonRow]) -> Table:
    """Return what keeps nodes, with what can be done about it; a line shows how much of the most each holds."""
    most = max(1, *(each["cost"] for each in rows))
    cells = (
        (html.together((each["month"], drawings.weight(each["cost"], most))), f"{each['nodes']:,}", each["sentence"],
         each["reason"], each["remedy"], each["about"])
        for each in rows
    )  # fmt: skip
    return Table.of(_HELD, cells)


def _calendar(section: JsonRow) -> Iterator[Html]:
    hours = "" if all(each["always"] for each in section["pools"]) else f", by the hour in {section['time_zone']}"
    yield element("p", f"How many nodes may be in disruption at once{hours}.", class_="lead")
    yield from (element("p", note) for note in section["notes"])
    for each in section["pools"]:
        yield from _always(each) if each["always"] else _week(each)
    if section["off"]:
        yield element("p", f"Pools that are not enabled, where Ebb drains nothing: {', '.join(section['off'])}.")
    if not section["pools"]:
        yield element("p", "No pool is enabled.")


def _always(pools: JsonRow) -> Iterator[Html]:
    (limit,) = pools["legend"]
    names = element("b", ", ".join(pools["names"]))
    yield element("p", names, f": {limit['nodes']} at any hour ({limit['why']}).")


def _week(pools: JsonRow) -> Iterator[Html]:
    name = f"{'Pool' if len(pools['names']) == 1 else 'Pools'} {', '.join(pools['names'])}"
    hours = (element("th", f"{hour:02}", scope="col", colspan="2") for hour in range(0, 24, 2))
    ruler = element("tr", element("th", "hour", scope="col", class_="day quiet"), *hours)
    days = (
        element("tr", element("th", day["day"], scope="row", class_="day"), *map(_run, day["runs"]))
        for day in pools["days"]
    )
    columns = element("colgroup", Html('<col class="day"><col span="24">'))
    table = element("table", columns, element("thead", ruler), element("tbody", *days), class_="week")
    legend = (
        html.together((element("dt", each["letter"]), element("dd", each["nodes"]), element("dd", each["why"])))
        for each in pools["legend"]
    )
    yield element("h3", name)
    yield element("div", table, class_="scroll", tabindex="0", role="region", aria_label=name)
    yield element("dl", *legend, class_="key")


def _run(run: JsonRow) -> Html:
    """Return equal hours as one cell; hours that the clock skips have no letter."""
    text = f"{run['nodes']} {run['letter']}" if run["hours"] > 1 and run["letter"] else run["letter"]
    looks = "none" if run["none"] else "" if run["letter"] else "skipped"
    return element("td", f"{text}{'*' if run['changes'] else ''}", colspan=str(run["hours"]), class_=looks)


_ORDER: Final = (
    Column("", right=True), Column("node", wraps=True), Column("pool", wraps=True), Column("zone"), Column("begins"),
    Column("by"), Column("pods moved", right=True), Column("saves a month", right=True),
)  # fmt: skip


def _order(nodes: Sequence[JsonRow], report: JsonRow) -> Html:
    known = _objects(report["nodes"])
    rows = [
        (f"{place:,}", _node(each["node"], nodes), nodes[each["node"]]["pool"] or _NONE,
         known[each["node"]]["zone"] or _NONE, each["begins"], each["by"], f"{each['moves']:,}", each["month"])
        for place, each in enumerate(_objects(report["order"]), start=1)
    ]  # fmt: skip
    if not rows:
        return element("p", "No node goes." if report["has_rest"] else "Which nodes go is not known.")
    first = html.table(_priced(Table.of(_ORDER, rows[:_FIRST]), report), "The order of the plan", "order")
    if len(rows) <= _FIRST:
        return first
    left = _priced(Table.of(_ORDER, rows[_FIRST:]), report)
    rest = html.table(left, "The order of the plan, continued", "order-rest")
    more = element("summary", f"Show all {len(rows):,}")
    return html.together((first, element("details", more, rest, class_="figures-of")))


def _objects(table: JsonRow) -> list[dict[str, Any]]:
    return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]


def _node(place: int, nodes: Sequence[JsonRow]) -> Html:
    return element("button", nodes[place]["name"], type="button", class_="name", data_node=str(place))


def _extra(section: JsonRow) -> tuple[Html, ...]:
    """Return the sentences of a section, its plot and its table."""
    columns = (Column(title, right=number > 0, wraps=True) for number, title in enumerate(section["table"]["columns"]))
    table = html.table(Table.of(tuple(columns), section["table"]["rows"]), section["title"])
    plot = drawings.plot(section["plot"], section["title"]) if section["plot"] else ()
    return (*(element("p", text, class_="lead") for text in section["sentences"]), *plot, table)


def _notes(notes: Sequence[str]) -> Html:
    rows = (element("li", note, class_="warning" if note.startswith(_WARNING) else "") for note in notes)
    return element("ul", *rows, class_="notes")


def _words(glossary: Sequence[JsonRow]) -> Html:
    rows = (html.together((element("dt", each["word"]), element("dd", each["meaning"]))) for each in glossary)
    return element("dl", *rows, class_="words")
