"""The words that a report uses, for a reader who has never seen a cluster. Reasons carry their own sentences."""

from typing import Final

GLOSSARY: Final = {
    "node": "A machine of the cluster. It costs the same whether it is full or half empty.",
    "node pool": "Nodes of one kind, made from one template.",
    "pod": "One running copy of a program. It lies on one node.",
    "workload": "What keeps copies of one program running: a Deployment, a StatefulSet, a DaemonSet, a Job.",
    "requests": "The CPU and memory that a pod reserves. What is requested of a node is taken, used or not.",
    "autoscaler": "GKE's cluster autoscaler. It adds nodes when pods need room and deletes nodes that are"
    " nearly empty.",
    "to drain, to evict": "To move all pods of a node elsewhere, each by asking the cluster to end it here and start "
    "it there.",
    "PodDisruptionBudget (PDB)": "How many copies of a program its owner wants to be up at any time. Never broken.",
    "at rest": "When no node more would go: pass after pass has drained what it may, and the autoscaler has deleted "
    "the empty nodes.",
    "bound": "A cost below which no plan can come, whatever its rules: the pods' requests need that many nodes.",
    "mark": "Since when a node could go. A node is drained only after it could for some time.",
    "disruption budget": "How many nodes of a pool may be out of work at once.",
    "window": "Hours in which nodes may be drained.",
    "pass": "One look at the cluster every few minutes, and what is decided then.",
    "waiting": "A node that could go, and whose time has not come.",
    "keep": "A node that stays, for the reason that is named.",
}
