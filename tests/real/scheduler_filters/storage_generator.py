"""Storage as GKE makes it, drawn for pods, next to valid values that differ by little and are read otherwise."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tests.real.scheduler_filters.program import Manifest

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
GCE_ZONE = "topology.gke.io/zone"
PD, FILESTORE, LVM = "pd.csi.storage.gke.io", "filestore.csi.storage.gke.io", "lvm.example.com"
DEFAULT = "standard-rwo"


def _class(name: str, provisioner: str, mode: str = "WaitForFirstConsumer", **more: Any) -> Manifest:
    notes = {"storageclass.kubernetes.io/is-default-class": "true"} if name == DEFAULT else {}
    meta = {"name": name, "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": notes}
    return {"metadata": meta, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def _topology(*terms: Mapping[str, Sequence[str]]) -> Manifest:
    rows = [[{"key": key, "values": values} for key, values in term.items()] for term in terms]
    return {"allowedTopologies": [{"matchLabelExpressions": row} for row in rows]}


CLASSES = (
    _class(DEFAULT, PD),
    _class("zone-a", PD, **_topology({GCE_ZONE: ["a"]})),
    _class("two-terms", PD, **_topology({ZONE: ["b"]}, {GCE_ZONE: ["a"], "disk": ["ssd"]})),
    _class("legacy", "kubernetes.io/gce-pd", **_topology({ZONE: ["a", "b"]})),
    _class("immediate", PD, "Immediate"),
    _class("by-hand", "kubernetes.io/no-provisioner"),
    _class("lvm", LVM),
)
WAITING = (DEFAULT, DEFAULT, DEFAULT, "zone-a", "two-terms", "legacy")
ODD = ("immediate", "by-hand", "lvm", "missing")


class Dice(Protocol):
    def chance(self, share: float) -> bool: ...
    def one(self, *values: Any) -> Any: ...


class StorageGenerator:
    """Grows with each pod that is given volumes; its lists are those of the cluster."""

    def __init__(self, dice: Dice, nodes: Sequence[Manifest]) -> None:
        self._dice = dice
        for node in nodes:
            self._label(node["metadata"]["labels"])
        self._names = [node["metadata"]["name"] for node in nodes]
        self.claims: list[Manifest] = []
        self.volumes: list[Manifest] = [{"metadata": {"name": "spare"}, "spec": {"nfs": {"server": "x", "path": "/"}}}]
        self.classes = [dict(each) for each in CLASSES]
        self.csi_nodes = [self._csi_node(name) for name in self._names if dice.chance(0.95)]
        self.csi_drivers = [{"metadata": {"name": LVM}, "spec": {"storageCapacity": True}}, {"metadata": {"name": PD}}]
        self.attachments: list[Manifest] = []

    def _label(self, labels: Manifest) -> None:
        zone, region = labels.get(ZONE, "b"), self._dice.one("r1", "r2")
        optional = {GCE_ZONE: zone, REGION: region}
        labels |= {key: value for key, value in optional.items() if self._dice.chance(0.95)}
        labels |= {BETA_ZONE: zone, BETA_REGION: region} if self._dice.chance(0.2) else {}

    def parts(self) -> dict[str, list[Manifest]]:
        return {name: rows for name, rows in vars(self).items() if not name.startswith("_")}

    def give(self, pod: Manifest, share: float) -> None:
        if not self._dice.chance(share):
            return
        bound = "nodeName" in pod["spec"]
        volumes = [self._volume(pod, f"v{place}", bound=bound) for place in range(self._dice.one(1, 1, 1, 2))]
        pod["spec"]["volumes"] = volumes
        made = made_for(pod)
        self.claims += made
        for claim in made if bound else ():
            self._bind(claim, self._made(claim["metadata"]["name"]))

    def _volume(self, pod: Manifest, name: str, *, bound: bool) -> Manifest:
        dice, kind = self._dice, self._dice.one(*["own"] * 12, "shared", "shared", "ephemeral", "ephemeral", "inline")
        if kind == "own":
            return {"name": name, "persistentVolumeClaim": {"claimName": self._claim(pod, name)}}
        if kind == "shared":
            return {"name": name, "persistentVolumeClaim": {"claimName": self._shared(pod)}}
        if kind == "ephemeral":
            given = dice.one({}, {"storageClassName": dice.one(*WAITING)})
            given = {"storageClassName": dice.one(*ODD)} if dice.chance(0.1) and not bound else given
            template = {"spec": {"accessModes": ["ReadWriteOnce"], **given, **_size()}}
            return {"name": name, "ephemeral": {"volumeClaimTemplate": template}}
        inline: list[Manifest] = [
            {"emptyDir": {}},
            {"nfs": {"server": "x", "path": "/"}},
            {"csi": {"driver": "gcsfuse.csi.storage.gke.io"}},
            {"gcePersistentDisk": {"pdName": dice.one("old-1", "old-2"), "readOnly": dice.chance(0.5)}},
        ]
        return {"name": name, **dice.one(*inline[: dice.one(3, 3, 4)])}

    def _claim(self, pod: Manifest, volume: str) -> str:
        dice, space = self._dice, pod["metadata"]["namespace"]
        modes = [dice.one(*["ReadWriteOnce"] * 6, "ReadWriteOncePod", "ReadWriteMany")]
        claim = _claim(space, f"{volume}-of-{pod['metadata']['name']}", dice.one(*WAITING), modes)
        self.claims.append(claim)
        if dice.chance(0.12):
            self._spoil(claim)
        else:
            self._bind(claim, self._disk(claim["metadata"]["name"], modes))
        return str(claim["metadata"]["name"])

    def _shared(self, pod: Manifest) -> str:
        """Return a claim that pods of the namespace share; most can be mounted on several nodes."""
        dice, space = self._dice, pod["metadata"]["namespace"]
        name = dice.one("common", "common", "common-once", "common-pod")
        if not any(
            claim["metadata"]["name"] == name and claim["metadata"]["namespace"] == space for claim in self.claims
        ):
            mode = {"common": "ReadWriteMany", "common-once": "ReadWriteOnce", "common-pod": "ReadWriteOncePod"}[name]
            self.claims.append(_claim(space, name, DEFAULT, [mode]))
            self._bind(self.claims[-1], self._disk(f"{name}-{space}", [mode]))
        return str(name)

    def _spoil(self, claim: Manifest) -> None:
        """Leave the claim without a volume, each in its own way; some of them nevertheless start a pod."""
        dice, name = self._dice, claim["metadata"]["name"]
        match dice.one("waits", "waits", "selected", "odd", "lost", "deleting", "gone", "volume", "incomplete"):
            case "selected":
                notes = {"volume.kubernetes.io/selected-node": dice.one(*self._names)}
                claim["metadata"]["annotations"] = notes
            case "odd":
                claim["spec"]["storageClassName"] = dice.one(*ODD)
            case "lost":
                self._bind(claim, self._disk(name, ["ReadWriteOnce"]))
                claim["status"]["phase"] = "Lost"
            case "deleting":
                self._bind(claim, self._disk(name, ["ReadWriteOnce"]))
                claim["metadata"]["deletionTimestamp"] = "2026-03-04T21:00:00Z"
            case "gone":
                self.claims.remove(claim)
            case "volume":
                self._bind(claim, {"metadata": {"name": f"gone-{name}"}})
            case "incomplete":
                self._bind(claim, self._disk(name, ["ReadWriteOnce"]))
                claim["metadata"]["annotations"] = {}

    def _bind(self, claim: Manifest, volume: Manifest) -> None:
        claim["spec"]["volumeName"] = volume["metadata"]["name"]
        claim["status"] = {"phase": "Bound"}
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}

    def _made(self, name: str) -> Manifest:
        spec = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}
        volume = {"metadata": {"name": f"pv-{name}"}, "spec": spec, "status": {"phase": "Bound"}}
        self._zonal(volume, f"projects/p/disks/{name}")
        self.volumes.append(volume)
        return volume

    def _disk(self, name: str, modes: list[str]) -> Manifest:
        dice = self._dice
        meta, spec = {"name": f"pv-{name}"}, {"accessModes": modes, "capacity": {"storage": "1Gi"}}
        volume = {"metadata": meta, "spec": spec, "status": {"phase": "Bound"}}
        handle = f"projects/p/disks/{dice.one('same', *[name] * 15)}"
        draws = (*[self._zonal] * 8, self._regional, self._labelled, self._in_tree, self._anywhere, self._odd)
        dice.one(*draws)(volume, handle)
        self.volumes.append(volume)
        if dice.chance(0.1):
            source = {"persistentVolumeName": meta["name"]}
            spec = {"attacher": PD, "nodeName": dice.one(*self._names), "source": source}
            self.attachments.append({"metadata": {"name": f"va-{name}"}, "spec": spec})
        return volume

    def _zonal(self, volume: Manifest, handle: str) -> None:
        key, zone = self._dice.one((GCE_ZONE, "a"), (GCE_ZONE, "b"), (GCE_ZONE, "c"), (ZONE, "a"), (ZONE, "b"))
        volume["spec"] |= {"csi": {"driver": PD, "volumeHandle": handle}, **_affinity({key: [zone]})}

    def _regional(self, volume: Manifest, handle: str) -> None:
        zones = self._dice.one(_affinity({GCE_ZONE: ["a", "b"]}), _affinity({ZONE: ["a"]}, {"disk": ["hdd"]}))
        volume["spec"] |= {"csi": {"driver": PD, "volumeHandle": handle}, **zones}

    def _labelled(self, volume: Manifest, handle: str) -> None:
        dice = self._dice
        volume["spec"] |= {"csi": {"driver": PD, "volumeHandle": handle}}
        volume["metadata"]["labels"] = dice.one(
            {ZONE: "a"},
            {BETA_ZONE: "b"},
            {ZONE: "a__b"},
            {ZONE: "a__"},
            {BETA_ZONE: "b__c", REGION: "r1"},
            {REGION: "r2"},
        )

    def _in_tree(self, volume: Manifest, handle: str) -> None:
        dice = self._dice
        volume["spec"] |= {"gcePersistentDisk": {"pdName": handle.rpartition("/")[2]}}
        volume["spec"] |= dice.one({}, _affinity({ZONE: ["a"]}), _affinity({BETA_ZONE: ["b"], BETA_REGION: ["r1"]}))
        volume["metadata"]["labels"] = dice.one({}, {ZONE: "a"}, {BETA_ZONE: "b"}, {"other": "label"})

    def _anywhere(self, volume: Manifest, handle: str) -> None:
        network = {"csi": {"driver": FILESTORE, "volumeHandle": handle}}
        volume["spec"] |= self._dice.one(network, {"nfs": {"server": "x", "path": "/"}}, {"iscsi": {"iqn": "x"}})

    def _odd(self, volume: Manifest, handle: str) -> None:
        """Lie on one node, or where nobody knows."""
        here = _affinity({"kubernetes.io/hostname": [self._dice.one(*self._names)]})
        local, lvm = {"local": {"path": "/disk"}}, {"csi": {"driver": LVM, "volumeHandle": handle}}
        volume["spec"] |= self._dice.one({**local, **here}, {**lvm, **here}, {"hostPath": {"path": "/disk"}})

    def _csi_node(self, name: str) -> Manifest:
        count = self._dice.one({}, *({"allocatable": {"count": most}} for most in (1, 2, 3, 4, 15)))
        drivers = [{"name": PD, "nodeID": name, **count}, {"name": FILESTORE, "nodeID": name}]
        taken_over = self._dice.one("kubernetes.io/gce-pd,kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "")
        notes = {"storage.alpha.kubernetes.io/migrated-plugins": taken_over}
        return {"metadata": {"name": name, "annotations": notes}, "spec": {"drivers": drivers}}


def made_for(pod: Manifest) -> list[Manifest]:
    """Return the claims that the control plane makes for the pod's ephemeral volumes, before they have a volume."""
    meta, found = pod["metadata"], []
    for volume in pod["spec"].get("volumes", ()):
        if "ephemeral" in volume:
            spec = volume["ephemeral"]["volumeClaimTemplate"]["spec"]
            name, made = f"{meta['name']}-{volume['name']}", spec.get("storageClassName", DEFAULT)
            claim = _claim(meta["namespace"], name, made, spec["accessModes"])
            owner = {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "uid": meta["uid"], "controller": True}
            claim["metadata"]["ownerReferences"] = [owner]
            found.append(claim)
    return found


def _claim(namespace: str, name: str, storage_class: str, modes: list[str]) -> Manifest:
    spec = {"storageClassName": storage_class, "accessModes": modes, **_size()}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec, "status": {"phase": "Pending"}}


def _size() -> Manifest:
    return {"resources": {"requests": {"storage": "1Gi"}}}


def _affinity(*terms: Mapping[str, Sequence[str]]) -> Manifest:
    rows = [[{"key": key, "operator": "In", "values": values} for key, values in term.items()] for term in terms]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": row} for row in rows]}}}
