"""The saved queries: what people ask of the log. They stand in the dashboard's panels and in the runbook."""

from dataclasses import dataclass
from typing import Final

from infra.monitoring.query import OURS, AtLeast, Is, Term, field, label


@dataclass(frozen=True)
class Query:
    """A question and its query."""

    question: str
    terms: tuple[Term, ...]
    hint: str


WHY_HERE: Final = Query(
    "Why is node X still here?",
    (*OURS, label("event", "node_decision", "order_published", "drain_step", "drain_result", "healed"),
     label("node", "NODE")),
    "Write the node's name for NODE. The newest `node_decision` has the verdict and all reasons that stand now: it "
    "is written when it changes, so look back far enough.",
)  # fmt: skip
LAST_NIGHT: Final = Query(
    "What did Ebb do last night?",
    (*OURS, label("event", "order_published", "drain_result", "breaker", "healed", "policy_invalid",
                  "scale_in_steered")),
    "Choose the time; `drain_result` has outcome and reason, and one drain's lines share `operation.id`.",
)  # fmt: skip
TROUBLE: Final = Query(
    "What went wrong?",
    (*OURS, AtLeast("severity", "WARNING")),
    "Lines that need a person's attention.",
)
ONE_DRAIN: Final = Query(
    "How did one drain go, step by step?",
    (Is("operation.id", ("ORDER",)), Is("operation.producer", ("ebb",))),
    "Write the order's id for ORDER; every line of a drain carries it.",
)
WHO_RESTARTED: Final = Query(
    "Did Ebb restart this Deployment?",
    (*OURS, label("event", "surge"), field("workload", "NAMESPACE/Deployment/NAME")),
    "Write namespace and name. Only `singleReplicas: surge` restarts any; the annotation `ebb.internal/surged-for` of "
    "its pod template is the id of the order that did it last.",
)
MISSED: Final = Query(
    "What was not saved, and why?",
    (*OURS, label("event", "missed_saving")),
    "A line a pass for each pool and reason; `per_hour` is what those nodes cost. `ebb why-not` says which single "
    "change would free most of it.",
)
QUERIES: Final = (WHY_HERE, LAST_NIGHT, TROUBLE, ONE_DRAIN, WHO_RESTARTED, MISSED)
