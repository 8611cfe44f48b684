"""Generated dumps of clusters rich in rules, in which every word that is an owner's own contains `acme`."""

import json
import random
from collections.abc import Iterator
from typing import Any

from shared.core.cluster import names

OWN = "acme"
CREATED, NOW = "2026-03-04T10:00:00Z", "2026-03-04T22:00:00Z"
HARD = "requiredDuringSchedulingIgnoredDuringExecution"
ZONES = ("europe-west4-a", "europe-west4-b", "europe-west4-c")
NAMESPACES = ("acme-a", "acme-a-b", "acme-pay", "zz-acme")
APPS = ("acme-api", "acme-web", "acme-db", "web-acme", "acme-batch")
POOLS = ("acme-default", "acme-spot", "acme-big")
TIERS = ("acme.io/tier", "tier-acme")
GENERATION = "acme.io/generation"
LICENCE = "acme.io/licence"
Object = dict[str, Any]


def rich_dump(seed: int, nodes: int = 18, pods: int = 70) -> list[Object]:
    return list(_Maker(random.Random(seed), nodes).objects(pods))  # noqa: S311 - it makes no secret


CLASS = "cloud.google.com/compute-class"


class _Maker:
    def __init__(self, dice: random.Random, nodes: int) -> None:
        self.dice = dice
        self.nodes = [f"gke-acme-{POOLS[number % 3]}-1a2b3c4d-{dice.randrange(10**4):04}" for number in range(nodes)]

    def objects(self, pods: int) -> Iterator[Object]:
        yield from (self.namespace(name) for name in (*NAMESPACES, names.KUBE_SYSTEM))
        yield from (self.node(number) for number in range(len(self.nodes)))
        yield from (self.csi_node(name) for name in self.nodes)
        yield from self.classes()
        for number in range(pods):
            yield from self.pod(number)
        yield from (self.mirror(name) for name in self.nodes)
        yield from (self.budget(number) for number in range(5))
        yield from self.controllers()
        yield from self.buffers()
        yield from self.limits()

    def one(self, *choices: Any) -> Any:
        return self.dice.choice(choices)

    def often(self, share: float) -> bool:
        return self.dice.random() < share

    def meta(self, name: str, namespace: str = "", **more: Any) -> Object:
        notes = {"acme.io/note": "said acme", **more.pop("annotations", {})}
        place = {"namespace": namespace} if namespace else {}
        return {"name": name, **place, "uid": f"uid-acme-{name}-{namespace}", "creationTimestamp": CREATED,
                "annotations": notes, **more}  # fmt: skip

    def namespace(self, name: str) -> Object:
        closed = {names.EVICTIONS_LABEL: "never"} if name == "zz-acme" else {}
        labels = {"kubernetes.io/metadata.name": name, "acme.io/team": f"acme-{len(name) % 3}", **closed}
        return {"kind": "Namespace", "metadata": self.meta(name, labels=labels)}

    def node(self, number: int) -> Object:
        name, pool = self.nodes[number], POOLS[number % 3]
        kinds: Object = {"type": "acme-kind", names.OS_LABEL: "linux"} if number % 4 else {names.OS_LABEL: "windows"}
        kinds |= {"type": "virtual-kubelet"} if number == 1 else {}
        labels = kinds | {
            names.POOL_LABEL: pool, names.ZONE_LABEL: ZONES[number % 3], names.HOSTNAME_LABEL: name,
            names.MACHINE_LABEL: "e2-standard-4", TIERS[0]: self.one("acme-gold", "acme-tin"),
            GENERATION: str(self.dice.randrange(8, 12)),
        }  # fmt: skip
        taints = [{"key": "acme.io/only", "value": "acme-batch", "effect": "NoSchedule"}] if pool == "acme-big" else []
        notes = {names.SCALE_DOWN_DISABLED: "true"} if self.often(0.05) else {}
        if self.often(0.05):
            taints.append({"key": names.OUR_TAINT, "value": "acme-order", "effect": "NoSchedule"})
            notes = {
                names.OUR_ANNOTATION: json.dumps({"order_id": "acme-order", "since": CREATED}, separators=(",", ":"))
            }
        size = {"cpu": "3920m", "memory": "13Gi", "pods": "110", LICENCE: "2"}
        ready = {"type": "Ready", "status": "True", "reason": "AcmeReady", "lastTransitionTime": CREATED}
        strange = {"type": "AcmeProblem", "status": "False", "lastHeartbeatTime": CREATED}
        return {
            "kind": "Node",
            "metadata": self.meta(
                name, labels=labels, annotations=notes, managedFields=[{"manager": "acme", "time": NOW}]
            ),
            "spec": {
                "taints": taints,
                "unschedulable": self.often(0.05),
                "providerID": f"gce://acme-project/{ZONES[number % 3]}/{name}",
            },
            "status": {"allocatable": size, "conditions": [ready, strange], "nodeInfo": {"machineID": "acme"}},
        }

    def csi_node(self, name: str) -> Object:
        drivers = [{"name": "pd.csi.storage.gke.io", "allocatable": {"count": 3}}, {"name": "csi.acme.io"}]
        return {"kind": "CSINode", "metadata": self.meta(name), "spec": {"drivers": drivers}}

    def classes(self) -> Iterator[Object]:
        for name, driver, binding in (
            ("acme-fast", "pd.csi.storage.gke.io", "WaitForFirstConsumer"), ("acme-own", "csi.acme.io", "Immediate"),
        ):  # fmt: skip
            term = {"matchLabelExpressions": [{"key": names.ZONE_LABEL, "values": list(ZONES)}]}
            yield {"kind": "StorageClass", "metadata": self.meta(name), "provisioner": driver,
                   "volumeBindingMode": binding, "allowedTopologies": [term]}  # fmt: skip
            yield {"kind": "CSIDriver", "metadata": self.meta(driver.replace("pd.", "pd.")), "spec": {}}

    def pod(self, number: int) -> Iterator[Object]:
        app, namespace = self.one(*APPS), self.one(*NAMESPACES, names.KUBE_SYSTEM)
        name, on = f"{app}-{number}", self.one(*self.nodes, *self.nodes, "")
        spec: Object = {
            "nodeName": on, "containers": [self.container()], "schedulerName": "default-scheduler",
            "nodeSelector": {TIERS[0]: "acme-gold"} if self.often(0.1) else {},
            "tolerations": self.tolerations(), "topologySpreadConstraints": self.spread(app),
            "affinity": self.affinity(app, namespace), "priorityClassName": self.one("", "acme-high"),
            "priority": self.one(0, 10), "volumes": [],
        }  # fmt: skip
        spec |= self.rare()
        yield from self.storage(spec, name, namespace, on)
        labels = {"app": app, "acme.io/part": self.one("acme-x", "acme-y"), "pod-template-hash": f"acme{number % 2}",
                  names.REVISION_LABEL: f"acme-{1 + number % 2}", names.POD_INDEX_LABEL: f"{number % 4}",
                  names.POD_NAME_LABEL: name}  # fmt: skip
        meta = self.meta(name, namespace, labels=labels, annotations=self.notes(), ownerReferences=self.owner(app))
        status = {"phase": "Running" if on else "Pending", "startTime": CREATED, "message": "acme said so",
                  "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": CREATED}],
                  **self.resized(spec)}  # fmt: skip
        yield {"kind": "Pod", "metadata": meta, "spec": spec, "status": status}

    def rare(self) -> Object:
        """Return a field that few pods have."""
        sidecar = {**self.container(), "name": "acme-side", "restartPolicy": "Always"}
        found: Object = self.one(*[{}] * 14, {"schedulerName": "acme-scheduler"}, {"overhead": {"cpu": "10m"}},
                        {"workloadRef": {"name": "acme"}}, {"resources": {"requests": {"cpu": "900m"}}},
                        {"initContainers": [sidecar]}, {"schedulingGates": [{"name": "acme.io/gate"}]},
                        {"resourceClaims": [{"name": "acme-gpu"}]}, {"hostNetwork": True},
                        {"os": {"name": "linux"}})  # fmt: skip
        return found

    def resized(self, spec: Object) -> Object:
        """Return what the kubelet reports of a container that was resized in place."""
        if not self.often(0.05):
            return {}
        given = {"cpu": "650m", "memory": "1Gi"}
        rows = [{"name": container["name"], "allocatedResources": given} for container in spec["containers"]]
        granted = {"extendedResourceClaimStatus": {"resourceClaimName": "acme-gpu-x7"}} if self.often(0.5) else {}
        return {"containerStatuses": rows, "allocatedResources": given, "resources": {"requests": given}, **granted}

    def container(self) -> Object:
        asked = {"cpu": f"{self.dice.randrange(50, 700)}m", "memory": f"{self.dice.randrange(64, 2048)}Mi"}
        if self.often(0.1):
            asked[LICENCE] = "1"
        ports = [{"containerPort": 80, "hostPort": 8080, "hostIP": self.one("10.7.7.7", "0.0.0.0", "")}]
        return {"name": "acme-main", "image": "acme/app", "env": [{"name": "ACME", "value": "acme"}],
                "resources": {"requests": asked}, "ports": ports if self.often(0.06) else []}  # fmt: skip

    def template(self, app: str) -> Object:
        """Return what the next pods are made of: at times they ask for more than those that run."""
        side = {"name": "acme-side", "restartPolicy": "Always", "resources": {"limits": {"cpu": "50m"}}}
        more: Object = {"initContainers": [side], "overhead": {"cpu": "10m"}} if self.often(0.2) else {}
        rules: Object = self.one(
            {}, {}, {"nodeSelector": {TIERS[0]: "acme-tin"}}, {"tolerations": self.tolerations()},
            {"affinity": self.affinity(app, NAMESPACES[0])}, {"nodeName": self.nodes[0]},
            {"schedulingGates": [{"name": "acme.io/hold"}]}, {"runtimeClassName": "acme-vm"},
            {"volumes": [{"name": "acme-more", "persistentVolumeClaim": {"claimName": "acme-more"}}]},
        )  # fmt: skip
        labels = {"app": app, **({"acme.io/part": "acme-z"} if self.often(0.2) else {})}
        spec = {"containers": [self.container()], "topologySpreadConstraints": self.spread(app), **more, **rules}
        return {"metadata": {"labels": labels}, "spec": spec}

    def autoscaler(self, app: str, namespace: str) -> Object:
        """Return a VerticalPodAutoscaler with all that is read of one."""
        policy = {"containerName": self.one("*", "acme-main"), "mode": self.one("Auto", "Off"),
                  "minAllowed": {"cpu": "300m", LICENCE: "1"}, "maxAllowed": {"cpu": "900m"},
                  "controlledResources": self.one(None, ["cpu", LICENCE]),
                  "controlledValues": self.one(None, "RequestsOnly")}  # fmt: skip
        boost: Object = {"startupBoost": {"cpu": {"type": "Factor", "factor": 2}}} if self.often(0.5) else {}
        target = {"cpu": f"{self.dice.randrange(50, 1200)}m", "memory": "700Mi"}
        return {
            "kind": "VerticalPodAutoscaler",
            "metadata": self.meta(f"acme-vpa-{app}", namespace),
            "spec": {"targetRef": {"apiVersion": "acme/v1", "kind": self.one("Deployment", "AcmeSet"), "name": app},
                     "updatePolicy": {"updateMode": self.one("Off", "Initial", "InPlaceOrRecreate")},
                     "resourcePolicy": {"containerPolicies": [policy]}, **boost},
            "status": {"conditions": [{"type": "AcmeSaid", "message": "acme"}], "recommendation": {
                "containerRecommendations": [{"containerName": "acme-main", "target": target}]}},
        }  # fmt: skip

    def buffers(self) -> Iterator[Object]:
        """Yield a capacity buffer with its template, one of a ComputeClass, and classes that declare some."""
        asked = {"requests": {"cpu": "300m"}, "limits": {"cpu": "900m", LICENCE: "1"}}
        spec = {"containers": [{"name": "acme-main", "resources": asked}], "nodeSelector": {CLASS: "acme-class"}}
        owner = {"kind": "ComputeClass", "name": "acme-class", "uid": "uid-acme-class"}
        for number, name in enumerate(("acme-room", "acme-made")):
            space, more = NAMESPACES[number], {"ownerReferences": [owner]} if number else {}
            said = [{"type": "ReadyForProvisioning", "status": self.one("True", "False"), "message": "acme"}]
            status = {"podTemplateRef": {"name": f"{name}-chunk"}, "replicas": 3, "readyReplicas": 2,
                      "provisioningStrategy": "buffer.x-k8s.io/active-capacity", "conditions": said}  # fmt: skip
            body = {"metadata": {"labels": {"app": "acme"}}, "spec": spec}
            yield {"kind": "PodTemplate", "metadata": self.meta(f"{name}-chunk", space), "template": body}
            template = {"podTemplateRef": {"name": "acme"}}
            meta = self.meta(name, space, **more)
            yield {"kind": "CapacityBuffer", "metadata": meta, "spec": template, "status": status}
        for name in ("acme-class", "acme-other"):
            buffers = [{"limits": {"cpu": "8000m", "memory": "9Gi"}}]
            policy = {"consolidationThreshold": 0, "consolidationDelayMinutes": 1, "acmeWord": "acme"}
            spec = {"priorities": [], "buffers": buffers, "autoscalingPolicy": policy}
            yield {"kind": "ComputeClass", "metadata": {"name": name}, "spec": spec}

    def limits(self) -> Iterator[Object]:
        """Yield a LimitRange and a ResourceQuota with all that is read of them."""
        row = {"type": "Container", "default": {"cpu": "900m"}, "defaultRequest": {"cpu": "80m", LICENCE: "1"},
               "min": {"cpu": "60m"}, "max": {"cpu": "2"}, "maxLimitRequestRatio": {"cpu": "6.5"}}  # fmt: skip
        claims = {"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}}
        rows = [row, {"type": "Pod", "max": {"memory": "5Gi"}}, claims]
        yield {"kind": "LimitRange", "metadata": self.meta("acme-bounds", NAMESPACES[0]), "spec": {"limits": rows}}
        hard = {"requests.cpu": "90", "limits.cpu": "200", "pods": "40", "count/pods": "80", "services": "44",
                f"requests.{LICENCE}": "33", "requests.storage": "7Gi"}  # fmt: skip
        classes = [{"scopeName": "PriorityClass", "operator": "NotIn", "values": ["acme-high"]}]
        yield {
            "kind": "ResourceQuota",
            "metadata": self.meta("acme-team", NAMESPACES[1]),
            "spec": {"hard": hard, "scopes": ["NotBestEffort"], "scopeSelector": {"matchExpressions": classes}},
            "status": {"hard": hard, "used": {**hard, "pods": "12"}},
        }

    def notes(self) -> Object:
        found = self.dice.random()
        if found < 0.03:
            return {names.SAFE_TO_EVICT: "false"}
        if found < 0.06:
            return {names.SAFE_LOCAL_VOLUMES: "acme-scratch"}
        if found < 0.09:
            return {"karpenter.sh/do-not-disrupt": self.one("true", "9000h", "because acme")}
        if found < 0.3:
            cost = self.dice.randrange(-5, 5)
            return {names.DISRUPTION_COSTS[cost % 2] if cost > 0 else names.DELETION_COST: str(cost)}
        return {}

    def owner(self, app: str) -> list[Object]:
        kind = self.dice.choices(
            ("ReplicaSet", "StatefulSet", "Job", "ReplicationController", "AcmeSet", ""), (65, 15, 5, 5, 5, 2)
        )[0]
        return [{"kind": kind, "name": f"{app}-rs", "uid": f"uid-acme-{app}", "controller": True}] if kind else []

    def tolerations(self) -> list[Object]:
        if self.often(0.3):
            value = self.one("acme-batch", "acme-none")
            return [{"key": "acme.io/only", "operator": "Equal", "value": value, "effect": "NoSchedule"}]
        return [{"key": "acme.io/only", "operator": "Exists"}] if self.often(0.3) else []

    def spread(self, app: str) -> list[Object]:
        if not self.often(0.25):
            return []
        return [{
            "maxSkew": self.dice.randrange(1, 4),
            "topologyKey": self.one(names.ZONE_LABEL, names.HOSTNAME_LABEL, TIERS[0]),
            "whenUnsatisfiable": self.one("DoNotSchedule", "ScheduleAnyway"),
            "labelSelector": {"matchLabels": {"app": app}},
            "matchLabelKeys": self.one(None, ["pod-template-hash"], ["acme.io/part"]),
        }]  # fmt: skip

    def affinity(self, app: str, namespace: str) -> Object:
        found: Object = {}
        if self.often(0.2):
            expression = self.one(
                {"key": GENERATION, "operator": "Gt", "values": [str(self.dice.randrange(7, 10))]},
                {"key": TIERS[0], "operator": "In", "values": ["acme-gold", "acme-lead"]},
                {"key": "acme.io/absent", "operator": "DoesNotExist"},
            )
            term: Object = {"matchExpressions": [expression]}
            if self.often(0.2):
                term = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": [self.nodes[0]]}]}
            found["nodeAffinity"] = {HARD: {"nodeSelectorTerms": [term]}}
        if self.often(0.2):
            found["podAntiAffinity"] = {HARD: [self.term(app, namespace)]}
        if self.often(0.05):
            found["podAffinity"] = {HARD: [self.term(app, namespace) | {"topologyKey": names.ZONE_LABEL}]}
        return found

    def term(self, app: str, namespace: str) -> Object:
        where = self.one(
            {}, {"namespaces": [namespace, NAMESPACES[0]]},
            {"namespaceSelector": {"matchLabels": {"acme.io/team": "acme-1"}}},
            {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACES[2]}}},
        )  # fmt: skip
        selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": [app]}]}
        return {"labelSelector": selector, "topologyKey": names.HOSTNAME_LABEL, **where}

    def storage(self, spec: Object, pod: str, namespace: str, on: str) -> Iterator[Object]:
        found, name = self.dice.random(), f"data-{pod}"
        if found < 0.1:
            spec["volumes"] = [{"name": "acme-data", "persistentVolumeClaim": {"claimName": name}}]
            yield from self.claim(name, namespace, on, self.one("acme-fast", "acme-own"))
        elif found < 0.15:
            template = {"spec": {"storageClassName": "acme-fast"}}
            spec["volumes"] = [{"name": "acme-scratch", "ephemeral": {"volumeClaimTemplate": template}}]
            yield from self.claim(
                f"{pod}-acme-scratch", namespace, on, "acme-fast", owner=f"uid-acme-{pod}-{namespace}"
            )
        elif found < 0.25:
            spec["volumes"] = [{"name": "acme-scratch", "emptyDir": {"medium": self.one("", "Memory")}}]
        elif found < 0.28:
            spec["volumes"] = [{"name": "acme-logs", "hostPath": {"path": "/acme"}}]
        elif found < 0.31:
            spec["volumes"] = [{"name": "acme-disk", "gcePersistentDisk": {"pdName": "acme-disk-1"}}]

    def claim(self, name: str, namespace: str, on: str, kind: str, owner: str = "") -> Iterator[Object]:
        owners = [{"kind": "Pod", "name": "acme", "uid": owner, "controller": True}] if owner else []
        bound, volume = {"pv.kubernetes.io/bind-completed": "yes"}, f"pv-acme-{name}-{namespace}"
        meta = self.meta(name, namespace, ownerReferences=owners, annotations=bound)
        spec = {"volumeName": volume, "storageClassName": kind, "accessModes": ["ReadWriteOnce"]}
        yield {"kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec, "status": {"phase": "Bound"}}
        zone = ZONES[self.nodes.index(on) % 3] if on else ZONES[0]
        handle = f"projects/acme-project/zones/{zone}/disks/{name}-{namespace}"
        driver = "pd.csi.storage.gke.io" if kind == "acme-fast" else "csi.acme.io"
        term = {"matchExpressions": [{"key": names.ZONE_LABEL, "operator": "In", "values": [zone]}]}
        yield {
            "kind": "PersistentVolume",
            "metadata": self.meta(volume),
            "spec": {
                "csi": {"driver": driver, "volumeHandle": handle}, "accessModes": ["ReadWriteOnce"],
                "claimRef": {"namespace": namespace, "name": name}, "capacity": {"storage": "1Gi"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
        }  # fmt: skip
        if on:
            held = {"attacher": driver, "nodeName": on, "source": {"persistentVolumeName": volume}}
            yield {"kind": "VolumeAttachment", "metadata": self.meta(f"csi-acme-{name}-{namespace}"), "spec": held}

    def mirror(self, node: str) -> Object:
        """Return a node's static pod as the API shows it: the node is its owner."""
        owner = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": f"uid-acme-{node}-", "controller": True}
        notes = {"kubernetes.io/config.mirror": "yes"}
        meta = self.meta(f"kube-proxy-{node}", names.KUBE_SYSTEM, ownerReferences=[owner], annotations=notes)
        return {"kind": "Pod", "metadata": meta, "status": {"phase": "Running"},
                "spec": {"nodeName": node, "containers": [{"name": "acme-main"}]}}  # fmt: skip

    def budget(self, number: int) -> Object:
        allowed = self.dice.randrange(0, 3)
        fault = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed"}
        status = {
            "disruptionsAllowed": allowed, "currentHealthy": 2 + allowed, "desiredHealthy": 2, "expectedPods": 4,
            "observedGeneration": self.one(1, 1, 2), "conditions": [fault] if number == 4 else [],
        }  # fmt: skip
        return {
            "kind": "PodDisruptionBudget",
            "metadata": self.meta(f"acme-{number}", NAMESPACES[number % 4], generation=2),
            "spec": {"minAvailable": self.one(1, "50%"), "selector": {"matchLabels": {"app": APPS[number % 5]}}},
            "status": status,
        }

    def controllers(self) -> Iterator[Object]:
        for number, app in enumerate(APPS):
            namespace = NAMESPACES[number % 4]
            counts = {"replicas": 3, "updatedReplicas": 3 - number % 2, "availableReplicas": 3, "observedGeneration": 1}
            owner = [{"kind": "Deployment", "name": app, "uid": f"uid-acme-{app}", "controller": True}]
            rest: Object = {"spec": {"replicas": 3, "template": self.template(app)}, "status": counts}
            yield {"kind": "ReplicaSet", "metadata": self.meta(f"{app}-rs", namespace, ownerReferences=owner), **rest}
            late = {**rest, "spec": {**rest["spec"], "podReplacementPolicy": "TerminationComplete"}}
            yield {"kind": "Deployment", "metadata": self.meta(app, namespace), **(late if number == 1 else rest)}
            yield self.autoscaler(app, namespace)
            revisions = {"currentRevision": "acme-1", "updateRevision": self.one("acme-1", "acme-2")}
            update = self.one({"type": "OnDelete"}, {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}})
            claims = [{"metadata": {"name": self.one("acme-data", "acme-other")}}] if self.often(0.3) else []
            own = {"replicas": 3, "updateStrategy": update, "ordinals": {"start": 1}, "volumeClaimTemplates": claims}
            yield {"kind": "StatefulSet", "metadata": self.meta(f"{app}-rs", namespace),
                   "spec": {**own, "template": self.template(app)}, "status": {**counts, **revisions}}  # fmt: skip
            for kind in ("Job", "ReplicationController"):
                yield {"kind": kind, "metadata": self.meta(f"{app}-rs", namespace),
                       "spec": {"template": self.template(app)}}  # fmt: skip
