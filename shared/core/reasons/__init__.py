"""Everything that happens to a pod, a node, an order or a drain has a word."""
# One row, the same in code, log and pages.

from shared.core.reasons.nodes import Outcome as Outcome
from shared.core.reasons.nodes import Refusal as Refusal
from shared.core.reasons.nodes import ReturnReason as ReturnReason
from shared.core.reasons.nodes import Shortfall as Shortfall
from shared.core.reasons.nodes import Unremovable as Unremovable
from shared.core.reasons.nodes import group_of as group_of
from shared.core.reasons.reason import After as After
from shared.core.reasons.reason import Blocker as Blocker
from shared.core.reasons.reason import DrainReason as DrainReason
from shared.core.reasons.reason import Finding as Finding
from shared.core.reasons.reason import PodBlock as PodBlock
from shared.core.reasons.reason import Reason as Reason
from shared.core.reasons.reason import ReasonGroup as ReasonGroup
from shared.core.reasons.reason import ReasonRow as ReasonRow
from shared.core.reasons.reason import reason_of_word as reason_of_word
