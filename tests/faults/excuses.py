"""READ FIRST for what the oracle lets pass: every excuse that there is, with its reason. No rule has one of its own.

None covers a pod that Ebb moved because of what somebody else did: such a pod has a place within half a minute, or its
node is given back, whatever others do. How often each is used is told at the end of a run.
"""

from collections import Counter
from enum import Enum


class Excuse(Enum):
    HINDERED = (
        "A moved pod waits longer, its node still held, until Ebb has recovered from a kill, pause or lost message.",
        "Who is killed, paused or without its message cannot look: the same end, not the same minute.",
    )
    TURNED_AWAY = (
        "A moved pod waits while the API server turns Ebb's requests away, and half a minute after.",
        "Nobody can look, nor uncordon a node, through an API that answers nobody.",
    )
    SLOW = (
        "A moved pod waits longer by four calls while each call of a kind takes seconds.",
        "What is given back is looked at twice, and nobody looks faster than the API server answers.",
    )
    REPEATED = (
        "A moved pod waits longer by one redelivery after a call of Ebb's that failed.",
        "The look that failed is made again when its message is delivered again.",
    )
    GIVEN_BACK = (
        "A moved pod waits, or one that was to take its place, and the node that it left is open again.",
        "That is all that Ebb can do for it: what keeps it from there now is not Ebb's cordon.",
    )
    NODE_GONE = (
        "A moved pod waits, or one that was to take its place, and the node that it left is gone.",
        "Nobody can give back what the autoscaler or a person has deleted.",
    )
    GROWN = (
        "As many pods of a workload wait as it asks for more than at Ebb's first eviction.",
        "The promise is for a workload that asks for no more than before.",
    )
    DISTURBED = (
        "A cordon, claim or message stands longer by a lease and a redelivery, once Ebb was kept from its work.",
        "Who was killed holds its lease until that lapses, and what was lost is delivered anew only then.",
    )
    LISTED_BEFORE = (
        "A claim broke a limit by the nodes of the moment, not by those that its instance had listed within 60 s.",
        "Nobody can read the nodes and write a document in one instant, nor stop a write that is under way.",
    )
    FORGOTTEN = (
        "Starts and uncordons before the state was lost count no more; an order begun before it is never settled.",
        "What was lost cannot be known; a write under way, or a late copy that nobody repeats, may revive one record.",
    )
    MESSAGE_LOST = (
        "An order, or a person's release, whose message was lost for good is not carried out.",
        "Nobody has received it.",
    )
    AUTOSCALER_TRIED = (
        "A person uncordons a node of Ebb's, with our taint left on it, that the autoscaler has begun to delete.",
        "It cordons, and uncordons when it fails: whose hand it was cannot be known (docs/decisions/healing.md).",
    )
    UNREAD = (
        "A first eviction, or a node bought back for a buffer, rests on a picture of which a list that advises failed.",
        "Such a list ends no picture, or one that fails for hours would end all passes: it is named in the log.",
    )
    UNDER_WAY = (
        "One eviction that rests on what stood when its call set out: that Ebb held the node, that there was room.",
        "The eviction API knows no fencing: a call already under way cannot be stopped (docs/decisions/promise.md).",
    )
    CHANGED_SINCE = (
        "A Deployment that a drain restarted, and that drain is no more, waits for a pod of a later version.",
        "What its owner has rolled out since is not Ebb's to take back.",
    )

    @property
    def what(self) -> str:
        return self.value[0]

    @property
    def why(self) -> str:
        return self.value[1]


class Excuses:
    def __init__(self) -> None:
        self.used: Counter[Excuse] = Counter()

    def covers(self, excuse: Excuse, holds: bool) -> bool:
        """Return whether it holds, and count it if so. Ask only where a rule would speak otherwise."""
        self.note(excuse, holds)
        return holds

    def note(self, excuse: Excuse, holds: bool) -> None:
        self.used[excuse] += holds
