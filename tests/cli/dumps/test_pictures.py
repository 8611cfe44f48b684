"""Two prints of one cluster are not added up: of what both hold, the newer counts."""

from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps import DumpedCluster, read_dumps
from shared.core.cluster.names import KUBE_SYSTEM
from tests.cli.dumps.test_reading import a_node, a_pod, listed, write

EARLY, LATE = "2026-03-04T10:00:00Z", "2026-03-04T11:00:00Z"
Object = dict[str, Any]


def at(time: str, *objects: Object) -> list[Object]:
    """What was printed at that time: a namespace was made then."""
    stamp = {"kind": "Namespace", "metadata": {"name": f"made-{time}", "creationTimestamp": time}}
    return [*objects, stamp]


def on(node: str, name: str, namespace: str = "default") -> Object:
    found = a_pod(name, nodeName=node)
    found["metadata"] |= {"namespace": namespace, "uid": f"uid-{name}-{node}"}
    return found


def system(node: str) -> Object:
    return on(node, f"logs-{node}", KUBE_SYSTEM)


def budget(name: str, allowed: int) -> Object:
    meta = {"name": name, "namespace": "default", "generation": 1}
    return {"kind": "PodDisruptionBudget", "metadata": meta, "spec": {"selector": {}},
            "status": {"disruptionsAllowed": allowed, "observedGeneration": 1}}  # fmt: skip


def read(tmp_path: Path, *prints: list[Object]) -> DumpedCluster:
    files = [write(tmp_path / f"{number}.json", listed(*objects)) for number, objects in enumerate(prints)]
    (found,) = read_dumps(files)
    (turned,) = read_dumps(files[::-1])
    assert names(turned) == names(found)
    return found


def names(found: DumpedCluster) -> tuple[list[str], list[str]]:
    reading = found.reading
    return sorted(node.name for node in reading.nodes), sorted(f"{pod.name}@{pod.node}" for pod in reading.pods)


N1, N2 = a_node("n1"), a_node("n2")
OWN: Object = {"kind": "Namespace", "metadata": {"name": KUBE_SYSTEM, "uid": "u"}}
"""By which two files are of one cluster."""


NEWER: Any = [
    pytest.param((["n1", "n2"], ["a@n2", "c@n1"]), [N1, N2, on("n1", "a"), on("n1", "b")],
                 [N1, N2, on("n2", "a"), on("n1", "c")], id="pods were moved, ended and made"),
    pytest.param((["n1"], ["b@n1"]), [N1, on("n1", "a")], [N1, on("n1", "b")], id="no pod is the same"),
    pytest.param((["n2"], ["a@n2"]), [N1, on("n1", "a")], [N1, N2, on("n2", "a")][1:], id="no node is the same"),
    pytest.param((["n1"], ["a@n1"]), [N1, N2, on("n1", "a"), on("n2", "b")], [N1, on("n1", "a")],
                 id="a node is gone with its pod"),
    pytest.param((["n1"], ["a@n1", "logs-n1@n1"]), [N1, on("n1", "a"), system("n1"), on("n1", "b", "gone")],
                 [N1, on("n1", "a"), system("n1")], id="a namespace is gone"),
    pytest.param((["n1"], ["a@n1", "b@n1", "c@n1", "d@n1", "logs-n1@n1"]),
                 [N1, on("n1", "a"), *(on("n1", name, name) for name in "bcd"), system("n1")],
                 [N1, on("n1", "a"), system("n1")], id="two namespaces of five"),
]  # fmt: skip
TOGETHER: Any = [
    pytest.param((["n1"], ["a@n1", "b@n1"]), [N1, on("n1", "a")], [N1, on("n1", "b", "other")],
                 id="each with a namespace of its own"),
    pytest.param((["n1", "n2"], ["a@n1", "b@n2"]), [N1, on("n1", "a"), on("n2", "b")],
                 [N2, on("n1", "a"), on("n2", "b")], id="each with the nodes of a pool and all pods"),
    pytest.param((["n1"], ["a@n1", "b@n1"]), [N1, on("n1", "a"), on("n1", "b")], [on("n1", "b")],
                 id="a pod was printed once more"),
    pytest.param((["n1", "n2"], ["a@n1"]), [N1, N2, on("n1", "a")], [N1, N2, on("n1", "a")],
                 id="nothing has changed, an empty node neither"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("hours", "expected", "early", "late"),
    [
        *(pytest.param(["10", "11"], *row.values, id=f"the newer counts: {row.id}") for row in NEWER),
        *(pytest.param([], *row.values, id=f"pieces are put together: {row.id}") for row in TOGETHER),
    ],
)
def test_of_two_snapshots_of_one_cluster_the_newer_counts_and_pieces_are_put_together(
    hours: list[str], expected: tuple[list[str], list[str]], early: list[Object], late: list[Object], tmp_path: Path
) -> None:
    found = read(tmp_path, at(EARLY, *early, OWN), at(LATE, *late, OWN))

    assert names(found) == expected
    assert [f"{one.time:%H}" for one in found.prints] == hours


def test_a_kind_a_file_printed_twice_is_two_snapshots_too(tmp_path: Path) -> None:
    early = at(EARLY, N1, N2), at(EARLY, on("n1", "a"), system("n1"), system("n2"))
    late = at(LATE, N1), at(LATE, on("n1", "b"), system("n1"))

    assert names(read(tmp_path, *early, *late)) == (["n1"], ["b@n1", "logs-n1@n1"])


def test_objects_of_other_kinds_are_the_newer_ones_where_these_were_printed(tmp_path: Path) -> None:
    early, late = [N1, on("n1", "a"), budget("old", 0), budget("web", 0)], [N1, on("n1", "a")]

    kept = read(tmp_path, at(EARLY, *early), at(LATE, *late))
    newer = read(tmp_path, at(EARLY, *early), at(LATE, *late, budget("web", 1)))

    assert {budget.key for budget in kept.reading.disruption_budgets} == {"default/old", "default/web"}
    assert [(found.key, found.disruptions_allowed) for found in newer.reading.disruption_budgets] == [
        ("default/web", 1)
    ]
