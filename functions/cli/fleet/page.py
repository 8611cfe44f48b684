"""The fleet as one page to send on: no script, nothing from any server, the looks of the report of one cluster.

Its figures are the table's. Names are text (`html_parts`). Must not put anything together: the view did.
"""

from importlib.metadata import version
from importlib.resources import files
from typing import Final

from functions.cli.fleet import sections
from functions.cli.fleet.html_parts import Html, element, together
from functions.cli.fleet.view import FleetView, whose_of
from functions.cli.format import count, moment
from functions.cli.plan import fleet
from functions.cli.plan.ladder_title import title
from functions.cli.report.frame import asset, filled, head

_DARK: Final = ':root[data-theme="dark"]'
"""Whose colours a page without a script takes where its reader prefers them."""


def page(view: FleetView) -> str:
    """Return the page."""
    shown, called = sections.of(view), _title(view)
    return filled(
        _own("fleet.html"),
        {
            "head": head(called, _style()),
            "title": together([called]),
            "kicker": together([_seen(view)]),
            "headline": together([view.headline]),
            "figures": together(sections.key_figures(view)),
            "contents": together(element("li", element("a", each.title, href=f"#{each.anchor}")) for each in shown),
            "sections": together(map(_section, shown)),
            "made_by": f"ebb {version('ebb')}",
        },
    )


def _section(section: sections.PageSection) -> Html:
    lead = (element("p", section.lead, class_="lead"),) if section.lead else ()
    return element("section", element("h2", section.title), *lead, *section.body, id=section.anchor)


def _title(view: FleetView) -> str:
    ladder, money = fleet.summed(view.views), fleet.money_of(view.views)
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
