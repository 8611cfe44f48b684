"""What is wrong with what was typed is one sentence that names it, and exit code 2."""

import json
from pathlib import Path

import pytest

from functions.cli.input.readers import BY_A_DUMP
from tests.adapters.scripted import document
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases


@cases(
    "expected, typed",
    ("an unknown choice", "'xyz' is not one of 'name', 'cost', 'cpu', 'memory', 'reason'.", "plan --sort xyz"),
    ("too small a number", "'--top': 0 is not in the range x>=1.", "plan --top 0"),
    ("no second file", "Missing argument 'NEW'.", "policy diff a.yaml"),
    ("a near option", "No such option: --polcy (Possible options: --only, --policy, --pool)", "plan --polcy x"),
)  # fmt: skip
def test_it_shows(expected: str, typed: str) -> None:
    result = ebb(*typed.split())
    assert (result.exit_code, result.stderr.startswith("ebb: "), result.stderr.count("\n")) == (2, True, 1)
    assert result.stderr.endswith(f"{expected}\n")


def test_an_unused_discount_is_a_warning_and_a_second_one_a_mistake(tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "night.json", 12)
    told = ebb("plan", "--dump", dump, "--discount", "c2=10%", "-o", "json").stderr
    assert "warning: --discount: no node on demand is of c2" in told
    assert ebb("plan", "--dump", dump, "--discount", "28%", "--discount", "30%").exit_code == 2


@pytest.mark.parametrize("broken", [True, False])
def test_a_cluster_that_cannot_be_read_may_be_planned_from_a_dump(tmp_path: Path, *, broken: bool) -> None:
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("" if broken else json.dumps(document(server="http://127.0.0.1:9")))
    result = ebb("plan", "--kubeconfig", kubeconfig)
    first, *_, last = result.stderr.splitlines()
    assert first.startswith("ebb: ")
    assert last == f"ebb: {BY_A_DUMP}"
