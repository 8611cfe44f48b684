"""The demand that a person's file means."""

import json
from datetime import timedelta
from pathlib import Path

from functions.cli.simulate.patterns import Hours, demand_of
from tests.builders import cluster, node, pod


def test_of_a_workload_one_replica_stays_where_a_log_shows_that_nothing_was_asked_for(tmp_path: Path) -> None:
    rows = [
        {"time": f"2026-03-04T{hour:02}:00:00Z", "event": "cluster_state", "requested_cpu": 8 if hour == 12 else 0}
        for hour in range(24)
    ]
    (tmp_path / "log.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    picture = cluster([node("n1")], [pod(name, on="n1") for name in ("a", "b")])

    demand, _ = demand_of(Hours(tmp_path / "log.json", None, 100, "UTC"), picture, timedelta(days=1))

    assert {wish.replicas for wish in demand.changes} == {1, 2}
