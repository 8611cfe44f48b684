"""Report and fleet fit a phone, a screen and paper, whatever font serves them and however long names are."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from functions.cli.fleet.cluster_reading import plan_source
from functions.cli.fleet.prints import draw_fleet
from functions.cli.fleet.sources import ClusterSource, FleetPlanning
from functions.cli.fleet.view import view_of
from functions.cli.input.options import Sources
from functions.cli.report.compute import draw_report
from tests.browser.chromium import Chromium
from tests.browser.devtools import Page, opened
from tests.browser.fonts import FONT_SETS
from tests.cli import dumps
from tests.cli.fleet.fleets import CUT_OFF, dump
from tests.cli.report import reports

A4: Final = 687
"""Its width between the page's margins, in CSS pixels. Letter is wider."""
LONG: Final = "x" * 253
"""As long as a name may be, without a place to break."""
COLUMNS: Final = ("", "autoscaler alone", *(f"night-policy-of-the-platform-team-{number}" for number in range(4)))


class Medium(NamedTuple):
    width: int
    name: str = "screen"


PHONE, SCREEN, PAPER = Medium(360), Medium(1280), Medium(A4, "print")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "report": draw_report(reports.told(reports.shop(folder, 30))),
        "long names": _of_long_names(folder),
        "fleet": _of_a_fleet(folder),
    }
    paths = {name: folder / f"{name}.html" for name in texts}
    for name, path in paths.items():
        path.write_text(texts[name], encoding="utf-8")
    return paths


def _of_long_names(folder: Path) -> str:
    """A report in which each name is as long as may be, and a section has six columns."""
    items: list[dict[str, Any]] = []
    for index in range(4):
        node, pod = dumps.node(index), dumps.pod(f"{index}{LONG[1:]}", "", app="a", namespace=LONG[:63])
        node["metadata"]["name"] = pod["spec"]["nodeName"] = f"{index}{LONG[1:]}"
        node["metadata"]["labels"] |= {
            "cloud.google.com/gke-nodepool": f"{index % 2}{LONG[:40]}", "topology.kubernetes.io/zone": LONG[:63],
        }  # fmt: skip
        pod["metadata"]["ownerReferences"][0]["name"] = LONG
        items += [node, pod]
    dumps.write_items(folder / "long.json", items)
    rows = [["evictions", *["1,234,567"] * 5], [LONG, *["$1,234,567"] * 5]]
    told = reports.told(Sources((folder / "long.json",)))
    extra = {"title": LONG, "sentences": [LONG], "table": {"columns": list(COLUMNS), "rows": rows}}
    return draw_report({**told, "report": {**told["report"], "extras": [extra]}})


def _of_a_fleet(folder: Path) -> str:
    paths = [dump(folder / "a.json", "prod", 24, cpu="350m"), dump(folder / "b.json", "c" * 40), folder / "bad.json"]
    paths[2].write_text(CUT_OFF)
    return draw_fleet(view_of(tuple(plan_source(ClusterSource(LONG, (path,)), FleetPlanning()) for path in paths), ()))


@pytest.fixture(scope="module", params=FONT_SETS)
def window(request: pytest.FixtureRequest, chromium: Chromium, font_sets: Mapping[str, Path]) -> Iterator[Page]:
    """A window in which one set of fonts serves whatever a page asks for."""
    with opened(chromium.with_fonts(font_sets[request.param])) as page:
        yield page


@pytest.mark.parametrize("medium", [PHONE, SCREEN, PAPER], ids=["phone", "screen", "paper"])
@pytest.mark.parametrize("name", ["report", "long names", "fleet"])
def test_no_page_is_wider_than_where_it_is_shown(
    name: str, medium: Medium, window: Page, pages: Mapping[str, Path]
) -> None:
    window.sized(SCREEN.width if medium is PAPER else medium.width, 900)
    window.open(pages[name].as_uri())
    window.sized(medium.width, 900, media=medium.name)
    window.value("for (const each of document.querySelectorAll('main details')) each.open = true")

    assert window.value("document.documentElement.scrollWidth") == medium.width
    in_view = window.value(f"[...document.querySelectorAll('table')].every((each) => {_IS_IN_VIEW})")
    assert in_view or (name, medium) == ("long names", SCREEN), "a table of a screen may scroll for its names"


_IS_IN_VIEW: Final = "each.getBoundingClientRect().right <= document.documentElement.clientWidth + 1"


@pytest.mark.parametrize("pair", [("Liberation", "DejaVu"), ("DejaVu", "Noto Mono")], ids=" and ".join)
def test_the_sets_of_fonts_are_of_different_widths(
    pair: tuple[str, str], chromium: Chromium, font_sets: Mapping[str, Path]
) -> None:
    """Else the law above would be about one font."""
    widths = []
    for name in pair:
        with opened(chromium.with_fonts(font_sets[name])) as page:
            page.open("data:text/html,<span style='font:16px sans-serif'>illimitable figures</span>")
            widths.append(page.value("document.querySelector('span').getBoundingClientRect().width"))
    assert widths[1] > widths[0]
