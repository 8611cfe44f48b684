"""The fleet's page: one file that asks nobody, whose figures are the table's, and in which no name is markup."""

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.fleet.prints import draw_fleet, table_of
from functions.cli.fleet.view import FleetView, view_of
from functions.cli.output.visible import visible
from tests.browser.devtools import Page
from tests.cli.fleet.fleets import asked, cut_off, dump, ebb, installation, planned

HOSTILE: Final = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>&amp;{{title}}\u202e"


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> FleetView:
    """Return two clusters, one of them with an installation, and a dump that is cut off."""
    folder = tmp_path_factory.mktemp("fleet")
    prod, stage = dump(folder / "a.json", "prod", 24, cpu="350m"), dump(folder / "b.json", "stage")
    profile = installation(folder, "prod", paused=True, pause_reason="a week")
    return view_of(planned(prod, stage, cut_off(folder / "bad.json")), (asked(profile),))


@pytest.fixture
def seen(window: Page, view: FleetView, tmp_path: Path) -> Page:
    (tmp_path / "fleet.html").write_text(draw_fleet(view), encoding="utf-8")
    return window.show(tmp_path / "fleet.html")


def test_its_figures_are_those_of_the_table(seen: Page, view: FleetView) -> None:
    told = [row for row in seen.rows(".clusters") if len(row) > 1]
    assert [(*row[:8], *row[9:]) for row in told] == [*table_of(view, None).rows], "but for the bar"
    held = seen.rows(".blockers")
    assert [int(row[1]) for row in held] == [hold.entry.nodes for hold in view.holds]
    assert seen.texts(".headline") == [view.headline]
    assert seen.texts(".notes li") == list(view.notes)


def test_the_figures_on_top_are_those_of_the_headline(view: FleetView) -> None:
    adds, year, *_, now, _, rest, _ = re.findall(r'<dd class="(?:value|value good|note)">(.*?)</dd>', draw_fleet(view))[
        :8
    ]
    assert view.headline.partition("Ebb adds ")[2].startswith(f"{adds} a month ({year})")
    assert f"for {now} a month" in view.headline
    assert f"for {rest}" in view.headline.partition("with Ebb")[2]


def test_what_is_wrong_stands_below_its_row(seen: Page) -> None:
    shown = [row[0] for row in seen.rows(".clusters") if len(row) == 1]
    assert "Paused: a week" in shown
    assert any("is cut off" in name for name in shown)


def test_bars_are_as_long_as_their_money(seen: Page, view: FleetView) -> None:
    scenarios = [row.view.scenarios.values for row in view.rows if row.view and row.view.scenarios]
    most = max(scenario.now.cost for scenario in scenarios)
    found = seen.of_all(".bill .remains", "each.width.baseVal.value")
    assert found == [round(1000 * scenario.at_rest.cost / most) for scenario in scenarios]


def test_it_has_no_script_and_its_policy_allows_none(view: FleetView) -> None:
    text = draw_fleet(view)
    assert "<script" not in text
    assert "script-src" not in text
    assert "default-src 'none'" in unescape(text)
    assert re.findall(r"""(?:src|href)=["'](?!#)|url\(|@import|style=""", text) == []


def test_names_are_text_wherever_they_are_shown(view: FleetView, tmp_path: Path, window: Page) -> None:
    faults: Any = (HOSTILE,)
    hostile = replace(
        view,
        rows=tuple(replace(row, cluster=HOSTILE, faults=faults) for row in view.rows),
        holds=tuple(replace(hold, clusters=((HOSTILE, hold.entry),)) for hold in view.holds),
        notes=(HOSTILE,),
        headline=HOSTILE,
    )
    (tmp_path / "fleet.html").write_text(draw_fleet(hostile), encoding="utf-8")
    shown = window.show(tmp_path / "fleet.html")
    assert shown.value("document.querySelectorAll('script, img').length") == 0
    assert shown.value("document.querySelector('.clusters tbody th').innerText") == visible(HOSTILE)
    assert shown.value("document.querySelector('.notes li').innerText") == visible(HOSTILE)
    assert (len(shown.asked), shown.said) == (1, [])


def test_the_command_writes_it_next_to_what_it_prints(tmp_path: Path) -> None:
    dump(tmp_path / "a.json", "prod")
    ended = ebb("fleet", "--dump", tmp_path / "a.json", "--out", tmp_path / "fleet.html")
    assert ended.exit_code == 0
    assert "1 cluster" in ended.stdout
    assert "fleet.html: " in ended.stderr
    assert (tmp_path / "fleet.html").read_text().startswith("<!doctype html>")


def test_its_title_does_not_credit_ebb_with_what_the_autoscaler_saves(tmp_path: Path) -> None:
    view = view_of(planned(dump(tmp_path / "a.json", "prod", 4)), ())
    [told] = re.findall(r"<title>(.*?)</title>", draw_fleet(view), re.DOTALL)
    saved = next(table_of(view, None).rows)[-1]
    assert "Ebb adds nothing" in view.headline
    assert told == f"Ebb saves nothing more than the autoscaler alone in 1 cluster, which saves {saved} a month"
