"""Has a capacity buffer lost room since this drain began to move pods? The autoscaler's own count tells.

A rule of `next_step`; must not act. Whoever took the room: it is demand that has returned, and the node is given back.
"""

from shared.core.draining.observation import Drain
from shared.core.draining.steps import GiveBack, Step
from shared.core.outcomes import Halt


def buffer_fell(drain: Drain) -> Step | None:
    """A buffer has room for fewer chunks than before the first eviction, and not because fewer are wanted."""
    for buffer in drain.observed.buffers.held:
        before, ready = drain.record.buffers.get(buffer.key), buffer.ready
        if before is not None and ready is not None and ready < min(before, buffer.replicas):
            counts = f"{ready} of {buffer.replicas} chunks have room, {before} had before"
            return GiveBack(Halt.BUFFER, f"{buffer.key}: {counts}")
    return None
