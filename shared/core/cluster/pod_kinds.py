"""What kind of pod this is: the questions that several rules ask in the same words.

Must not decide what follows from the answer.
Source: cluster-autoscaler, simulator/drainability/rules (mirror, daemonset, terminal).
"""

from shared.core.cluster import names
from shared.core.cluster.pod import Pod, PodClass


def is_daemon(spec: PodClass) -> bool:
    """Whether a DaemonSet keeps the pod on its node (or the pod's annotation says to treat it so)."""
    by_owner = spec.owner is not None and spec.owner.kind == "DaemonSet"
    return by_owner or spec.annotations.get(names.DAEMON_SET_POD) == "true"


def is_mirror(spec: PodClass) -> bool:
    """Whether the pod only mirrors a static pod of the kubelet."""
    return names.MIRROR in spec.annotations


def is_of_replica_set(spec: PodClass) -> bool:
    """Whether a ReplicaSet controls the pod, as it does the pods of a Deployment."""
    return spec.owner is not None and spec.owner.kind == "ReplicaSet"


def is_replaced(pod: Pod) -> bool:
    """Whether the pod is on its way out and another has come for it: a ReplicaSet does not wait for the end.

    A StatefulSet makes the pod anew only once it is gone; a Job may, and so may a Deployment (podReplacementPolicy).
    """
    if pod.deleting is None or pod.spec.replaced_at_end:
        return False
    return is_of_replica_set(pod.spec)


def is_finished(pod: Pod) -> bool:
    """Whether the pod has run to its end and occupies nothing."""
    return pod.phase.finished


def cron_job_of(spec: PodClass) -> str:
    """Return the CronJob that a Job's name tells of: its own name with the minute of the run (cronjob controller)."""
    owner = spec.owner
    name, _, minute = owner.name.rpartition("-") if owner is not None and owner.kind == "Job" else ("", "", "")
    return f"{spec.namespace}/CronJob/{name}" if name and minute.isdigit() else ""
