"""How an order or a drain ends, each ending a word and a sentence: declined, over, or given back half way."""

from shared.core.reasons import Reason


class Refusal(Reason):
    """Why the drainer declines an order: the order is forgotten and the next pass orders again."""

    MALFORMED = "malformed", "The message is not an order; it is kept on the rejected topic."
    OTHER_CLUSTER = "other_cluster", "The order is for another cluster."
    EXPIRED = "expired", "The order was not claimed before it expired."
    OLD_GENERATION = "old_generation", "A later step of this drain has taken over."
    ALREADY_SETTLED = "already_settled", "This order has already ended."
    NODE_UNKNOWN = "node_unknown", "No node of that name is in the cluster."
    NODE_REPLACED = "node_replaced", "Another node has that name now (its UID differs)."
    OTHER_NODE = "other_node", "The drain of this order id is of another node."
    CLAIMED_BY_OTHER = "claimed_by_other", "Another order holds the node."
    POLICY_INVALID = "policy_invalid", "The policy is missing or invalid; nothing new is started."
    PREFLIGHT = "preflight", "An eviction was refused when it was tried with dryRun."


class Outcome(Reason):
    """How a drain ended."""

    REMOVED = "removed", "The node is gone."
    GIVEN_BACK = "given_back", "The node was uncordoned and untainted; the reason says why."
    RELEASED = "released", "A release gave the node back."
    OVERRULED = "overruled", "A person took the node back; it is left alone for 24 h."
    REFUSED = "refused", "The order was declined before anything was done."
    WOULD_DRAIN = "would_drain", "Dry run: everything was checked and nothing was done."
    STALE = "stale", "The node was given back untouched: what it carries no longer has a place."


class Halt(Reason):
    """Why a drain in progress is given back."""

    DEADLINE = "deadline", "The drain deadline passed; what still held the node is named."
    PAUSED = "paused", "Ebb was paused, disabled for the pool, or set to dry run."
    EVICTION_FORBIDDEN = "eviction_forbidden", "The API server or a webhook refused an eviction for good."
    SEVERAL_PDBS = "several_pdbs", "More than one PodDisruptionBudget matches a pod."
    POD_BLOCKS = "pod_blocks", "A pod that may not be moved appeared on the node."
    POD_WAITS = (
        "pod_waits",
        "A pod that only has to be waited for (a Job's, a young one) came before the cordon; nothing failed.",
    )
    REPLACEMENT_PENDING = "replacement_pending", "A replacement of an evicted pod found no node."
    SURGE_PENDING = (
        "surge_pending",
        "The pod that was to take a single one's place found no node; the restart was undone.",
    )
    SURGE_FAILED = (
        "surge_failed",
        "A Deployment that was restarted for the drain made no progress, or somebody undid the restart.",
    )
    SURGE_REFUSED = "surge_refused", "The API server or a webhook refused to restart a Deployment."
    DEMAND = "demand", "A pod without a place would fit on the node: room is given back when demand returns."
    BUFFER = "buffer", "A capacity buffer has lost room, and the node would give it some: demand has returned."
    BREAKER = "breaker", "A pod moved from the pool found no place; what is not emptied yet is given back."
    WATCHDOG = "watchdog", "The cluster autoscaler did not delete the drained node in time."
    ORPHAN = "orphan", "Our taint, our annotation or a restart of ours stood without a living claim."
    RELEASED = "released", "A release asked for the node."
    OVERRULED = "overruled", "A person uncordoned the node, or removed our taint."
    CORDONED_BY_OTHER = "cordoned_by_other", "Somebody else cordoned the node before we did."
    GOING_AWAY = "going_away", "The cluster autoscaler or GKE began to remove the node before we touched it."
    STALE = "stale", "The room that the plan counted on was taken before the first eviction; nothing was moved."
