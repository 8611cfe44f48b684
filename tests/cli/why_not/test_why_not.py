"""`ebb why-not` from a dump to the page; and how each change would be made."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from functions.cli.main import app
from functions.cli.why_not.as_json import document
from functions.cli.why_not.how import HOW, how
from functions.cli.why_not.page import show
from shared.core.placement.exclusions import Exclusion
from shared.core.planning.lifting import Subject
from shared.core.planning.lifts import LIFTS
from shared.core.planning.subjects import Held
from shared.core.planning.why_not import Freed, WhyNot
from shared.core.reasons import PodBlock, Reason, Unremovable
from tests.cli import dumps
from tests.cli.plan.plans import DOLLAR


def test_every_change_that_is_tried_is_told_how() -> None:
    assert HOW.keys() == LIFTS.keys()


@pytest.mark.parametrize("reason", LIFTS)
def test_nothing_of_a_command_is_left_open(reason: Reason) -> None:
    assert "$" not in how(Subject(reason, "shop/Deployment/cart", "key"))


@pytest.mark.parametrize(
    ("expected", "subject"),
    [
        pytest.param("kubectl -n shop patch deployment cart --type merge -p "
                     '\'{"spec":{"template":{"metadata":{"annotations":'
                     '{"cluster-autoscaler.kubernetes.io/safe-to-evict":null}}}}}\'',
                     Subject(PodBlock.NOT_SAFE_TO_EVICT, "shop/Deployment/cart"), id="an annotation"),
        pytest.param("policy: nodePools: {web: {jobs: move}}", Subject(PodBlock.JOB, "web"), id="a line of the policy"),
        pytest.param("kubectl uncordon n1", Subject(Unremovable.CORDONED_BY_OTHER, "n1"), id="a node"),
        pytest.param("kubectl -n shop delete pdb db", Subject(PodBlock.SEVERAL_PDBS, "shop/db"), id="a budget"),
        pytest.param("policy: nodePools: {web: {ignoreTaints: [mine]}}", Subject(Unremovable.TAINTED, "web", "mine"),
                     id="a taint"),
    ],
)  # fmt: skip
def test_a_change_is_made_by(expected: str, subject: Subject) -> None:
    assert how(subject).startswith(expected)


FOUND = WhyNot(
    nodes=3,
    saving=DOLLAR,
    freed=(
        Freed(Held(Subject(PodBlock.PDB_NEVER_ALLOWS, "shop/db"), ("n1", "n2"), DOLLAR), 2, DOLLAR // 2),
        Freed(Held(Subject(Exclusion.SPREAD, "shop/Deployment/cart"), ("n3",), DOLLAR), 0, 0),
    ),
    left=(Held(Subject(Unremovable.CORDONED_BY_OTHER, "n9"), ("n9",), DOLLAR // 10),),
)


def _shown(width: int = 120) -> str:
    pages = StringIO()
    show(Console(file=pages, width=width, force_terminal=True, color_system=None), FOUND, 4 * DOLLAR)
    return pages.getvalue()


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("Ebb alone would take 3 nodes of $730 a month, of $2,920", id="what the policy reaches"),
        pytest.param("    $365     +2  pdb_never_allows shop/db", id="what a change frees"),
        pytest.param("one more replica, minAvailable of PodDisruptionBudget shop/db", id="how it is made"),
        pytest.param("1 change would free nothing alone: spread shop/Deployment/cart", id="what frees nothing"),
        pytest.param("1 change not tried, each on nodes of $73 a month at most", id="what was not tried"),
    ],
)
def test_the_page_says(expected: str) -> None:
    assert expected in _shown()


def test_tools_get_every_key() -> None:
    told = document(FOUND, "c")
    assert told["at_rest"] == {"nodes": 3, "saving_per_hour": 1.0}
    assert told["changes"][0] == {
        "reason": "pdb_never_allows", "object": "shop/db", "detail": None, "nodes": ["n1", "n2"], "holds_per_hour": 1.0,
        "frees_nodes": 2, "frees_per_hour": 0.5, "how": how(FOUND.freed[0].subject),
    }  # fmt: skip
    assert told["not_tried"] == [
        {"reason": "cordoned_by_other", "object": "n9", "detail": None, "nodes": ["n9"], "holds_per_hour": 0.1}
    ]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, _shown(width).splitlines())) <= width


def test_a_dump_is_asked(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["why-not", "--dump", str(dumps.write(tmp_path / "c.json", 24)), "--top", "4"])
    assert shown.exit_code == 0, shown.output
    assert "Of the cluster as it is, Ebb alone would take" in shown.output
    assert "not tried" in shown.output


def test_json_goes_to_stdout_and_prices_are_those_that_were_asked_for(tmp_path: Path) -> None:
    dump = str(dumps.write(tmp_path / "c.json", 8))

    def told(*more: str) -> float:
        shown = CliRunner().invoke(app, ["why-not", "--dump", dump, "--top", "1", "-o", "json", *more])
        return float(sum(each["holds_per_hour"] for each in json.loads(shown.stdout)["changes"]))

    assert told("--discount", "50%") == pytest.approx(told() / 2, abs=0.001)
