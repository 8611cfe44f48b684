"""The page in a real browser: its figures are the JSON's, it asks nobody, it is searched and used without a mouse."""

from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from functions.cli.report.compute import document, draw_report
from tests.browser.devtools import Page
from tests.cli import dumps
from tests.cli.report import reports
from tests.cli.report.reports import objects
from tests.cli.running import ebb, read_json
from tests.depth import cases

HOSTILE = "</script><img src=x onerror=alert(1)>"
TAB = 9


@dataclass(frozen=True)
class Report:
    """A page that was written by the command, and the data that the command prints."""

    path: Path
    told: dict[str, Any]

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = self.told["report"]
        return found

    @property
    def nodes(self) -> list[dict[str, Any]]:
        return [{**node, **more} for node, more in zip(self.told["nodes"], objects(self.report["nodes"]), strict=True)]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("shop")
    sources = reports.shop(folder)
    words, page = ("report", sources.dumps[0], "--policy", sources.policy or ""), folder / "report.html"
    assert ebb(*words, "--out", page).exit_code == 0
    return Report(page, read_json(*words))


@pytest.fixture
def seen(window: Page, shop: Report) -> Page:
    return at(window, shop.path)


def at(window: Page, path: Path, *, dark: bool = False) -> Page:
    window.show(path, dark=dark)
    assert (window.value("document.documentElement.dataset.drawn"), window.said) == ("yes", [])
    return window


def drawn(window: Page, folder: Path, told: dict[str, Any]) -> Page:
    path = folder / "report.html"
    path.write_text(draw_report(told), encoding="utf-8")
    return at(window, path)


def choose(page: Page, selector: str, value: str) -> None:
    chosen = f"document.querySelector({selector!r})"
    page.value(f"{chosen}.value = {value!r}; for (const e of ['input', 'change']) {chosen}.dispatchEvent(new Event(e))")


def text(page: Page, selector: str) -> str:
    return page.texts(selector)[0]


def looked_up(page: Page, word: str) -> None:
    page.value("document.getElementById('word').value = ''; document.getElementById('word').focus()")
    page.write(word)


def test_its_figures_are_those_of_the_json(seen: Page, shop: Report) -> None:
    told = shop.report

    assert text(seen, "h1") == told["title"]
    assert text(seen, ".headline") == told["headline"]
    assert seen.texts("#figures .value") == [figure["value"] for figure in told["figures"]]
    added = {**told["added"], "saved": told["added"]["month"]}
    assert seen.rows("table.scenarios") == [
        [row[name] for name in ("title", "nodes", "month", "year", "saved", "evictions")]
        for row in (added, *told["ladder"])
    ]
    assert seen.rows("table.pools") == [
        [pool["name"], str(pool["nodes"]), pool["cpu"], pool["memory"], pool["month"],
         *((str(pool["goes"]), pool["saved"]) if pool["goes"] else ("-", "-"))]
        for pool in told["pools"]
    ]  # fmt: skip


def test_bars_are_as_long_as_their_money(seen: Page, shop: Report) -> None:
    *scenarios, bound = shop.report["ladder"]
    most = max(scenario["cost"] for scenario in scenarios)

    widths = seen.of_all(".track .remains", "each.width.baseVal.value")
    assert widths == [round(1000 * scenario["cost"] / most) for scenario in scenarios]
    assert seen.of_all(".track .least", "each.x1.baseVal.value") == [round(1000 * bound["cost"] / most)]


def test_the_picture_has_a_bar_for_each_node_before_and_after(seen: Page, shop: Report) -> None:
    gone = sum(node["gone"] for node in shop.nodes)

    assert seen.number(".bar") == 2 * len(shop.nodes)
    assert seen.number(".bar.gone") == gone > 0
    by_zone = seen.texts(".pool .side:last-child .zone-name")
    assert sum(int(zone.rpartition(" ")[2]) for zone in by_zone) == len(shop.nodes) - gone
    assert {zone.partition(":")[0] for zone in by_zone} == {node["zone"] for node in shop.nodes}


