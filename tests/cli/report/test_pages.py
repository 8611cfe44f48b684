"""What docs/report.md says of the report is true of it: its keys, its sections and its pictures."""

import re
from pathlib import Path

from functions.cli.report.compute import draw_report
from functions.cli.report.extras import REQUESTS
from tests.browser.pictures import FOLDER, PICTURES
from tests.cli.report import reports
from tests.pages import DOCS, rows

TEXT = (DOCS / "report.md").read_text(encoding="utf-8")
MOST_BYTES = 300_000


def test_every_key_is_shown_and_no_other(tmp_path: Path) -> None:
    told = {word for cells in rows(TEXT, "| key of `report` | holds |") for word in re.findall(r"`(\w+)`", cells[0])}
    assert told == reports.told(reports.shop(tmp_path, 6))["report"].keys()


def test_every_section_is_shown_in_its_order(tmp_path: Path) -> None:
    titles = re.findall(r"<h2>(.*?)</h2>", draw_report(reports.told(reports.shop(tmp_path, 6))))
    told = [cells[0] for cells in rows(TEXT, "| section | what it shows |")]
    assert [title for title in told if title != REQUESTS] == titles


def test_the_pictures_are_there_and_small() -> None:
    for page in sorted({name.shown_in for name in PICTURES.values()}):
        text = (DOCS / page).read_text(encoding="utf-8")
        own = [name for name, picture in PICTURES.items() if picture.shown_in == page]
        assert re.findall(r"\]\(pictures/([\w.-]+)\)", text) == own
    assert sorted(path.name for path in FOLDER.glob("*.png")) == sorted(PICTURES)
    assert [path.name for path in FOLDER.iterdir() if path.stat().st_size > MOST_BYTES] == []
