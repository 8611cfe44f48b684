"""Fleets on a disk: dumps of several clusters, and installations whose state is an SQLite file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from functions.cli.fleet.cluster_reading import SourceResult, plan_source
from functions.cli.fleet.installations import InstallationResult, ask_installation
from functions.cli.fleet.sources import ClusterSource, FleetPlanning, InstallationSource
from functions.cli.input.options import read_profile
from shared.adapters.process import SystemClock, system_time
from shared.adapters.sqlite import SqliteState
from shared.store.compare_and_set import change_cluster
from tests.cli import dumps
from tests.cli.running import ebb as ebb  # noqa: PLC0414 - one way to run it

POLICY = "dryRun: {dry_run}\nnodePools: {{default-pool: {{enabled: true}}, web-pool: {{enabled: true}}}}\n"
CUT_OFF = '{"apiVersion": "v1", "kind": "List", "items": ['


def dump(path: Path, name: str, nodes: int = 12, project: str = "p", *, cpu: str = "300m") -> Path:
    """Write a cluster's dump; name and project are those that its nodes tell."""
    text = dumps.write(path, nodes, cpu=cpu).read_text().replace("gke-prod", f"gke-{name}")
    text = text.replace("gce://p/", f"gce://{project}/")
    found = json.loads(text)
    for item in found["items"]:
        if item["kind"] == "Namespace" and item["metadata"]["name"] == "kube-system":
            item["metadata"]["uid"] = name
    path.write_text(json.dumps(found))
    return path


def planned(*paths: Path) -> tuple[SourceResult, ...]:
    """Read and plan in this process."""
    return tuple(plan_source(ClusterSource(path.name, (path,)), FleetPlanning()) for path in paths)


def cut_off(path: Path) -> Path:
    path.write_text(CUT_OFF)
    return path


def asked(profile: Path) -> InstallationResult:
    source = InstallationSource(profile.stem, read_profile(profile))
    return InstallationResult(source, ask_installation(source))


def cluster_path(name: str, project: str = "p") -> str:
    return f"projects/{project}/locations/europe-west4/clusters/{name}"


def installation(home: Path, name: str, project: str = "p", *, dry_run: bool = True, **state: Any) -> Path:
    """Write a profile, a policy and a state, with what a pass left there: by default one that has just ended."""
    (home / "ebb").mkdir(parents=True, exist_ok=True)
    documents, policy = home / f"{name}.state", home / f"{name}.yaml"
    policy.write_text(POLICY.format(dry_run=str(dry_run).lower()))
    given: Mapping[str, Any] = {"last_pass": system_time(), **state}
    change_cluster(
        SqliteState(str(documents), cluster_path(name, project)), SystemClock(), lambda old, _: replace(old, **given)
    )
    names = {"EBB_CLUSTER": cluster_path(name, project), "EBB_STATE": f"sqlite:{documents}", "EBB_POLICY": str(policy)}
    return write_profile(home / "ebb" / f"{name}.env", names)


def write_profile(path: Path, variables: Mapping[str, str]) -> Path:
    path.write_text("\n".join(f"export {name}='{value}'" for name, value in variables.items()))
    return path
