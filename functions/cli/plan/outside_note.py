"""What a plan says of nodes that no figure of a pool counts: those that stand by, and those that Google manages.

Nothing is said where there are none. Must not decide anything.
"""

from typing import Final

from functions.cli.format import count
from shared.core.cluster.snapshot import Snapshot

_COUNTED_NOWHERE: Final = "Nodes in no pool's figures, and without a cost here: {what} (docs/decisions/neighbours.md)."


def outside_note(snapshot: Snapshot) -> tuple[str, ...]:
    """Return one line, or none."""
    standing = sum(each.stands_by for each in snapshot.nodes)
    managed = sum(each.managed and not each.stands_by for each in snapshot.nodes)
    rows = ((standing, "standing by for a capacity buffer"), (managed, "managed by Google"))
    what = ", ".join(f"{count(number, 'node')} {said}" for number, said in rows if number)
    return (_COUNTED_NOWHERE.format(what=what),) if what else ()
