"""HTML of pages to send on: elements, tables and the frame of a page. All text is escaped here, and only here."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from importlib.resources import files
from itertools import takewhile
from typing import Final

from functions.cli.output.tables import BOLD, DIM, Column, Table
from functions.cli.output.visible import visible


class Html(str):
    """Markup that this module made."""

    __slots__ = ()


def element(tag: str, *children: str, **given: str) -> Html:
    """Return an element; `class_` is its class. Children that are no elements are escaped."""
    names = {name.rstrip("_").replace("_", "-"): value for name, value in given.items() if value}
    attributes = "".join(f' {name}="{escape(visible(value))}"' for name, value in names.items())
    return Html(f"<{tag}{attributes}>{together(children)}</{tag}>")


def together(children: Iterable[str]) -> Html:
    return Html("".join(each if isinstance(each, Html) else escape(visible(each)) for each in children))


_FRAMED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}"
_DARK: Final = ':root[data-theme="dark"]'
"""Whose colours a page without a script takes where its reader prefers them."""


def asset(name: str, package: str = "functions.cli.output.assets") -> str:
    """Return one of a package's own files."""
    return (files(package) / name).read_text(encoding="utf-8")


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return the template with each `{{name}}` replaced, once, so that no part is looked into for another's name."""
    pieces = template.split("{{")
    found = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        found += [parts[name], rest]
    return "".join(found)


@dataclass(frozen=True, slots=True)
class Section:
    """One section: its anchor, its title, one sentence and what stands below."""

    anchor: str
    title: str
    lead: str
    body: tuple[Html, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the sections: the one sentence to keep, figures, and how the page came about."""

    title: str
    kicker: Html
    headline: str
    figures: tuple[Html, ...]
    made: str
    name: str = ""
    """The title of the browser's tab; else that of the page."""
    warnings: tuple[str, ...] = ()
    script: str = ""
    after: str = ""
    """What the script needs behind the sections."""


def page(frame: Frame, sections: Sequence[Section]) -> str:
    """Return one file with its own style, which loads nothing from any server."""
    style = asset("page.css")
    if not frame.script:  # no button chooses the colours
        dark = style.partition(f"{_DARK} {{")[2].partition("}")[0]
        style = f"{style}\n@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}}} }}\n"
    policy = _FRAMED.format(style=_digest(style)) + (f"; script-src {_digest(frame.script)}" if frame.script else "")
    warnings = element("div", *(element("p", each, class_="warning") for each in frame.warnings), class_="warnings")
    return filled(
        asset("page.html"),
        {
            "policy": escape(policy),
            "name": escape(visible(frame.name or frame.title)),
            "style": style,
            "title": together([frame.title]),
            "kicker": frame.kicker,
            "theme": element("button", "Dark", type="button", id="theme", class_="plain") if frame.script else "",
            "headline": together([frame.headline]),
            "warnings": warnings if frame.warnings else "",
            "figures": element("dl", *frame.figures, class_="figures", id="figures") if frame.figures else "",
            "contents": together(element("li", element("a", each.title, href=f"#{each.anchor}")) for each in sections),
            "sections": together(map(_section, sections)),
            "made": together([f"{frame.made} This page is one file and loads nothing from any server."]),
            "after": frame.after,
            "script": element("script", Html(frame.script)) if frame.script else "",
        },
    )


def made_by() -> str:
    return f"Made by ebb {version('ebb')}"


def _digest(text: str) -> str:
    """Return the word by which a security policy allows a piece of the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _section(section: Section) -> Html:
    lead = (element("p", section.lead, class_="lead"),) if section.lead else ()
    return element("section", element("h2", section.title), *lead, *section.body, id=section.anchor)


def figure(label: str, value: str, note: str, *, good: bool = False) -> Html:
    """Return one of the figures on top: its label, its value and what that rests on."""
    shown = element("dd", value, class_="value good" if good else "value")
    return element("div", element("dt", label), shown, element("dd", note, class_="note"))


def table(table: Table, label: str, class_: str = "") -> Html:
    """Return a table that is scrolled by itself, and by the keyboard; a narrow window shows each row as a list.

    Cells of columns `below` stand in the cell before, as on a terminal.
    """
    above = [each for each in table.columns if not each.below]
    heads = [element("th", each.title, scope="col", class_=_looks(each)) for each in above]
    rows = [made for number, cells in enumerate(table.rows) for made in _rows(table, number, cells)]
    whole = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_=class_)
    return element("div", whole, class_="scroll", tabindex="0", role="region", aria_label=label)


def _rows(table: Table, number: int, cells: Sequence[str]) -> Iterator[Html]:
    """Yield a row, whose first cell in words heads it, and one for the sentences below it."""
    pairs, below = list(zip(table.columns, cells, strict=True)), table.below.get(number, ())
    head = next((at for at, (each, _) in enumerate(pairs) if not each.right), 0)
    made: list[Html] = []
    for at, (column, cell) in enumerate(pairs):
        if not column.below:
            more = _below(pairs[at + 1 :])
            tag, scope = ("th", "row") if at == head else ("td", "")
            made.append(element(tag, cell, *more, scope=scope, data_label=column.title, class_=_looks(column)))
    styles = {BOLD: "sum", DIM: "relaxed"}
    style = styles.get(table.styles[number], "") if table.styles else ""
    yield element("tr", *made, class_=" ".join(filter(None, (style, "followed" if below else ""))))
    if below:
        sentences = (element("div", each) for each in below)
        yield element("tr", element("td", *sentences, colspan=str(len(made))), class_="wrong")


def _below(pairs: Iterable[tuple[Column, str]]) -> Iterator[Html]:
    for column, cell in takewhile(lambda pair: pair[0].below, pairs):
        if cell:
            yield together([" "])
            yield element("span", element("code", cell) if column.code else cell, class_=f"below {_slug(column)}")


def _looks(column: Column) -> str:
    """Return the classes of a column's cells: what they hold, and what they are called."""
    kind = "number" if column.right else "" if column.wraps else "short"
    return " ".join(filter(None, (kind, _slug(column))))


def _slug(column: Column) -> str:
    return "-".join(re.findall(r"[a-z]+", column.title.lower()))
