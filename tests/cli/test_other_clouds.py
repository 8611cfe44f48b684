"""A cluster that is not GKE's gets no plan full of `no_pool` without a word why."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from functions.cli.main import app
from shared.core.cluster.names import POOL_LABEL
from tests.cli import dumps

SAID = (
    f"warning: No node carries the label {POOL_LABEL}: this does not look like GKE, and Ebb drains nothing elsewhere."
)


@pytest.mark.parametrize(
    ("expected", "labelled"),
    [
        pytest.param(True, 0, id="no node of a pool"),
        pytest.param(False, 1, id="one node of a pool"),
    ],
)
def test_nodes_without_any_pool_are_warned_about(expected: bool, labelled: int, tmp_path: Path) -> None:
    found = json.loads(dumps.write(tmp_path / "dump.json", 3).read_text())
    nodes = [item for item in found["items"] if item["kind"] == "Node"]
    for node in nodes[labelled:]:
        del node["metadata"]["labels"][POOL_LABEL]
    (tmp_path / "dump.json").write_text(json.dumps(found))

    result = CliRunner().invoke(app, ["plan", "--dump", str(tmp_path / "dump.json"), "-o", "json"])

    assert (SAID in result.stderr.splitlines()) is expected
