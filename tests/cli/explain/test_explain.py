"""`ebb explain` from a dump to the page, for a node, a pod and a workload."""

from pathlib import Path

import pytest

from functions.cli.explain.resolve import find_matches, resolve_name
from shared.core.cluster import names
from shared.core.cluster.workloads import Workload
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, policy
from tests.cli import dumps
from tests.cli.running import ebb
from tests.depth import cases


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumps.write(tmp_path_factory.mktemp("explain") / "cluster.json", 24)


def _explain(dump: Path, *words: str) -> str:
    return ebb("explain", *words, "--dump", dump).output


@cases(
    "expected, word",
    ("of a node what its pods show", "pdb_never_allows", "0007"),
    ("of a node its pods", "shop/db-7 ", "0007"),
    ("of a node whether its pods fit", "All of them find a place", "0007"),
    ("of a pod its budget", "shop/db allows 0 now, 2 of 2 healthy", "shop/db-7"),
    ("of a pod its controller", "workload     shop/StatefulSet/db-5d4f8b", "shop/db-7"),
    ("of a pod what excludes the others", "excluded by", "web-5d4f8b-0010"),
    ("of a pod which nodes are excluded", "gke-prod-default-pool-1a2b3c4d-0008 of default-pool", "web-5d4f8b-0010"),
    ("of a pod which nodes could take it", "could take it now: all 12 of web-pool; ", "shop/web-5d4f8b-0000"),
    ("of a pod that nothing keeps", "The pod itself may be moved.", "web-5d4f8b-0010"),
    ("of a DaemonSet's pod that it goes with its node", "goes with its node", "logs-003"),
    ("of a workload what it keeps", "it alone keeps 2 nodes of $215 a month", "shop/StatefulSet/db-5d4f8b"),
)
def test_it_shows(expected: str, word: str, dump: Path) -> None:
    assert expected in _explain(dump, word)


def _committed(tmp_path: Path, amount: str) -> str:
    """Return a policy with so much of E2 committed, under which all nodes are underutilized."""
    policy = tmp_path / "policy.yaml"
    limits = "{scaleDownCPURequestRatioLimit: 1, scaleDownMemoryRequestRatioLimit: 1}"
    policy.write_text(
        "nodePools: {default-pool: {enabled: true}, web-pool: {enabled: true}}\n"
        f"defaults: {limits}\ncluster: {{commitments: {{families: {{e2: {amount}}}}}}}\n"
    )
    return str(policy)


def test_where_capacity_is_committed_what_a_workload_keeps_is_marked_as_list_prices(dump: Path, tmp_path: Path) -> None:
    policy = _committed(tmp_path, "{vcpu: 8, gib: 32}")
    shown = _explain(dump, "shop/StatefulSet/db-5d4f8b", "--policy", policy)
    assert "2 nodes of $215 a month at list prices" in shown


@cases(
    "expected, amount",
    ("all that stays is paid for", "14 nodes (covered_by_commitment: saves nothing before 2027-05-01)",
     "{vcpu: 80, gib: 320, until: 2027-05-01}"),
    ("each node costs something", "", "{vcpu: 8, gib: 32}"),
)  # fmt: skip
def test_why_not_counts_the_nodes_that_commitments_keep(expected: str, amount: str, dump: Path, tmp_path: Path) -> None:
    shown = ebb("why-not", "--dump", dump, "--policy", _committed(tmp_path, amount), "--top", "1").stdout
    assert expected in shown
    assert ("Kept by commitments" in shown) == bool(expected)


@pytest.mark.parametrize("words", [("plan",), ("explain", "0007"), ("why-not",)], ids=" ".join)
def test_an_answer_comes_first_and_what_it_rests_on_below(words: tuple[str, ...], dump: Path) -> None:
    lines = ebb(*words, "--dump", dump).output.splitlines()

    assert "What this rests on" in lines[3:]
    assert lines[lines.index("What this rests on") + 1].startswith("Without --policy")