def test_bars_show_what_was_chosen(seen: Page) -> None:
    fills = "each.style.backgroundImage"
    cpu = seen.of_all(".bar:not(.gone)", fills)
    choose(seen, "#measured", "memory")
    memory = seen.of_all(".bar:not(.gone)", fills)

    assert all(fill.startswith("linear-gradient(to top, var(--stays) 0%") for fill in (*cpu, *memory))
    assert len(cpu) == len(memory)
    assert cpu != memory


def test_every_picture_has_its_figures_as_a_table(seen: Page, shop: Report) -> None:
    names = ("pool", "zone", "nodes", "cpu", "memory", "nodes_at_rest", "cpu_at_rest", "memory_at_rest")
    assert seen.rows("table.zones-table") == [[str(zone[name]) for name in names] for zone in shop.report["zones"]]
    assert min(seen.of_all("[role=img]", "each.ariaLabel.length")) > len("a name alone")


def test_blockers_calendar_order_and_notes_are_all_there(seen: Page, shop: Report) -> None:
    told = shop.report
    causes = [row for blocker in told["blockers"] for row in blocker["rows"]]
    shown = seen.rows("table.blockers")

    assert [(row[0], row[1]) for row in shown] == [(cause["month"], f"{cause['nodes']:,}") for cause in causes]
    assert [cause["remedy"] for cause, row in zip(causes, shown, strict=True) if cause["remedy"] not in row[2]] == []
    week = told["calendar"]["pools"][0]["days"]
    assert seen.value("document.querySelector('table.week').querySelectorAll('tbody td').length") == sum(
        len(day["runs"]) for day in week
    )
    assert [row[1] for row in seen.rows("table.order")] == [
        shop.nodes[thing["node"]]["name"] for thing in objects(told["order"])[:15]
    ]
    assert seen.texts(".notes li") == told["notes"]
    assert seen.number("dl.words dt") == len(told["glossary"])


def test_a_word_a_pool_and_a_verdict_choose_what_is_shown(seen: Page, shop: Report) -> None:
    nodes = shop.nodes
    looked_up(seen, "europe-west4-B")
    in_zone = [node["name"] for node in nodes if node["zone"] == "europe-west4-b"]
    assert text(seen, "#found-count").startswith(f"{len(in_zone)} nodes and 0 workloads")
    assert [row[0] for row in seen.rows(".found-nodes")] == in_zone[:12]

    choose(seen, "#look-up label:last-child select", "waiting")
    waiting = [node["name"] for node in nodes if node["zone"] == "europe-west4-b" and node["verdict"] == "waiting"]
    assert 0 < len(waiting) < len(in_zone)
    assert text(seen, "#found-count").startswith(f"{len(waiting)} nodes")


def test_all_of_a_long_list_is_shown_on_demand(seen: Page, shop: Report) -> None:
    seen.click("#look-up .more")
    percent = {node["name"]: f"{int(100 * node['cpu_ratio'] + 1e-9)}%" for node in shop.nodes}
    assert [(row[0], row[3]) for row in seen.rows(".found-nodes")] == list(percent.items())


def test_the_name_of_a_pod_finds_its_node_and_its_workload(seen: Page, shop: Report) -> None:
    pod = objects(shop.report["pods"])[40]
    workload = objects(shop.report["workloads"])[pod["workload"]]["name"]
    looked_up(seen, pod["name"])

    assert [row[0] for row in seen.rows(".found-nodes")] == [shop.nodes[pod["node"]]["name"]]
    assert [row[0] for row in seen.rows(".found-workloads")] == [workload]


