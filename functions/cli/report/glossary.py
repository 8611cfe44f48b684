"""The words on the report's page: those of every page, those of Kubernetes that this page uses, and its settings."""

import json
import re
from typing import Any, Final

from functions.cli.plan.scenarios import ADDED, BOUND
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS
from shared.core.policy.fields import POOL_FIELDS

GLOSSARY: Final = {
    "Ebb": "What made this page. It removes nodes that the cluster does not need. ebb explain, ebb why-not and "
    "ebb shapes are its commands.",
    "cluster, Kubernetes, GKE": "Machines that run programs together, what runs them, and what Google sells.",
    "snapshot": "The cluster at one time. All on this page is of one snapshot.",
    "node": "A machine of the cluster. It costs the same whether it is full or half empty.",
    "node pool": "Nodes of one kind, made from one template. Its minimum size is the number of nodes that always stay.",
    "zone, region": "A data center in which nodes are, and the place where it is with others.",
    "spot": "A cheaper node that the cloud may take back at any time.",
    "pod": "One running copy of a program. It is on one node; a pending pod has no node yet.",
    "workload, Deployment, StatefulSet, Job": "What keeps copies of one program running. A Job ends when its work "
    "is done.",
    "DaemonSet": "A workload with one pod on each node. Its pods go with their nodes and never have to move.",
    "reserved, requests, CPU, memory, GiB": "The CPU and memory that pods ask for. What is requested of a node is "
    "taken, used or not.",
    "autoscaler, autoscaling, scale-down": "GKE's cluster autoscaler. It adds nodes when pods need room and deletes "
    "nearly empty ones. A rollout that never ends (stuck) and a pool with autoscaling off stop it.",
    "drain, eviction, evict": "A drain moves all pods of a node elsewhere: each is evicted (ended) here and starts "
    "there.",
    "PodDisruptionBudget (PDB)": "How many copies of a program its owner wants to be up at any time. Ebb never breaks "
    "one. 'PDB x allows 1' is what would happen if it let one copy go.",
    "scenario": "What would be left of the cluster: by the autoscaler alone, with Ebb, or with one constraint relaxed.",
    "relaxing, constraint": "To give one constraint of the policy or the cluster more room, as an experiment.",
    ADDED: "What Ebb saves on top of what the autoscaler would save by itself.",
    "steady state": "No more nodes would go: Ebb has drained what it may, and the autoscaler has deleted empty nodes.",
    BOUND: "A theoretical minimum: the pods' requests need that many nodes under any rules. No plan "
    "is known to reach it.",
    "policy, default settings": "The rules that Ebb follows: yours, or without a policy its defaults for every pool.",
    "ratio limit": "How full a node may be and still count as underutilized.",
    "required number of nodes, spare nodes": "How many underutilized nodes there must be before one goes, and how "
    "many of them stay as a reserve.",
    "local storage, local SSD": "Data that a pod keeps on its node; it is lost when the pod moves.",
    "mark": "Since when a node could go. A node is drained only after it could for some time.",
    "disruption budget": "How many nodes of a pool may be out of work at once.",
    "window": "Hours in which nodes may be drained.",
    "pass, dry run": "One look at the cluster every few minutes, and what is decided then. In a dry run nothing is "
    "drained.",
    "verdict": "What a pass decides about a node: one of the following words.",
    "order, would order": "The node is drained now; in a dry run it only would be.",
    "waiting": "The node could go, and its time has not come.",
    "in flight": "The node is being drained.",
    "keep": "The node stays, for the reason that is named.",
}


