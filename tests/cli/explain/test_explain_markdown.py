"""`ebb explain --output markdown`: what the terminal's pages say, and no name is markup."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain.compute import PageSource, as_markdown
from functions.cli.explain.resolve import resolve_name
from functions.cli.main import app
from functions.cli.plan.view import view_of
from shared.adapters.prices import load
from shared.core.planning.make_plan import make_plan
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pdb, pod, policy
from tests.cli import dumps


def _page(*words: str, name: str = "web-0") -> str:
    nodes = [node(word, cpu=4, memory=16) for word in ("n1", "n2", "n3")]
    pods = [pod(name, on="n1", owner="ReplicaSet/web", cpu=1), pod("big", on="n3", owner="ReplicaSet/big", cpu=3.5)]
    budget = pdb("web", allowed=0)
    snapshot = cluster(nodes, [*pods, pod("log-x1", on="n1", owner="DaemonSet/log")], disruption_budgets=(budget,))
    situation = Situation(snapshot, ClusterState(), policy(cluster_wide={"paused": True}))
    plan = make_plan(situation, {}, load())
    view = view_of(plan, notes=("Without a policy*.",))
    return as_markdown(PageSource(view, Explainer(situation, plan)), [resolve_name(situation, word) for word in words])


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param("# <code>n1</code>\n\n- pool: ", "n1", id="a node"),
        pytest.param("1. <code>pdb_exhausted</code>\n   - default/web-0 ", "n1", id="what keeps it, with its object"),
        pytest.param("| <code>paused</code> |", "n1", id="what is closed"),
        pytest.param("| <code>default/web-0</code> | <code>n", "n1", id="where its pods would land"),
        pytest.param("# <code>default/web-0</code>\n\n- node: n1", "default/web-0", id="a pod"),
        pytest.param("What keeps the pod where it is:\n\n1. <code>pdb", "default/web-0", id="what keeps the pod"),
        pytest.param("Of 2 other nodes 1 could take it now: n2 of a.", "default/web-0", id="which nodes could take it"),
        pytest.param("| 1 | 1 | <code>room", "default/web-0", id="which rule excludes how many"),
        pytest.param("It keeps no node: it is a DaemonSet", "default/log-x1", id="a pod that goes with its node"),
        pytest.param("1 pod on 1 node; ", "default/ReplicaSet/web", id="a workload"),
        pytest.param("What keeps its pods:\n\n1. ", "default/ReplicaSet/web", id="what keeps its pods"),
    ],
)
def test_the_page_shows(expected: str, word: str) -> None:
    assert expected in _page(word)


def test_several_names_are_one_page_with_its_notes_at_the_end() -> None:
    shown = _page("n1", "default/web-0")
    assert shown.index("# <code>n1</code>") < shown.index("# <code>default/web-0</code>")
    assert shown.endswith("\n\n> Without a policy&#42;.")


def test_no_name_is_markup() -> None:
    shown = _page("n1", "default/a|b<img>", "default/ReplicaSet/web", name="a|b<img>")
    assert "a|b" not in shown
    assert "<img" not in shown


def test_it_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    dump = str(dumps.write(tmp_path / "c.json", 8))
    shown = CliRunner().invoke(app, ["explain", "0007", "--dump", dump, "-o", "markdown"])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith("# <code>")
