"""A dump that leaves something out says so: what it leaves out must not pass for room that is free."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from functions.cli.dumps.files import MAKE_ONE
from functions.cli.input.inputs import inputs_of
from functions.cli.input.missing_data import without_requests
from functions.cli.input.options import Sources
from functions.cli.input.readers import BY_LABELS, Reading
from shared.core.cluster.pod import Pod
from shared.core.cluster.storage import Storage
from shared.ports import ClusterReading
from tests.builders import NOW, cluster, node, pod
from tests.cli import dumps
from tests.cli.running import ebb, read_json
from tests.depth import cases

Items = list[dict[str, Any]]
NODES = 12


def written(folder: Path, keep: Callable[[dict[str, Any]], bool] = lambda _: True) -> Path:
    return dumps.write_items(folder / "night.json", filter(keep, dumps.items(NODES)))


def of(item: dict[str, Any], *kinds: str) -> bool:
    return item["kind"] in kinds


def pods_of(pool: str, *cpu: float) -> list[Pod]:
    return [pod(f"{pool}{number}", on=pool, cpu=request) for number, request in enumerate(cpu)]


@cases(
    "expected, pods",
    ("two are too few to name", (), pods_of("a", 1, 1, 0, 0)),
    ("less than a tenth is too little to name", (), pods_of("a", *[0] * 3, *[1] * 28)),
    ("a tenth", ("in a 3 of 30 pods request no CPU",), pods_of("a", *[0] * 3, *[1] * 27)),
    ("pool by pool", ("in a 3 of 3 pods request no CPU, in b 3 of 4 pods request no CPU",),
     [*pods_of("a", 0, 0, 0), *pods_of("b", 0, 0, 0, 1)]),
)  # fmt: skip
def test_pools_with_many_pods_without_requests_are_named(expected: tuple[str, ...], pods: list[Pod]) -> None:
    told = without_requests(cluster([node("a", pool="a"), node("b", pool="b")], pods))
    assert [note.split(": ")[1].rstrip(".") for note in told] == list(expected)


def test_a_dump_without_pods_is_refused_with_the_command_to_run(tmp_path: Path) -> None:
    shown = ebb("plan", "--dump", written(tmp_path, lambda item: not of(item, "Pod")), "--potential")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr == (
        f"ebb: night.json: holds 12 nodes and no pods, so every node would look empty; {MAKE_ONE}.\n"
    )


@cases(
    "expected, namespace",
    ("of one namespace", "Only pods of namespace shop are in the dump, none of kube-system", "shop"),
    ("of kube-system alone", "Only pods of namespace kube-system are in the dump:", "kube-system"),
)
def test_the_pods_of_some_namespaces_make_every_figure_partial(expected: str, namespace: str, tmp_path: Path) -> None:
    dump = written(tmp_path, lambda item: not of(item, "Pod") or item["metadata"]["namespace"] == namespace)

    shown = ebb("plan", "--dump", dump, "--potential").output.splitlines()
    document = read_json("plan", "--dump", dump, "--potential")

    assert shown[0].startswith(f"warning: {expected}")
    assert shown[0].endswith("every figure is partial, and there is no potential; print it again with -A.")
    assert [
        title for title in ("Nodes", "This pass") if not [x for x in shown if x.startswith(f"{title} (partial)")]
    ] == []
    assert [line for line in shown if line.startswith("Potential")] == []
    assert shown[-1] == ("Partial: not all pods are known, so savings are unknown; print it again with -A.")
    assert "$0" not in "".join(shown)
    assert document["partial"].startswith(expected)
    assert document["potential"] is None


def test_a_whole_dump_is_not_partial_and_nothing_is_missed(tmp_path: Path) -> None:
    shown = ebb("plan", "--dump", written(tmp_path), "--potential", "-o", "json")
    document = json.loads(shown.stdout)
    assert (document["partial"], document["potential"] is None) == (None, False)
    assert "PodDisruptionBudgets are" not in shown.stderr
    assert "Namespaces are" not in shown.stderr


@cases(
    "expected, kind",
    ("no PodDisruptionBudgets", "No PodDisruptionBudgets are in the dump", "PodDisruptionBudget"),
    ("no Namespaces", "No Namespaces are in the dump: what a namespace's labels and annotations ask for is not seen",
     "Namespace"),
    ("no workloads", "No ReplicaSets, Deployments and StatefulSets are known here: no rollout is seen", "ReplicaSet"),
)  # fmt: skip
def test_what_a_kind_that_was_not_printed_means_is_shown(expected: str, kind: str, tmp_path: Path) -> None:
    without = written(tmp_path, lambda item: not of(item, kind))
    assert expected in ebb("plan", "--dump", without, "-o", "json").stderr


def test_a_list_that_an_account_may_not_read_is_shown_with_the_right() -> None:
    reading = ClusterReading((node("n1"),), (pod("p", on="n1"),), (), {}, storage=Storage(unread=("csinodes",)))
    notes = inputs_of(Sources(), None, Reading("prod", reading, BY_LABELS, NOW, "")).notes
    assert "Pods with volume claims stay where they are: no csinodes are known; let this account list them." in notes
