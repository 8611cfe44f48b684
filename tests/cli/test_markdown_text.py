"""No name is markup: judged by a markdown parser that is not ours."""

import re
from html.parser import HTMLParser
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from functions.cli.output.tables import Column, Table, as_markdown
from functions.cli.output.visible import code, details, text


class Page(HTMLParser):
    """Markdown as a parser reads it: its tags in order, the words of each cell, and how many cells each row has."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[list[str]] = []
        self._in_cell = False
        self.feed(MarkdownIt("commonmark").enable("table").render(markdown))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self._in_cell = True
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data

    def row(self, first: str) -> list[str]:
        return next(each for each in self.rows if each[0] == first)


HOSTILE: Final = (
    pytest.param("a|b", id="the end of a cell"),
    pytest.param("<img src=x onerror=alert(1)>", id="a tag"),
    pytest.param("</code></details><script>", id="the end of what it stands in"),
    pytest.param("[click](https://example.com)", id="a link"),
    pytest.param("![x](https://example.com/x.png)", id="a snapshot"),
    pytest.param("`x` ``y", id="a code span"),
    pytest.param("**x** _y_ ~~z~~", id="emphasis"),
    pytest.param("a\\|b\\", id="backslashes"),
    pytest.param("&lt;b&gt;", id="entities"),
    pytest.param("@octocat #1", id="a mention"),
)
JOINER: Final = "\u2060"
BIDI: Final = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
WORDS: Final = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"], exclude_characters=BIDI), min_size=1
)


def table(*cells: tuple[str, str]) -> Page:
    return Page(as_markdown(Table.of((Column("name", code=True), Column("words")), cells)))


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_stands_in_its_cell_as_it_is(name: str) -> None:
    page = table((name, name))
    heads, (coded, written) = page.rows
    assert (heads, coded, written.replace(JOINER, "")) == (["name", "words"], name, name)
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td", "code"}


@given(name=WORDS)
def test_any_name_is_one_cell_of_code(name: str) -> None:
    assert table((name, "x")).rows == [["name", "words"], [name, "x"]]


def test_the_end_of_a_line_is_a_blank_and_what_nobody_sees_is_shown() -> None:
    assert code("a\n| b\u2028c\x1b") == "<code>a &#124; b c&#92;x1b</code>"
    assert text("a\u202eb") == "a&#92;u202eb"


@pytest.mark.parametrize("name", [*HOSTILE, "a@b.c", "#12", "see #3 and @x/y", "https://e.x", "WWW.e.x"])
def test_outside_of_code_nobody_is_called_and_nothing_led_to_once_it_is_rendered(name: str) -> None:
    (_, (_, shown)) = table(("a", name)).rows
    assert not re.search(r"[@#]\w|://|www\.", shown, re.IGNORECASE)


def test_a_part_that_is_folded_away_holds_markdown() -> None:
    page = Page(details("more", as_markdown(Table.of((Column("a"),), [("1",)]))))
    assert page.tags[:2] == ["details", "summary"]
    assert page.rows == [["a"], ["1"]]