def test_a_node_opens_with_its_pods_what_keeps_it_and_where_they_go(seen: Page, shop: Report) -> None:
    kept = next(number for number, node in enumerate(shop.nodes) if node["blockers"] and not node["gone"])
    pods = [thing for thing in objects(shop.report["pods"]) if thing["node"] == kept]
    looked_up(seen, shop.nodes[kept]["name"])
    seen.click(".found-nodes .name")

    assert text(seen, "#details-title") == shop.nodes[kept]["name"]
    assert [row[0] for row in seen.rows("#details table")] == [pod["name"] for pod in pods]
    for blocker in (found for found in shop.nodes[kept]["blockers"] if found["reason"] != "blocked_by_pod"):
        assert shop.report["reasons"][blocker["reason"]]["remedy"] in text(seen, "#details .causes")


def test_a_workload_opens_from_a_node_and_back(seen: Page, shop: Report) -> None:
    seen.click("table.order .name")
    seen.click("#details td .name")
    name = text(seen, "#details-title")
    number = [thing["name"] for thing in objects(shop.report["workloads"])].index(name)
    pods = [thing for thing in objects(shop.report["pods"]) if thing["workload"] == number]

    assert len(seen.rows("#details table")) == min(40, len(pods))
    seen.click("#details td .name")
    assert text(seen, "#details-title") == shop.nodes[pods[0]["node"]]["name"]


def focused(page: Page) -> str:
    return str(
        page.value("document.activeElement.innerText || document.activeElement.id || document.activeElement.title")
    )


def test_it_is_used_without_a_mouse(seen: Page, shop: Report) -> None:
    seen.press("Tab", TAB)
    assert focused(seen) == "Skip to the content"
    seen.press("Tab", TAB)
    assert focused(seen) == "Dark"
    seen.press("Enter", 13)
    assert seen.value("document.documentElement.dataset.theme") == "dark"

    seen.value("document.querySelector('.bar').focus()")
    seen.press("ArrowRight", 39)
    assert seen.value("document.activeElement === document.querySelectorAll('.bar')[1]")
    seen.press("Enter", 13)
    own = [node["name"] for node in shop.nodes if node["pool"] == shop.nodes[0]["pool"]]
    assert text(seen, "#details-title") in own
    assert focused(seen) == "Close"
    seen.press("Escape", 27)
    assert seen.value("document.getElementById('details').open") is False
    assert seen.value("document.activeElement === document.querySelectorAll('.bar')[1]")


def test_every_control_is_reached_by_the_keyboard_and_has_a_name(seen: Page) -> None:
    controls = "button, select, input, summary, a, [tabindex='0']"
    named = "Boolean(each.innerText || each.ariaLabel || (each.labels || []).length)"

    assert set(seen.of_all(controls, named)) == {True}
    assert set(seen.of_all(".bars", "each.querySelectorAll('[tabindex=\"0\"]').length")) == {1}
    assert seen.number("[tabindex]:not([tabindex='0']):not(.bar)") == 0


def test_headings_follow_each_other_and_no_id_is_there_twice(seen: Page) -> None:
    levels = [int(level) for level in seen.of_all("h1, h2, h3, h4", "each.tagName[1]")]
    ids = seen.of_all("[id]", "each.id")

    assert levels[0] == 1
    assert [pair for pair in pairwise(levels) if pair[1] - pair[0] > 1] == []
    assert len(ids) == len(set(ids))


def test_what_is_odd_is_shown_on_top(window: Page, shop: Report, tmp_path: Path) -> None:
    told = {**shop.told, "report": {**shop.report, "notes": ["warning: the dump is old.", "Prices are listed."]}}

    assert text(drawn(window, tmp_path, told), ".warnings") == "warning: the dump is old."
    assert at(window, shop.path).number(".warnings") == 0


@cases("dark, theme", ("light", False, "light"), ("dark", True, "dark"))
def test_it_follows_the_colours_that_its_reader_prefers_until_shown_otherwise(
    dark: bool, theme: str, window: Page, shop: Report
) -> None:
    page = at(window, shop.path, dark=dark)
    assert page.value("document.documentElement.dataset.theme") == theme
    page.value("document.getElementById('theme').click()")
    assert page.value("document.documentElement.dataset.theme") == ("light" if dark else "dark")


