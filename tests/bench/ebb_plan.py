"""CPU seconds of `ebb plan` and `ebb why-not`, against one plan of the same dump (`ebb plan --no-forecast`)."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.cli import dumps
from tests.measured_figures import cpu_of, say

SIZES: Final = ((60, 15), (500, 20), (1_000, 30), (5_000, 30))
"""Nodes, and pods a node."""
WHOLE: Final = 3
"""Most plans that a plan with its forecast costs."""
WHY_NOT: Final = 8
"""Most plans that why-not costs."""
_FILL: Final = 2_200
"""Millicores that the pods of a node ask for on average, of 3,920."""
_WORKLOADS: Final = 4
"""Nodes to a workload."""


def run(*, quick: bool) -> None:
    for nodes, pods in SIZES[: 2 if quick else len(SIZES)]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "cluster.json"
            _write(path, nodes, pods)
            one = _seconds(path, "plan", "--no-forecast")
            whole, changes = _seconds(path, "plan"), _seconds(path, "why-not")
        say(f"ebb plan, {nodes:,} nodes: with forecast / without", _ratio(whole, one), f"{WHOLE} at most")
        say("  ebb why-not / the same", _ratio(changes, one), f"{WHY_NOT} at most")
        assert whole <= WHOLE * one, f"ebb plan takes {whole:.1f} s of CPU on {nodes:,} nodes, one plan {one:.1f} s"
        assert changes <= WHY_NOT * one, f"ebb why-not takes {changes:.1f} s of CPU, one plan {one:.1f} s"


def _ratio(seconds: float, one: float) -> str:
    return f"{seconds:.1f} s / {one:.1f} s = {seconds / one:.1f}"


def _seconds(path: Path, *command: str) -> float:
    return cpu_of([sys.executable, "-m", "functions.cli.main", *command, "--dump", str(path)])


def _write(path: Path, nodes: int, pods: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write('{"apiVersion": "v1", "kind": "List", "items": [')
        file.writelines(f"{',' if number else ''}{json.dumps(item)}" for number, item in enumerate(_items(nodes, pods)))
        file.write("]}")


def _items(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    """Nodes with a little more and a little less than so many pods, and one of a DaemonSet each."""
    for number in range(nodes):
        on = dumps.name_of(number)
        yield dumps.node(number)
        for each in range(pods * (7 + number % 7) // 10):
            app = f"app-{(number * pods + each) % (nodes // _WORKLOADS)}"
            pod = dumps.pod(f"{app}-{number}-{each}", on, app=app, cpu=f"{_FILL // pods}m")
            pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = f"{6_000 // pods}Mi"
            yield pod
        agent = dumps.pod(f"agent-{number}", on, app="agent", kind="DaemonSet", cpu="100m")
        yield {**agent, "metadata": {**agent["metadata"], "namespace": "kube-system"}}
