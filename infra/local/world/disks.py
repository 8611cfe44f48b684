"""What stands behind pods' volumes: claims that are bound, as their owners' manifests have them, and their volumes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from infra.local.world.kinds import Json
from infra.local.world.pods import is_finished, node_of
from infra.local.world.store import Key

READS = ("persistentvolumeclaims", "persistentvolumes")
"""The kinds that a `Disks` is made of."""


def claims_of(pod: Json) -> Iterator[Key]:
    """Namespace and name of each claim that a pod uses."""
    for volume in pod["spec"].get("volumes") or []:
        if name := (volume.get("persistentVolumeClaim") or {}).get("claimName"):
            yield pod["metadata"]["namespace"], name


@dataclass(frozen=True)
class Disks:
    """The volume's name of each claim (empty: not bound), and the volumes by name."""

    claims: dict[Key, str] = field(default_factory=dict)
    volumes: dict[str, Json] = field(default_factory=dict)

    def volume(self, key: Key) -> Json | None:
        """The volume that a claim is bound to, or None."""
        return self.volumes.get(self.claims.get(key, ""))

    def attached(self, pod: Json) -> set[str]:
        """The names of the volumes that the pod needs attached."""
        return {self.claims[key] for key in claims_of(pod) if self.volume(key) is not None}

    def is_held_elsewhere(self, pod: Json, pods: Sequence[Json]) -> bool:
        """Whether a disk of the pod is still attached to another node, where a pod that uses it has not ended."""
        own = self.attached(pod)
        others = (other for other in pods if node_of(other) not in {"", node_of(pod)} and not is_finished(other))
        return bool(own) and any(not own.isdisjoint(self.attached(other)) for other in others)


def disks_of(read: Callable[[str], Sequence[Json]]) -> Disks:
    """What stands behind volumes; `read` lists a kind. Without claims nothing else is read."""
    found = {(claim["metadata"]["namespace"], claim["metadata"]["name"]): claim for claim in read(READS[0])}
    claims = {key: claim["spec"].get("volumeName", "") for key, claim in found.items()}
    return Disks(claims, {volume["metadata"]["name"]: volume for volume in read(READS[1])} if claims else {})