def test_it_is_printed_in_light_with_its_tables_and_without_its_controls(window: Page, shop: Report) -> None:
    page = at(window, shop.path, dark=True)
    folded = "document.querySelectorAll('main details:not([open])').length"
    look = f"window.printed = [document.documentElement.dataset.theme, {folded}]"
    page.value(f"window.addEventListener('beforeprint', () => {{ {look}; }})")
    paper = page.printed()

    assert paper.startswith(b"%PDF")
    assert page.value("window.printed") == ["light", 0]
    assert page.value("document.documentElement.dataset.theme") == "dark"
    page.sized(1280, 900, media="print")
    shown = "getComputedStyle(document.querySelector({!r})).display"
    assert {page.value(shown.format(word)) for word in ("#look-up", "nav", "#theme", ".controls")} == {"none"}
    assert page.value(shown.format("table.blockers")) == "table"


def test_names_are_text_wherever_they_are_shown(window: Page, tmp_path: Path) -> None:
    node, pod = dumps.node(0), dumps.pod(f"pod{HOSTILE}", "", app="a", namespace=f"ns{HOSTILE}")
    pod["metadata"]["ownerReferences"][0]["name"] = f"set{HOSTILE}"
    node["metadata"]["name"] = pod["spec"]["nodeName"] = f"node{HOSTILE}"
    labels = {"cloud.google.com/gke-nodepool": f"pool{HOSTILE}", "topology.kubernetes.io/zone": f"zone{HOSTILE}"}
    node["metadata"]["labels"] |= labels
    dump, path = tmp_path / f"{HOSTILE.replace('/', '')}.json", tmp_path / "report.html"
    dumps.write_items(dump, [node, dumps.node(1), pod])
    assert ebb("report", "--dump", dump, "--out", path).exit_code == 0

    page = at(window, path)
    page.value("window.alert = () => document.body.append('run')")
    assert f"node{HOSTILE}" in [row[0] for row in page.rows(".found-nodes")]
    looked_up(page, f"pod{HOSTILE}")
    assert [row[0] for row in page.rows(".found-workloads")] == [f"ns{HOSTILE}/ReplicaSet/set{HOSTILE}"]
    page.click(".found-nodes .name")
    assert [row[0] for row in page.rows("#details table")] == [f"pod{HOSTILE}"]
    assert page.number("img") == 0
    assert (page.value("document.scripts.length"), page.said, page.asked) == (2, [], [path.as_uri()])


def test_a_script_that_came_in_all_the_same_is_not_run(window: Page, shop: Report, tmp_path: Path) -> None:
    path = tmp_path / "broken.html"
    text = shop.path.read_text(encoding="utf-8")
    path.write_text(text.replace("<main", "<script>document.body.dataset.run = 'yes'</script><main"), encoding="utf-8")
    window.open(path.as_uri())

    assert window.value("document.body.dataset.run || ''") == ""
    assert any("Content Security Policy" in said for said in window.said)


@pytest.mark.deep
def test_a_thousand_nodes_are_drawn_as_well_as_sixty(window: Page, tmp_path: Path) -> None:
    sources = reports.shop(tmp_path, 1)
    reports.write_shop(tmp_path / "shop.json", 1000)
    page = drawn(window, tmp_path, reports.told(sources))

    assert page.number(".bar") == 2000
    assert page.value("document.documentElement.scrollWidth") == 1280


def test_what_is_not_known_is_not_drawn(window: Page, tmp_path: Path) -> None:
    made = reports.report_input(reports.shop(tmp_path, 12))
    page = drawn(window, tmp_path, document(replace(made, view=replace(made.view, scenarios=None))))

    assert page.number(".bar") == 12
    assert page.number(".waterfall") == 0
