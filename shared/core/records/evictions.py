"""What the eviction API said of a pod, sorted by what it means for a drain, and the groups that rules ask for.

The words stand in drain records and in the log (`eviction`), so they do not change. A record of a newer version may
hold a word that is not among them: it belongs to no group. Must not judge what a drain does about an answer.
"""

from enum import StrEnum
from typing import Final


class EvictionAnswer(StrEnum):
    """What the eviction API said."""

    GRANTED = "granted"
    GONE = "gone"  # 404, or another pod bears the name
    BUDGET = "budget"  # 429 with a DisruptionBudget cause: try again later
    LATER = "later"  # other 429, 5xx, timeouts: back off
    CONFLICT = "conflict"  # 409: look again
    TERMINATING = "terminating"  # 403 with cause NamespaceTerminating: await its end
    SEVERAL_PDBS = "several_pdbs"  # 500 "more than one PodDisruptionBudget": never
    FORBIDDEN = "forbidden"  # any other 403, 422, or a webhook's denial: never


ASKED: Final = "asked"
"""In a record: the eviction is being asked for. Where it still stands in a later step its answer was lost."""
LET_GO: Final[frozenset[str]] = frozenset({EvictionAnswer.GRANTED, EvictionAnswer.GONE})
"""The pod is on its way out, or gone."""
REFUSED_FOR_GOOD: Final[frozenset[str]] = frozenset({EvictionAnswer.SEVERAL_PDBS, EvictionAnswer.FORBIDDEN})
"""No repetition changes these."""
NO_OBJECTION: Final[frozenset[str]] = frozenset(EvictionAnswer) - REFUSED_FOR_GOOD - {EvictionAnswer.BUDGET}
"""Tried with dryRun, these do not foretell a failure; the real eviction will be asked again."""
STAYS: Final = REFUSED_FOR_GOOD | {EvictionAnswer.BUDGET, EvictionAnswer.CONFLICT, EvictionAnswer.TERMINATING}
"""The pod stays where it is, or ends with its namespace; after any other answer it may be leaving by our hand."""
