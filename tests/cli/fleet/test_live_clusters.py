"""Contexts and installations over HTTP: the simulated GKE, with the clients that production uses."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.adapters.scripted import Say, scripted, status
from tests.cli.fleet.fleets import POLICY, ebb, write_profile
from tests.cli.test_from_cluster import addresses as addresses  # noqa: PLC0414 - a fixture


@pytest.fixture
def kubeconfig(addresses: dict[str, Any], tmp_path: Path) -> Iterator[Path]:
    """Write a kubeconfig of two contexts: the cluster, and one whose server lets nobody in."""
    found = yaml.safe_load(Path(addresses["kubeconfig"]).read_text())
    first = found["contexts"][0]
    found["contexts"] = [
        {"name": "gke_shop_west_prod", "context": first["context"]},
        {"name": "gke_shop_west_lost", "context": {**first["context"], "cluster": "lost"}},
        {"name": "minikube", "context": first["context"]},
    ]
    found["current-context"] = "minikube"
    path = tmp_path / "kubeconfig"
    with scripted() as lost:
        lost.says(*[Say(401, status(401, "Unauthorized"))] * 99)
        found["clusters"].append({"name": "lost", "cluster": {"server": lost.address}})
        path.write_text(yaml.safe_dump(found))
        yield path


def test_contexts_are_read_by_name_or_pattern_and_one_that_refuses_is_a_row(kubeconfig: Path) -> None:
    result = ebb("fleet", "--kubeconfig", kubeconfig, "--context", "gke_shop_*", "-o", "json")
    found = {cluster["cluster"]: cluster for cluster in json.loads(result.stdout)["clusters"]}
    assert result.exit_code == 1
    assert list(found) == [f"projects/shop/locations/west/clusters/{name}" for name in ("prod", "lost")]
    read, lost = found.values()
    assert (read["totals"]["nodes"], read["faults"], lost["totals"]) == (3, [], None)
    assert lost["faults"][0].startswith("Kubernetes API")


def test_a_pattern_without_a_context_shows_which_there_are(kubeconfig: Path) -> None:
    result = ebb("fleet", "--kubeconfig", kubeconfig, "--context", "gke_other_*")
    assert result.exit_code == 2
    assert "there are gke_shop_west_prod, gke_shop_west_lost, minikube." in result.stderr


def installed(folder: Path, dry_run: str, **variables: str) -> Path:
    """Write the profile of an installation with a new state, and its policy."""
    policy = folder / "policy.yaml"
    policy.write_text(POLICY.format(dry_run=dry_run))
    own = {"EBB_STATE": f"sqlite:{folder / 'state'}", "EBB_POLICY": str(policy), **variables}
    return write_profile(folder / "prod.env", own)


def test_a_context_shares_the_row_of_its_installation(addresses: dict[str, Any], kubeconfig: Path) -> None:
    _, project, _, location, _, name = addresses["cluster"].split("/")
    context = f"gke_{project}_{location}_{name}"
    kubeconfig.write_text(kubeconfig.read_text().replace("gke_shop_west_prod", context))
    profile = installed(kubeconfig.parent, "false", EBB_CLUSTER=addresses["cluster"], EBB_GKE_API="none")
    result = ebb("fleet", "--kubeconfig", kubeconfig, "--context", context, "--cluster", profile, "-o", "json")
    (row,) = json.loads(result.stdout)["clusters"]
    assert (result.exit_code, row["source"], row["totals"]["nodes"]) == (0, context, 3)
    assert row["installation"]["mode"] == "live"
    assert row["policy_hash"]


def test_an_installation_is_read_whole_with_its_own_marks_and_policy(addresses: dict[str, Any], tmp_path: Path) -> None:
    names = {"EBB_CLUSTER": "cluster", "EBB_GKE_API": "gke", "EBB_KUBECONFIG": "kubeconfig"}
    profile = installed(tmp_path, "true", **{variable: addresses[name] for variable, name in names.items()})
    result = ebb("fleet", "--cluster", profile, "-o", "json")
    (row,) = json.loads(result.stdout)["clusters"]
    assert (result.exit_code, row["faults"]) == (0, [])
    assert (row["cluster"], row["totals"]["nodes"]) == (addresses["cluster"], 3)
    assert row["policy_hash"]
    assert (row["installation"]["mode"], row["installation"]["troubles"][0]["trouble"]) == ("dry_run", "no_pass")
    assert "Marks, claims and back-offs are those of the installation" in result.stderr
