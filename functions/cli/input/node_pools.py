"""The pools of a file that gcloud wrote, as the GKE API describes them: minimums, versions, autoscaling, profile."""

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from functions.cli.dumps.files import name_of
from functions.cli.input.files import read_bytes
from functions.cli.input.readers import Reading
from functions.cli.output.format import some
from shared.adapters.gke import reading_of
from shared.errors import BadInput

COMMAND: Final = "gcloud container node-pools list --cluster NAME --location LOCATION --format json"
"""`clusters describe NAME` has the autoscaling profile, too."""
Decoded = TypeVar("Decoded")
_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)s")


class _Word(str):
    """A value of an enum, which has a name in the API's own types."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)


class _GcloudPart(msgspec.Struct, frozen=True, rename="camel"):
    """A part of gcloud's answer under the API's names; of what it leaves out the API's defaults hold."""


class _Scaling(_GcloudPart, frozen=True):
    enabled: bool = False
    min_node_count: int = 0
    total_min_node_count: int = 0


class _Placement(_GcloudPart, frozen=True):
    type_: _Word = msgspec.field(name="type", default=_Word())
    policy_name: str = ""
    tpu_topology: str = ""


class _Queued(_GcloudPart, frozen=True):
    enabled: bool = False


class _BlueGreen(_GcloudPart, frozen=True):
    phase: str = ""


class _Update(_GcloudPart, frozen=True):
    blue_green_info: _BlueGreen = _BlueGreen()


class _Config(_GcloudPart, frozen=True):
    delay: str = msgspec.field(name="consolidationDelay", default="")

    @property
    def consolidation_delay(self) -> timedelta | None:
        found = _SECONDS.fullmatch(self.delay)
        return timedelta(seconds=float(found[1])) if found else None


class _Pool(_GcloudPart, frozen=True):
    name: str
    autoscaling: _Scaling = _Scaling()
    status: _Word = _Word()
    version: str = ""
    update_info: _Update = _Update()
    placement_policy: _Placement = _Placement()
    queued_provisioning: _Queued = _Queued()
    config: _Config = _Config()


class _Limit(_GcloudPart, frozen=True):
    resource_type: str = ""
    minimum: int = 0


class _ClusterScaling(_GcloudPart, frozen=True):
    autoscaling_profile: _Word = _Word()
    resource_limits: tuple[_Limit, ...] = ()


class _GcloudCluster(_GcloudPart, frozen=True):
    node_pools: tuple[_Pool, ...]
    autoscaling: _ClusterScaling = _ClusterScaling()


def with_node_pools(readings: tuple[Reading, ...], path: Path) -> tuple[Reading, ...]:
    """Return the reading of one cluster with the pools of gcloud's file. Raises BadInput: it is none, or lacks one."""
    reading, *others = readings
    if others:
        raise BadInput("--node-pools: the file is of one cluster; name the dump of one.")
    cluster, name = _read(path), name_of(path)
    pools = reading_of(cluster)
    missing = sorted({node.pool for node in reading.cluster_reading.nodes if node.pool} - set(pools.pools))
    if missing:
        raise BadInput(f"--node-pools: {name} lacks {some(missing)} of {reading.cluster}; write it again: {COMMAND}")
    note = f"Pools are those of {name}: their autoscaling, minimum sizes and versions."
    known = bool(cluster.autoscaling.autoscaling_profile)
    return (replace(reading, pools=pools, note=note, profile_known=known),)


def _read(path: Path) -> _GcloudCluster:
    data, where = read_bytes(path), f"--node-pools: {name_of(path)}"
    try:
        if data.lstrip().startswith(b"["):
            return _GcloudCluster(_decode(data, tuple[_Pool, ...]))
        return _decode(data, _GcloudCluster)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: {error}; write it again: {COMMAND}") from error
    except msgspec.DecodeError as error:
        raise BadInput(f"{where}: is no JSON ({error}); write it again: {COMMAND}") from error


def _decode(data: bytes, kind: type[Decoded]) -> Decoded:
    """Return what gcloud wrote; it writes large numbers as text."""
    return msgspec.json.decode(data, type=kind, strict=False, dec_hook=lambda word, value: word(value))
