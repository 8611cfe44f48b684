"""The simulated autoscaler against recordings of the real cluster-autoscaler, which worked alone on 47 nodes.

`EBB_RECORDINGS` names their folder: for each a dump of the cluster as it was, `start.json.gz`, and every change of the
number of nodes, `nodes.jsonl`. They were made in a tenth of the time. Where the real one rolls dice, so does this one.
"""

import gzip
import json
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.input.inputs import EVERY_POOL, gather
from functions.cli.input.options import Sources

FOLDER: Final = Path(os.environ.get("EBB_RECORDINGS", ""))
SLOWER: Final = 10
EVERY: Final = 20
"""Seconds between two points at which the curves are compared."""
NEAR: Final = 0.1
pytestmark = pytest.mark.skipif(
    "EBB_RECORDINGS" not in os.environ, reason="EBB_RECORDINGS names no folder with recordings of the real autoscaler"
)
Curve = Sequence[tuple[float, int]]


def curves(folder: Path, scratch: Path) -> tuple[Curve, Curve]:
    """Return how the number of nodes fell, by seconds at the pace of GKE: of the real one, and of the simulated one."""
    dump = scratch / "start.json"
    dump.write_bytes(gzip.decompress((folder / "start.json.gz").read_bytes()))
    rows = map(json.loads, (folder / "nodes.jsonl").read_text(encoding="utf-8").splitlines())
    real = [(SLOWER * row["at"], row["nodes"]) for row in rows]
    inputs = gather(Sources(dumps=(dump,)), EVERY_POOL)
    begins = inputs.snapshot.taken_at
    days = Days(inputs.snapshot, inputs.prices, (), timedelta(seconds=real[-1][0] + 1))
    return real, [((row.at - begins).total_seconds(), row.nodes) for row in simulate(days).series]


def nodes_at(curve: Curve, seconds: float) -> int:
    return next(nodes for at, nodes in reversed(curve) if at <= max(seconds, curve[0][0]))


@pytest.mark.parametrize("name", ["none", "some", "dense"])
def test_the_simulated_autoscaler_leaves_as_many_nodes_as_the_real_one_and_as_fast(name: str, tmp_path: Path) -> None:
    real, played = curves(FOLDER / name, tmp_path)
    rows = [(nodes_at(real, at), nodes_at(played, at)) for at in range(0, int(real[-1][0]), EVERY)]

    assert abs(played[-1][1] - real[-1][1]) <= 1
    assert sum(abs(one - other) for one, other in rows) <= NEAR * sum(one for one, _ in rows)
