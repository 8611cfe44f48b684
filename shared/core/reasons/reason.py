"""What a reason is: a word, and one row with all its facts."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import lru_cache
from typing import Final, Self

NOTHING_TO_DO: Final = "Nothing to do: this passes by itself."


class ReasonGroup(StrEnum):
    """What has to change before a node may go: seven words for a chart; the exact reason stands in `node_decision`."""

    FULL = "full"  # It is used too much.
    PODS = "pods"  # A pod on it may not be moved.
    ROOM = "room"  # The others have no room for its pods.
    LIMITS = "limits"  # Budgets, rates and minimums.
    TIME = "time"  # It is a matter of time: ages, marks, gaps, windows.
    OFF = "off"  # Somebody switched it off, or GKE would not delete it.
    TROUBLE = "trouble"  # Something is wrong or under way with the node or its pool.


class After(Enum):
    BACK_OFF = auto()  # The node is left alone for a while, longer after each failure.
    FAILURE = auto()  # The same, and it counts for the breaker of the pool: draining does not work there just now.
    NOTHING = auto()  # The node may go again at once.
    A_DAY = auto()  # A person decided: the node is left alone for a day.


@dataclass(frozen=True, slots=True)
class ReasonRow:
    word: str
    sentence: str  # What it means.
    remedy: str = ""  # What a person can do about it; empty where nothing keeps a node or went wrong.
    group: ReasonGroup = ReasonGroup.TROUBLE  # Of what keeps a node.
    message_id: str = ""
    """The cluster autoscaler's own name for it, by which Google's documentation and the autoscaler's log name it
    (docs/decisions/autoscaler.md); empty where it has none."""
    passes: bool = False  # Whether it passes by itself, as drains end and time passes: come again later.
    delays: bool = False  # Whether it only delays an eviction once the drain has begun, at most until its deadline.
    keeps_mark: bool = False  # The node is underutilized all the same (estafette: pods block the pick).
    underused: bool = True  # Whether the node can still count as underutilized.
    after: After = After.BACK_OFF  # Of a give-back.


class Reason(StrEnum):
    """A word with one sentence that a person can act on."""

    row: ReasonRow

    def __new__(cls, row: ReasonRow) -> Self:
        member = str.__new__(cls, row.word)
        member._value_ = row.word
        member.row = row
        return member

    @property
    def sentence(self) -> str:
        return self.row.sentence

    @property
    def remedy(self) -> str:
        return self.row.remedy

    @property
    def message_id(self) -> str:
        return self.row.message_id


FORMER: Final[Mapping[str, str]] = {
    "surge_unreadable": "surge_forbidden",
    **dict.fromkeys(
        ("surge_kind", "surge_strategy", "surge_beside_itself", "surge_disk", "surge_quota", "surge_grace"),
        "surge_impossible",
    ),
}
"""Words of former versions, which records and logs still hold, and the words that stand for them now."""


@lru_cache(maxsize=1024)
def reason_of_word(word: str, *kinds: type[Reason]) -> Reason | None:
    """Return the reason of that word among some kinds; None for a word that none of them has, of a newer version."""
    now = FORMER.get(word, word)
    return next((reason for kind in kinds for reason in kind if reason.value == now), None)


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in a node's way: the reason, what it is about (`ns/pod`, a PDB, a budget), details."""

    reason: Reason
    object: str = ""
    detail: str = ""

    @property
    def sentence(self) -> str:
        about = ", ".join(filter(None, (self.object, self.detail)))
        return f"{self.reason.sentence} ({about})" if about else self.reason.sentence


class DrainReason(Reason):
    EMPTY = ReasonRow("empty", "No pod would have to move.")
    UNDERUTILIZED = ReasonRow(
        "underutilized", "Its requests are below the limits, and its pods all have a place elsewhere."
    )
    EXPIRED = ReasonRow("expired", "The node is older than expireAfter, and its pods all have a place elsewhere.")
    MANUAL = ReasonRow("manual", "A person asked for it.")
