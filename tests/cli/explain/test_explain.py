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


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumps.write(tmp_path_factory.mktemp("explain") / "cluster.json", 24)


def _explain(dump: Path, *words: str) -> str:
    return ebb("explain", *words, "--dump", dump).output


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param("pdb_never_allows", "0007", id="of a node what its pods show"),
        pytest.param("shop/db-7 ", "0007", id="of a node its pods"),
        pytest.param("All of them find a place", "0007", id="of a node whether its pods fit"),
        pytest.param("shop/db allows 0 now, 2 of 2 healthy", "shop/db-7", id="of a pod its budget"),
        pytest.param("workload     shop/StatefulSet/db-5d4f8b", "shop/db-7", id="of a pod its controller"),
        pytest.param("other nodes", "shop/db-7", id="of a pod how many nodes could take it"),
        pytest.param("excluded by", "web-5d4f8b-0010", id="of a pod what excludes the others"),
        pytest.param("gke-prod-default-pool-1a2b3c4d-0008 of default-pool", "web-5d4f8b-0010",
                     id="of a pod which nodes are excluded"),
        pytest.param("could take it now: all 12 of web-pool; ", "shop/web-5d4f8b-0000",
                     id="of a pod which nodes could take it"),
        pytest.param("The pod itself may be moved.", "web-5d4f8b-0010", id="of a pod that nothing keeps"),
        pytest.param("goes with its node", "logs-003", id="of a DaemonSet's pod that it goes with its node"),
        pytest.param("it alone keeps 2 nodes of $215 a month", "shop/StatefulSet/db-5d4f8b",
                     id="of a workload what it keeps"),
    ],
)  # fmt: skip
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


@pytest.mark.parametrize(
    ("expected", "amount"),
    [
        pytest.param(
            "14 nodes (covered_by_commitment: saves nothing before 2027-05-01)",
            "{vcpu: 80, gib: 320, until: 2027-05-01}",
            id="all that stays is paid for",
        ),
        pytest.param("", "{vcpu: 8, gib: 32}", id="each node costs something"),
    ],
)
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


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param("no node 'nope', nor pod nor workload, among the 24 nodes", "nope", id="nothing"),
        pytest.param("did you mean shop/web-5d4f8b-0013?", "shop/wb-5d4f8b-0013", id="nothing, with what is like it"),
        pytest.param("did you mean pool/web-pool?", "web-pol", id="nothing, with a pool that is like it"),
        pytest.param("did you mean pdb/shop/db?", "pdb/shop/dbs", id="nothing, with a PDB that is like it"),
        pytest.param("ebb plan --pool web-pool", "pool/web-pool", id="a pool"),
        pytest.param("PodDisruptionBudget", "shop/db", id="a PDB"),
        pytest.param("may mean gke-prod-default-pool-1a2b3c4d-0000, ", "0", id="several nodes"),
    ],
)
def test_a_word_that_is_no_one_thing_is_a_mistake(expected: str, word: str, dump: Path) -> None:
    assert expected in _explain(dump, word)


@pytest.mark.parametrize("words", [("0007", "DUMP"), ("DUMP", "0007")], ids=" ".join)
def test_a_dump_may_stand_among_the_names(words: tuple[str, ...], dump: Path) -> None:
    shown = ebb("explain", *(word.replace("DUMP", str(dump)) for word in words))
    assert (shown.exit_code, shown.stdout) == (0, _explain(dump, "0007"))


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        pytest.param("nowhere.json does not exist", ("0007", "nowhere.json"), id="a file that is not there"),
        pytest.param("write ebb explain NODE cluster.json", ("cluster.json",), id="no name"),
        pytest.param("no node", ("n" * 300, "--dump", "DUMP"), id="a name longer than that of a file"),
    ],
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
    autoscaler = {
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"targetRef": {"kind": "StatefulSet", "name": "db-5d4f8b"}},
        "status": {"recommendation": {"containerRecommendations": [{"containerName": "main", "target": {"cpu": "3"}}]}},
    }
    larger = [*items, {**owner, "spec": {"replicas": 14, "template": template}}, autoscaler]
    path = dumps.write_items(tmp_path / "larger.json", larger)
    shown = " ".join(_explain(path, "shop/web-5d4f8b-0010").split())

    assert "comes back as 3500m CPU" in shown
    assert f"by the template of shop/ReplicaSet/{name}" in shown
    assert "requests 3500m" not in shown
    assert "its template adds nodeSelector" in shown
    assert "by VerticalPodAutoscaler shop/db" in " ".join(_explain(path, "shop/db-7").split())
    plain = _explain(dump, "shop/db-7")
    assert "comes back as" not in plain
    assert "its template adds" not in plain


@pytest.mark.parametrize(
    ("expected", "on_pod", "in_template"),
    [
        pytest.param("-5, written by Ebb (steerScaleIn)", {names.DELETION_COST: "-5", names.STEERED: "-5"}, {},
                     id="Ebb's"),
        pytest.param("-5, from its pod template, which carries Ebb's mark (ebb.internal/steered)",
                     {names.DELETION_COST: "-5", names.STEERED: "-5"}, {names.STEERED: "-5"},
                     id="its template's, into which a pod of Ebb's was copied"),
        pytest.param("-5, written by Ebb (steerScaleIn)", {names.DELETION_COST: "-5", names.STEERED: "-5"},
                     {names.STEERED: "-7"}, id="Ebb's, next to another mark in the template"),
        pytest.param("7, which somebody wrote over Ebb's -5", {names.DELETION_COST: "7", names.STEERED: "-5"}, {},
                     id="somebody else's, written later"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param(["gke-a-x7"], "gke-a-x7", id="a node"),
        pytest.param(["gke-a-x7"], "x7", id="a node's end, although a static pod ends with it"),
        pytest.param(["shop/cart-0"], "shop/cart-0", id="a pod with its namespace"),
        pytest.param(["shop/cart-0", "test/cart-0"], "cart-0", id="a pod's name in two namespaces"),
        pytest.param(["shop/Deployment/cart"], "shop/cart", id="a workload with its namespace"),
        pytest.param(["test/StatefulSet/cart"], "statefulset/cart", id="a workload with its kind"),
        pytest.param(["shop/Deployment/cart", "test/StatefulSet/cart"], "cart", id="a workload's name"),
        pytest.param(["shop/shell"], "shop/shell", id="a pod called as its workload"),
        pytest.param(["shop/shell", "shop/StatefulSet/shell"], "shell", id="both, by the name alone"),
        pytest.param(["gke-a-x7"], "node/gke-a-x7", id="a node, as for kubectl"),
        pytest.param(["gke-a-x7"], "nodes/x7", id="a node's end, in the plural"),
        pytest.param(["shop/shell"], "pod/shell", id="a pod, as for kubectl"),
        pytest.param(["test/cart-0"], "po/test/cart-0", id="a pod with its namespace, as short"),
        pytest.param(["shop/Deployment/cart"], "deployments/cart", id="a Deployment, in the plural"),
        pytest.param(["shop/StatefulSet/shell"], "sts/shell", id="a StatefulSet, as short"),
        pytest.param([], "deploy/shell", id="another kind"),
        pytest.param([], "nothing", id="nothing"),
        pytest.param([], "waits", id="a pod on no node"),
    ],
)
def test_a_word_means(expected: list[str], word: str) -> None:
    assert [match_.name for match_ in find_matches(_situation(), word)] == expected


def test_a_workload_s_pods_are_those_of_all_its_replica_sets() -> None:
    assert [pod_.key for pod_ in resolve_name(_situation(), "shop/Deployment/cart").pods] == ["shop/cart-0"]