def test_several_words_are_several_pages_before_one_set_of_notes(dump: Path) -> None:
    shown = _explain(dump, "0007", "shop/db-7")
    assert shown.count("A dump has no GKE API") == 1
    assert shown.count("\nWhat keeps") == 2


@cases(
    "expected, word",
    ("nothing", "no node 'nope', nor pod nor workload, among the 24 nodes", "nope"),
    ("nothing, with what is like it", "did you mean shop/web-5d4f8b-0013?", "shop/wb-5d4f8b-0013"),
    ("nothing, with a pool that is like it", "did you mean pool/web-pool?", "web-pol"),
    ("nothing, with a PDB that is like it", "did you mean pdb/shop/db?", "pdb/shop/dbs"),
    ("a pool", "ebb plan --pool web-pool", "pool/web-pool"),
    ("a PDB", "PodDisruptionBudget", "shop/db"),
    ("several nodes", "may mean gke-prod-default-pool-1a2b3c4d-0000, ", "0"),
)
def test_a_word_that_is_no_one_thing_is_a_mistake(expected: str, word: str, dump: Path) -> None:
    assert expected in _explain(dump, word)


@pytest.mark.parametrize("words", [("0007", "DUMP"), ("DUMP", "0007")], ids=" ".join)
def test_a_dump_may_stand_among_the_names(words: tuple[str, ...], dump: Path) -> None:
    shown = ebb("explain", *(word.replace("DUMP", str(dump)) for word in words))
    assert (shown.exit_code, shown.stdout) == (0, _explain(dump, "0007"))


@cases(
    "expected, words",
    ("a file that is not there", "nowhere.json does not exist", ("0007", "nowhere.json")),
    ("no name", "write ebb explain NODE cluster.json", ("cluster.json",)),
    ("a name longer than that of a file", "no node", ("n" * 300, "--dump", "DUMP")),
)
def test_a_file_in_place_of_a_name_is_a_mistake_in_one_sentence(
    expected: str, words: tuple[str, ...], dump: Path
) -> None:
    shown = ebb("explain", *(word.replace("DUMP", str(dump)) for word in words))
    assert (shown.exit_code, shown.stderr.count("\n")) == (2, 1)
    assert expected in shown.stderr


def test_what_is_meant_is_explained_though_another_word_means_nothing(dump: Path) -> None:
    shown = ebb("explain", "nope", "0007", "nil", "--dump", dump)
    assert "gke-prod-web-pool-1a2b3c4d-0007" in shown.stdout
    assert [line.split(",")[0] for line in shown.stderr.splitlines()] == ["ebb: no node 'nope'", "ebb: no node 'nil'"]
    assert shown.exit_code == 2


def test_a_pod_shows_what_it_takes_here_and_as_what_it_comes_back(dump: Path, tmp_path: Path) -> None:
    name, asked = "web-5d4f8b", {"cpu": "3500m", "memory": "512Mi"}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "main", "resources": {"requests": asked}}], "nodeSelector": {"disk": "ssd"}},
    }
    owner = {"kind": "ReplicaSet", "metadata": {"name": name, "namespace": "shop"}}
    items = [item for item in dumps.items(24) if (item["kind"], item["metadata"]["name"]) != ("ReplicaSet", name)]
    deployed = {**owner, "spec": {"replicas": 14, "template": template}}
    path = dumps.write_items(tmp_path / "larger.json", [*items, deployed, dumps.autoscaler("db", "3")])
    shown = " ".join(_explain(path, "shop/web-5d4f8b-0010").split())

    assert "comes back as 3500m CPU" in shown
    assert f"by the template of shop/ReplicaSet/{name}" in shown
    assert "requests 3500m" not in shown
    assert "its template adds nodeSelector" in shown
    assert "by VerticalPodAutoscaler shop/db" in " ".join(_explain(path, "shop/db-7").split())
    plain = _explain(dump, "shop/db-7")
    assert "comes back as" not in plain
    assert "its template adds" not in plain


