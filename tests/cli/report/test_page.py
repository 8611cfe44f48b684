"""The page is one file that asks nothing of any server, and in which a name is never markup."""

import base64
import hashlib
import json
import re
import time
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from functions.cli.output.pages import asset
from functions.cli.output.visible import visible, visible_values
from functions.cli.report.compute import SCRIPTS, document, draw_report
from tests.cli.report import reports
from tests.measured_figures import slowness
from tests.pages import ROOT

ASSETS = ROOT / "functions" / "cli" / "output" / "assets"
MOST_BYTES = 3 * 1024 * 1024
HOSTILE = "</script><img src=x onerror=alert(1)><!--{{script}}&amp;\u2028'\"`${1}"


class Parts(HTMLParser):
    """The elements of a page with what stands in scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {}
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._in = tag

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._in = ""

    def handle_data(self, data: str) -> None:
        self.inside.setdefault(self._in, []).append(data)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return reports.told(reports.shop(tmp_path_factory.mktemp("shop"), 12))


def test_it_names_no_address_and_loads_nothing(told: dict[str, Any]) -> None:
    text = draw_report(told)
    data, _script = Parts(text).inside["script"]

    assert re.findall(r"https?://[\w./-]+", text.replace(data, "")) == []
    loaded = [(tag, given) for tag, given in Parts(text).found if {"src", "href"} & given.keys()]
    assert {(tag, (given["href"] or "")[:1]) for tag, given in loaded} == {("a", "#")}
    assert "@import" not in text
    assert "url(" not in asset("page.css")


def test_its_security_policy_allows_its_own_script_and_style_and_nothing_else(told: dict[str, Any]) -> None:
    parts = Parts(draw_report(told))
    allowed = next(given["content"] for _, given in parts.found if given.get("http-equiv") == "Content-Security-Policy")
    [style], [_, script] = parts.inside["style"], parts.inside["script"]

    assert unescape(allowed or "").split("; ") == [
        "default-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        f"style-src {_digest(style)}",
        f"script-src {_digest(script)}",
    ]


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_a_hostile_name_adds_no_element_and_no_class(told: dict[str, Any]) -> None:
    def named(word: str) -> dict[str, Any]:
        pools = [{**pool, "name": word} for pool in told["report"]["pools"]]
        extra = {"title": word, "sentences": [word], "table": {"columns": [word, word], "rows": [[word, word]]}}
        report = {**told["report"], "title": word, "headline": word, "pools": pools, "extras": [extra]}
        return {**told, "cluster": word, "report": report}

    plain, parts = (Parts(draw_report(named(word))) for word in ("web", HOSTILE))

    assert [(tag, given.get("class")) for tag, given in parts.found] == [
        (tag, given.get("class")) for tag, given in plain.found
    ]
    assert json.loads(parts.inside["script"][0]) == visible_values(named(HOSTILE))
    assert f"{visible(HOSTILE)} - {visible(HOSTILE)}" in "".join(parts.inside["title"])


@pytest.mark.parametrize(
    "word", ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("]
)
def test_the_script_makes_no_markup_and_no_code_of_text(word: str) -> None:
    assert [path.name for path in ASSETS.glob("*.js") if word in path.read_text(encoding="utf-8")] == []


def test_every_part_of_the_script_is_in_the_page() -> None:
    assert sorted(SCRIPTS) == sorted(path.name for path in ASSETS.glob("*.js"))


@pytest.mark.parametrize(
    ("nodes", "pods_a_node", "seconds"),
    [
        pytest.param(60, 0, 2.0, id="60 nodes"),
        pytest.param(1000, 20, 10.0, id="1,000 nodes and 20,000 pods", marks=pytest.mark.deep),
    ],
)
def test_it_is_drawn_soon_after_the_plan_and_small_enough_to_be_sent(
    nodes: int, pods_a_node: int, seconds: float, tmp_path: Path
) -> None:
    sources = reports.shop(tmp_path, 1)
    reports.write_shop(tmp_path / "shop.json", nodes, pods_a_node)
    made = reports.report_input(sources)
    before = time.process_time()
    text = draw_report(document(made))

    spent = time.process_time() - before
    assert spent < seconds * slowness()
    assert len(made.now.pods) >= pods_a_node * nodes
    assert len(text.encode()) <= MOST_BYTES
