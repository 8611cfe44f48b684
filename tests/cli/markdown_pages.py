"""Markdown as a parser reads it that is not ours: what stands in its tables, and which tags there are."""

from html.parser import HTMLParser

from markdown_it import MarkdownIt


class Page(HTMLParser):
    """The tags of a page in order, the words of each cell, and of each row how many cells it has."""

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
        """Return the cells of the row that begins so."""
        return next(each for each in self.rows if each[0] == first)
