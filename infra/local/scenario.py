"""Reads a scenario strictly. Names in the file are camelCase; durations are seconds."""

from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from infra.local.world.kinds import Json
from infra.local.world.kubelet import KubeletTimes

DEMO = Path(__file__).parent / "scenarios" / "demo.yaml"


class _ScenarioModel(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True, frozen=True)


class Autoscaling(_ScenarioModel):
    """The limits of a pool, in each of its zones."""

    enabled: bool = True
    min_node_count: int = 0
    max_node_count: int = 100
    location_policy: Literal["BALANCED"] = "BALANCED"


class MachinePool(_ScenarioModel):
    """A node pool; `count` nodes are dealt over the zones in turn when the world begins."""

    name: str
    count: int = 0
    machine_type: str = "e2-standard-4"
    zones: list[str] = ["europe-west4-a", "europe-west4-b", "europe-west4-c"]
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    autoscaling: Autoscaling = Autoscaling()


class WorkloadBudget(_ScenarioModel):
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class WorkloadSpec(_ScenarioModel):
    """A workload and its running pods.

    `nodes` names where the first pods run: pool name and index as in `web/3`, or a range `web/0-5`, used in turn;
    without it the scheduler places them. `neverReady` makes every replacement stay unready.
    """

    kind: Literal["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod"] = "Deployment"
    name: str
    namespace: str = "default"
    replicas: int = 1
    requests: dict[str, str] = {}
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    grace: int = 30
    shutdown: float | None = 2
    ready_after: float | None = None
    never_ready: bool = False
    priority: int = 0
    nodes: list[str] = []
    pdb: WorkloadBudget | None = None
    resized: dict[str, str] = {}
    """What its first pods request since they were resized in place; the next ones request what the template has."""
    controller: Json = {}
    """Merged into the controller's spec: a Deployment's strategy, podReplacementPolicy …"""
    claims: list[Json] = []
    """A StatefulSet's volumeClaimTemplates: its pods name the claims, which are manifests of their own."""
    pod: Json = {}
    """Merged into the pod's spec: nodeSelector, affinity, tolerations, volumes, topologySpreadConstraints …"""


class AutoscalerSpec(_ScenarioModel, extra="allow"):
    """`enabled: false` runs none; any further field is one of AutoscalerSettings, and replaces the profile's."""

    enabled: bool = True
    fail_deletions: list[str] = []
    """Nodes as `pool/index` whose deletion fails."""


class Scenario(_ScenarioModel):
    cluster: str = Field(
        "projects/local/locations/europe-west4/clusters/demo", pattern=r"^projects/.+/locations/.+/clusters/.+$"
    )
    profile: Literal["BALANCED", "OPTIMIZE_UTILIZATION"] = "BALANCED"
    seed: int = 1
    pools: list[MachinePool]
    workloads: list[WorkloadSpec] = []
    kubelet: KubeletTimes = KubeletTimes()
    autoscaler: AutoscalerSpec = AutoscalerSpec()
    topics: list[str] = []
    objects: dict[str, str] = {}
    """Bucket objects: `bucket/key` to text."""
    manifests: list[Json] = []
    """Any further Kubernetes objects, created as they stand."""


def parse(text: str) -> Scenario:
    """Return a scenario of YAML text; pydantic's ValidationError names every fault with its path."""
    return Scenario.model_validate(yaml.safe_load(text))


def load(path: Path) -> Scenario:
    return parse(path.read_text(encoding="utf-8"))
