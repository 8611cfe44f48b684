"""How an order or a drain ends: declined, over, or given back half way; a row each."""

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
    MALFORMED = Row("malformed", "The message is not an order; it is kept on the rejected topic.",
        "Run the version of ebb that the functions run.")
    OTHER_CLUSTER = Row("other_cluster", "The order is for another cluster.",
        "Set EBB_CLUSTER and EBB_TOPIC to those of one cluster.")
    EXPIRED = Row("expired", "The order was not claimed before it expired.",
        "Run ebb drain again; if it expires again, look at the push subscription and the drainer.")
    OLD_GENERATION = Row("old_generation", "A later step of this drain has taken over.", _ONGOING)
    ALREADY_SETTLED = Row("already_settled", "This order has already ended.",
        "Run ebb drain again: it makes a new order.")
    NODE_UNKNOWN = Row("node_unknown", "No node of that name is in the cluster.",
        "Check the name with kubectl get nodes: the node may be gone, or in another cluster.")
    NODE_REPLACED = Row("node_replaced", "Another node has that name now (its UID differs).",
        "Run ebb drain again if the node that bears the name now is meant.")
    OTHER_NODE = Row("other_node", "The drain of this order id is of another node.",
        "Leave order_id out: the message then has an id of its own.")
    CLAIMED_BY_OTHER = Row("claimed_by_other", "Another order holds the node.", _ONGOING)
    POLICY_INVALID = Row("policy_invalid", "The policy is missing or invalid; nothing new is started.",
        "Run ebb policy check FILE and fix what it names.")
    PREFLIGHT = Row("preflight", "An eviction was refused when it was tried with dryRun.",
        "Fix what the eviction API named, or wait until the disruption budget has room.")
    # fmt: on


class Outcome(Reason):
    """How a drain ended."""

    # fmt: off
    REMOVED = Row("removed", "The node is gone.")
    GIVEN_BACK = Row("given_back", "The node was uncordoned and untainted; the reason says why.")
    RELEASED = Row("released", "A release gave the node back.")
    OVERRULED = Row("overruled", "A person took the node back; it is left alone for 24 h.")
    REFUSED = Row("refused", "The order was declined before anything was done.")
    WOULD_DRAIN = Row("would_drain", "Dry run: everything was checked and nothing was done.")
    STALE = Row("stale", "The node was given back untouched: what it carries no longer has a place.")
    # fmt: on


class Halt(Reason):
    """Why a drain in progress is given back."""

    # fmt: off
    DEADLINE = Row("deadline", "The drain deadline passed; what still held the node is named.",
        "Give the workload more replicas or its disruption budget more room, or raise drain.timeout.",
        after=After.FAILURE)
    PAUSED = Row("paused", "Ebb was paused, disabled for the pool, or set to dry run.",
        "Run ebb resume, or set paused, dryRun or enabled in the policy, then run ebb drain again.",
        after=After.NOTHING)
    EVICTION_FORBIDDEN = Row("eviction_forbidden", "The API server or a webhook refused an eviction for good.",
        "Fix what the API server or the webhook named, then run ebb drain again.", after=After.FAILURE)
    SEVERAL_PDBS = Row("several_pdbs", "More than one PodDisruptionBudget matches a pod.", PodBlock.SEVERAL_PDBS.remedy,
        after=After.FAILURE)
    POD_BLOCKS = Row("pod_blocks", "A pod that may not be moved appeared on the node.",
        "Run ebb explain NODE to see what the pod says.", after=After.FAILURE)
    POD_WAITS = Row("pod_waits",
        "A pod that only has to be waited for (a Job's, a young one) came before the cordon; nothing failed.",
        "Run ebb drain again once the pod is done; ebb explain NODE says what it waits for.", after=After.NOTHING)
    REPLACEMENT_PENDING = Row("replacement_pending", "A replacement of an evicted pod found no node.",
        "Find room for the pod: kubectl describe pod says what it lacks.", after=After.FAILURE)
    SURGE_PENDING = Row("surge_pending",
        "The pod that was to take a single one's place found no node; the restart was undone.",
        "Find room for one more such pod: its namespace's events say what the new one lacked.")
    SURGE_FAILED = Row("surge_failed",
        "A Deployment that was restarted for the drain made no progress, or somebody undid the restart.",
        "See with kubectl rollout status why the Deployment makes no progress; mend its template.")
    SURGE_REFUSED = Row("surge_refused", "The API server or a webhook refused to restart a Deployment.",
        "Apply infra/options/surge.yaml or mend the webhook, as the detail says; or set singleReplicas otherwise.")
    DEMAND = Row("demand", "A pod without a place would fit on the node: room is given back when demand returns.",
        "Nothing to do: the room is needed.")
    BUFFER = Row("buffer", "A capacity buffer has lost room, and the node would give it some: demand has returned.",
        "Nothing to do: the buffer needs the room.")
    BREAKER = Row("breaker", "A pod moved from the pool found no place; what is not emptied yet is given back.",
        "See with kubectl describe pod why the moved pod found no place; the breaker closes by itself.",
        after=After.NOTHING)
    WATCHDOG = Row("watchdog", "The cluster autoscaler did not delete the drained node in time.",
        "See in the autoscaler's events why it kept the empty node (kubectl describe node).", after=After.FAILURE)
    ORPHAN = Row("orphan", "Our taint, our annotation or a restart of ours stood without a living claim.", _AGAIN,
        after=After.NOTHING)
    RELEASED = Row("released", "A release asked for the node.", "Nothing to do; after 24 h the node may go again.",
        after=After.A_DAY)
    OVERRULED = Row("overruled", "A person uncordoned the node, or removed our taint.",
        "Nothing to do; after 24 h the node may go again.", after=After.A_DAY)
    CORDONED_BY_OTHER = Row("cordoned_by_other", "Somebody else cordoned the node before we did.",
        Unremovable.CORDONED_BY_OTHER.remedy)
    GOING_AWAY = Row("going_away", "The cluster autoscaler or GKE began to remove the node before we touched it.",
        "Nothing to do: the node goes by itself.", after=After.NOTHING)
    STALE = Row("stale", "The room that the plan counted on was taken before the first eviction; nothing was moved.",
        "Run ebb drain again once there is room; ebb explain NODE says what is short of it.", after=After.NOTHING)
    # fmt: on
