"""`make pictures`: the pictures of the pages in docs/, drawn of generated clusters; nobody's names are in them."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from functions.cli.report.compute import draw_report
from tests.browser.chromium import locate
from tests.browser.devtools import Page, opened
from tests.cli.report import reports
from tests.docs import fleet_sample
from tests.pages import DOCS, ROOT

FOLDER: Final = DOCS / "pictures"
WIDTH: Final = 1120
_HIGH: Final = 900


@dataclass(frozen=True)
class Picture:
    first: str
    last: str
    dark: bool = False
    shown_in: str = "report.md"
    """The page of docs/ that shows it, by which is known what it is of."""


PICTURES: Final[Mapping[str, Picture]] = {
    "report.png": Picture("header", "#scenarios .waterfall"),
    "report-cluster.png": Picture("#cluster", "#cluster details", dark=True),
    "fleet.png": Picture("header", "#clusters table", shown_in="fleet.md"),
}
_PART: Final = """(() => {{
  const from = document.querySelector({first!r}).getBoundingClientRect();
  const to = document.querySelector({last!r}).getBoundingClientRect();
  const y = from.top + window.scrollY;
  return {{ x: 0, y, width: {width}, height: to.bottom + window.scrollY - y + 24 }};
}})()"""


def draw(folder: Path) -> None:
    with TemporaryDirectory() as temporary, opened(locate()) as page:
        report, fleet = Path(temporary) / "report.html", Path(temporary) / "fleet.html"
        report.write_text(draw_report(reports.told(reports.shop(Path(temporary)))), encoding="utf-8")
        fleet_sample.fleet(fleet)
        of = {"report.md": report, "fleet.md": fleet}
        for name, picture in PICTURES.items():
            (folder / name).write_bytes(_drawn(page, of[picture.shown_in], picture))


def _drawn(page: Page, path: Path, picture: Picture) -> bytes:
    page.sized(WIDTH, _HIGH, dark=picture.dark)
    page.open(path.as_uri())
    part = page.value(_PART.format(first=picture.first, last=picture.last, width=WIDTH))
    return page.picture(clip=part)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    draw(FOLDER)
    for name in PICTURES:
        sys.stdout.write(f"{(FOLDER / name).relative_to(ROOT)} is drawn\n")
