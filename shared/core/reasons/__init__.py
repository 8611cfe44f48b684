"""Everything that happens to a pod, a node, an order or a drain has a word: one row, the same in code, log and pages.

`nodes` and `pods` hold why they stay, `endings` how orders and drains end. To add one, write its row there.
"""

from shared.core.reasons.endings import Halt, Outcome, Refusal
from shared.core.reasons.nodes import Unremovable, group_of
from shared.core.reasons.pods import Finding, PodBlock
from shared.core.reasons.reason import FORMER, After, Blocker, DrainReason, Reason, ReasonGroup, ReasonRow, named

__all__ = [
    "FORMER",
    "After",
    "Blocker",
    "DrainReason",
    "Finding",
    "Halt",
    "Outcome",
    "PodBlock",
    "Reason",
    "ReasonGroup",
    "ReasonRow",
    "Refusal",
    "Unremovable",
    "group_of",
    "named",
]
