"""How an order or a drain ends, and why less was saved than promised; a row each."""

from typing import Final

from shared.core.reasons.nodes import Unremovable
from shared.core.reasons.pods import PodBlock
from shared.core.reasons.reason import After, Reason
from shared.core.reasons.reason import ReasonRow as Row

_AGAIN: Final = "Look at the node and its pods, then run ebb drain again once the back-off in ebb status is over."
_ONGOING: Final = "Nothing to do; ebb status shows the drain that holds the node."


class Refusal(Reason):
    """Why the drainer declines an order: the order is forgotten and the next pass orders again."""

    # fmt: off
    MALFORMED = Row("malformed", "The message is not an order; the topic for rejected orders has it.",
        "Use the same version of ebb as the functions.")
    OTHER_CLUSTER = Row("other_cluster", "The order is for another cluster.",
        "Set EBB_CLUSTER and EBB_TOPIC to those of one cluster.")
    EXPIRED = Row("expired", "No drainer claimed the order before it expired.",
        "Run ebb drain again; if it expires again, check the push subscription and the drainer.")
    OLD_GENERATION = Row("old_generation", "A later step of this drain has already started.", _ONGOING)
    ALREADY_SETTLED = Row("already_settled", "This order has already ended.",
        "Run ebb drain again: it makes a new order.")
    NODE_UNKNOWN = Row("node_unknown", "The cluster has no node of that name.",
        "Check the name with kubectl get nodes: the node may be gone, or in another cluster.")
    NODE_REPLACED = Row("node_replaced", "Another node has that name now (its UID differs).",
        "Run ebb drain again if you mean the node that has the name now.")
    OTHER_NODE = Row("other_node", "The drain of this order id is for another node.",
        "Omit order_id: the message then has an id of its own.")
    CLAIMED_BY_OTHER = Row("claimed_by_other", "Another order holds the node.", _ONGOING)
    POLICY_INVALID = Row("policy_invalid", "The policy is missing or invalid; nothing new starts.",
        "Run ebb policy check FILE and fix what it shows.")
    PREFLIGHT = Row("preflight", "The Eviction API refused an eviction in a dry run.",
        "Fix what the Eviction API named, or wait until the PodDisruptionBudget allows a disruption.")
    # fmt: on


class Outcome(Reason):
    # fmt: off
    REMOVED = Row("removed", "The node is gone.")
    GIVEN_BACK = Row("given_back", "The node was uncordoned and untainted; the reason shows why.")
    RELEASED = Row("released", "A release uncordoned the node.")
    OVERRULED = Row("overruled", "A person took the node back; Ebb leaves it alone for 24 h.")
    REFUSED = Row("refused", "The order was declined before anything was done.")
    WOULD_DRAIN = Row("would_drain", "Dry run: all checks passed and nothing was done.")
    STALE = Row("stale", "The node was uncordoned untouched: its pods no longer have a place.")
    # fmt: on


class ReturnReason(Reason):
    """Why a drain in progress returns its node."""

    # fmt: off
    DEADLINE = Row("deadline", "The drain deadline passed; the detail names what still held the node.",
        "Run more replicas, let the PodDisruptionBudget allow more, or raise drain.timeout.", after=After.FAILURE)
    PAUSED = Row("paused", "Ebb was paused, disabled for the pool, or set to dry run.",
        "Run ebb resume, or set paused, dryRun or enabled in the policy, then run ebb drain again.",
        after=After.NOTHING)
    EVICTION_FORBIDDEN = Row("eviction_forbidden", "The API server or a webhook refused an eviction for good.",
        "Fix what the API server or the webhook named, then run ebb drain again.", after=After.FAILURE)
    SEVERAL_PDBS = Row("several_pdbs", "Several PodDisruptionBudgets match a pod.", PodBlock.SEVERAL_PDBS.remedy,
        after=After.FAILURE)
    POD_BLOCKS = Row("pod_blocks", "A pod that may not be moved started on the node.",
        "Run ebb explain NODE to see the pod's reason.", after=After.FAILURE)
    POD_WAITS = Row("pod_waits",
        "Before the cordon a pod started that needs time (of a Job, or a young one); nothing failed.",
        "Run ebb drain again once the pod is done; ebb explain NODE shows what it waits for.", after=After.NOTHING)
    REPLACEMENT_PENDING = Row("replacement_pending", "A replacement of an evicted pod found no node.",
        "Make room for the pod: kubectl describe pod shows what is missing.", after=After.FAILURE)
    SURGE_PENDING = Row("surge_pending",
        "The second pod of a restarted Deployment found no node; Ebb undid the restart.",
        "Make room for one more such pod: the events of its namespace show what is missing.")
    SURGE_FAILED = Row("surge_failed",
        "A Deployment that Ebb restarted made no progress, or a person undid the restart.",
        "Check with kubectl rollout status why the Deployment makes no progress, and fix its template.")
    SURGE_REFUSED = Row("surge_refused", "The API server or a webhook refused to restart a Deployment.",
        "Apply infra/options/surge.yaml or fix the webhook, as the detail shows; or change singleReplicas.")
    DEMAND = Row("demand", "A pending pod fits on the node, so its room was returned.",
        "Nothing to do: the room is needed.")
    BUFFER = Row("buffer", "A capacity buffer lost room that the node has, so its room was returned.",
        "Nothing to do: the buffer needs the room.")
    BREAKER = Row("breaker",
        "A pod moved from the pool found no place, so drains of the pool that still move pods stop.",
        "Check with kubectl describe pod why the moved pod found no place; the breaker closes by itself.",
        after=After.NOTHING)
    WATCHDOG = Row("watchdog", "The cluster autoscaler did not delete the drained node in time.",
        "Check in the autoscaler's events why it kept the empty node (kubectl describe node).", after=After.FAILURE)
    ORPHAN = Row("orphan", "Ebb's taint, annotation or restart remained without an active claim.", _AGAIN,
        after=After.NOTHING)
    RELEASED = Row("released", "A release requested the node.", "Nothing to do; after 24 h the node may go again.",
        after=After.A_DAY)
    OVERRULED = Row("overruled", "A person uncordoned the node, or removed Ebb's taint.",
        "Nothing to do; after 24 h the node may go again.", after=After.A_DAY)
    CORDONED_BY_OTHER = Row("cordoned_by_other", "Another user cordoned the node before Ebb did.",
        Unremovable.CORDONED_BY_OTHER.remedy)
    GOING_AWAY = Row("going_away", "The cluster autoscaler or GKE began to remove the node before Ebb changed it.",
        "Nothing to do: the node goes by itself.", after=After.NOTHING)
    STALE = Row("stale", "Other pods took the room before the first eviction; nothing was moved.",
        "Run ebb drain again once there is room; ebb explain NODE shows how much is missing.", after=After.NOTHING)
    # fmt: on


class Shortfall(Reason):
    """Why less was saved than a policy promised, where no decision about a node has the word."""

    # fmt: off
    FEWER_REMOVABLE = Row("fewer_removable",
        "Fewer nodes could go than on the policy's first day: more were needed, or their drains still ran.",
        "Nothing to do if the nodes are needed; ebb why-not shows what would free more.")
    REMOVED_BY_OTHERS = Row("removed_by_others",
        "The autoscaler or others have removed nodes since the policy came into force.",
        "Nothing to do: these nodes are gone, though not by Ebb.")
    DRY_RUN = Row("dry_run", "A dry run drains nothing.",
        "Set dryRun: false in the policy once its plans are as you want them.")
    # fmt: on