@cases(
    "expected, on_pod, in_template",
    ("Ebb's", "-5, written by Ebb (steerScaleIn)", {names.DELETION_COST: "-5", names.STEERED: "-5"}, {}),
    ("its template's, into which a pod of Ebb's was copied",
     "-5, from its pod template, which carries Ebb's mark (ebb.internal/steered)",
     {names.DELETION_COST: "-5", names.STEERED: "-5"}, {names.STEERED: "-5"}),
    ("Ebb's, next to another mark in the template", "-5, written by Ebb (steerScaleIn)",
     {names.DELETION_COST: "-5", names.STEERED: "-5"}, {names.STEERED: "-7"}),
    ("somebody else's, written later", "7, which somebody wrote over Ebb's -5",
     {names.DELETION_COST: "7", names.STEERED: "-5"}, {}),
)  # fmt: skip
def test_a_pod_shows_whose_its_deletion_cost_is(
    expected: str, on_pod: dict[str, str], in_template: dict[str, str], tmp_path: Path
) -> None:
    web = dumps.pod("web-0", dumps.name_of(0))
    web["metadata"]["annotations"] = on_pod
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web-5d4f8b", "namespace": "shop"}}
    template = {"metadata": {"annotations": in_template}, "spec": {"containers": []}}
    items = [dumps.node(0), dumps.node(1), web, {**owner, "spec": {"replicas": 1, "template": template}}]
    path = dumps.write_items(tmp_path / "dump.json", items)

    assert f"deletion cost {expected}" in " ".join(_explain(path, "shop/web-0").split())


def _situation() -> Situation:
    pods = [
        pod("cart-0", on="gke-a-x7", namespace="shop", owner="ReplicaSet/cart-5d4f"),
        pod("cart-0", on="gke-a-y8", namespace="test", owner="StatefulSet/cart"),
        pod("kube-proxy-gke-a-x7", on="gke-a-x7", namespace="kube-system", owner="Node/gke-a-x7"),
        pod("shell", on="gke-a-y8", namespace="shop", owner="StatefulSet/shell"),
        pod("waits", namespace="shop"),
    ]
    workloads = {"shop/ReplicaSet/cart-5d4f": Workload("shop/Deployment/cart")}
    picture = cluster([node("gke-a-x7"), node("gke-a-y8")], pods, workloads=workloads)
    return Situation(picture, ClusterState(), policy())


@cases(
    "expected, word",
    ("a node", ["gke-a-x7"], "gke-a-x7"),
    ("a node's end, although a static pod ends with it", ["gke-a-x7"], "x7"),
    ("a pod with its namespace", ["shop/cart-0"], "shop/cart-0"),
    ("a pod's name in two namespaces", ["shop/cart-0", "test/cart-0"], "cart-0"),
    ("a workload with its namespace", ["shop/Deployment/cart"], "shop/cart"),
    ("a workload with its kind", ["test/StatefulSet/cart"], "statefulset/cart"),
    ("a workload's name", ["shop/Deployment/cart", "test/StatefulSet/cart"], "cart"),
    ("a pod called as its workload", ["shop/shell"], "shop/shell"),
    ("both, by the name alone", ["shop/shell", "shop/StatefulSet/shell"], "shell"),
    ("a node, as for kubectl", ["gke-a-x7"], "node/gke-a-x7"),
    ("a node's end, in the plural", ["gke-a-x7"], "nodes/x7"),
    ("a pod, as for kubectl", ["shop/shell"], "pod/shell"),
    ("a pod with its namespace, as short", ["test/cart-0"], "po/test/cart-0"),
    ("a Deployment, in the plural", ["shop/Deployment/cart"], "deployments/cart"),
    ("a StatefulSet, as short", ["shop/StatefulSet/shell"], "sts/shell"),
    ("another kind", [], "deploy/shell"),
    ("nothing", [], "nothing"),
    ("a pod on no node", [], "waits"),
)
def test_a_word_means(expected: list[str], word: str) -> None:
    assert [match_.name for match_ in find_matches(_situation(), word)] == expected


def test_a_workload_s_pods_are_those_of_all_its_replica_sets() -> None:
    assert [pod_.key for pod_ in resolve_name(_situation(), "shop/Deployment/cart").pods] == ["shop/cart-0"]