KUBERNETES: Final = {
    "allocatable": "What a node offers to pods: its machine without what the node itself needs.",
    "annotation, annotate": "A note on an object of the cluster that programs read.",
    "API, kubectl": "Where the cluster is read and changed, and the program with which people do that.",
    "back-off": "How long Ebb leaves a node alone after its drain failed.",
    "breaker, circuit": "What stops the drains of a pool after several went wrong.",
    "bill": "What is paid for the nodes where capacity is committed: the fees, and what exceeds the commitments.",
    "capacity buffer, CapacityBuffer": "Room that is kept free for pods to come.",
    "claim": "A pod's request for a disk or a device, or a node that counts against budgets while it is drained.",
    "commitment, committed, idle": "Capacity that is paid for until a date, used or not. Idle is what no node uses.",
    "ComputeClass, auto-provisioning": "Which machines GKE may use for a pool, and how it makes pools itself.",
    "container": "A program of a pod, with the files that it needs.",
    "controller": "What creates the pods of a workload again. A pod without one is lost when its node goes.",
    "cordon, uncordon": "To let no new pods onto a node, and to let them again.",
    "dump": "A file with the objects of a cluster, as kubectl printed them.",
    "emptyDir, hostPath": "Two kinds of local storage.",
    "estafette, Karpenter": "Other programs that remove nodes. Some settings are like theirs.",
    "evictionResponders": "A program that moves a pod itself before it is evicted, and the field that names it.",
    "freeze": "Days on which nothing is drained.",
    "gate": "A limit over many nodes, such as a window, a budget or a rate.",
    "GPU, TPU, accelerator": "Chips of a node for graphics and machine learning.",
    "grace period, terminationGracePeriodSeconds, termination": "How long a pod may take to end after it was asked to.",
    "headroom": "Room that a plan leaves free.",
    "kubelet, kube-system": "The program of Kubernetes on each node, and the namespace of the cluster's own programs.",
    "label, selector": "A name tag on an object, and the rule that picks objects by their tags.",
    "on demand, discount, USD": "The list price of a machine, what you pay less by contract, and US dollars.",
    "list price": "What a machine costs without commitments. In a bill a node has no price of its own.",
    "LimitRange, ResourceQuota": "The most that pods may request, one by one or in a namespace together.",
    "minAvailable, maxUnavailable": "Settings of a PodDisruptionBudget: how many copies must be up, or may be away.",
    "namespace": "A part of the cluster with its own names and owners, such as one team's.",
    "planner, drainer": "The two functions of Ebb: one decides in passes, the other drains.",
    "profile, balanced, optimize-utilization": "How eagerly the autoscaler removes nodes: balanced, or "
    "optimize-utilization.",
    "rate": "How many drains may start within a time.",
    "Ready, healthy, condition": "A node or a pod that works, and what its status shows about that.",
    "replica, ReplicaSet": "One of several equal copies of a program, and what counts them.",
    "rollout": "The replacement of a workload's pods by those of a new version, one after another.",
    "safe-to-evict, safe-to-evict-local-volumes": "An annotation: the owner of a pod allows or forbids its move.",
    "scheduler, scheduling": "The part of Kubernetes that chooses a node for each pod.",
    "surge": "A second copy starts before the only one ends, so that there is no gap.",
    "taint, toleration": "A mark on a node that keeps pods away, and a pod's permission to ignore it.",
    "template": "The text from which pods of a workload, or nodes of a pool, are made.",
    "underutilized": "A node of which less is reserved than the ratio limits allow.",
    "unmodelled": "What Ebb's simulation of the scheduler does not know. Such pods stay.",
    "upgrade": "The replacement of a node by one with a newer version. Ebb waits until it is over.",
    "VerticalPodAutoscaler, updateMode": "What recommends requests by what pods used, and its setting to write them.",
    "vCPU": "One CPU of a machine, as Google counts them.",
    "virtual kubelet": "A node without a machine: its pods run with a service that bills each of them.",
    "volume, mount, CSI, volumeBindingMode, WaitForFirstConsumer, ReadWriteMany": "A disk of a pod, its use on a "
    "node, how Kubernetes attaches it, and the settings of that.",
    "wave": "One set of nodes that is proved as a whole and goes node by node.",
    "WhenEmpty, WhenUnderutilized": "The values of consolidationPolicy: which nodes may be drained.",
    "webhook": "A program outside Kubernetes that may refuse a change.",
}


_FIELDS: Final = (*POOL_FIELDS.values(), *CLUSTER_FIELDS.values(), *DRAIN_FIELDS.values())
SETTINGS: Final = {
    field.name: f"A setting of the policy. {field.description.partition(' Default ')[0]}"
    for field in _FIELDS
    if not field.name.islower()
}
"""Fields of the policy whose names are no plain words, with its sentences; docs/policy.md has the defaults."""


def glossary(shown: Any) -> list[dict[str, str]]:
    """Return the words of a page with their meanings; `shown` are the JSON values that it shows."""
    text = json.dumps(shown)
    rare = {word: meaning for word, meaning in (KUBERNETES | SETTINGS).items() if _pattern(word).search(text)}
    rows = (*GLOSSARY.items(), *sorted(rare.items(), key=lambda row: row[0].lower()))
    return [{"word": word, "meaning": meaning} for word, meaning in rows]


def _pattern(words: str) -> re.Pattern[str]:
    """Return what finds any of the words, also in the plural."""
    any_of = "|".join(re.escape(word) for word in words.split(", "))
    return re.compile(rf"\b(?:{any_of})(?:s|es|d|ed)?\b", re.IGNORECASE)
