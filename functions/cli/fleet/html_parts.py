"""Elements of HTML, in which whatever is not an element already is text: no name can become markup.

Must not know what is shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from functions.cli.visible import visible_lines


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
