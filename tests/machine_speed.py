"""How slow this machine is now: on a busy machine a second of CPU does less, and bounds on CPU follow that."""

import json
from time import process_time
from typing import Final

_TURNS: Final = 13
"""So many take a second where a plan of sixty nodes takes 0.85."""


def slowness() -> float:
    """Return how many seconds of CPU now take what takes one elsewhere; 1 at least."""
    begun = process_time()
    text = json.dumps([{str(number): [number] * 9} for number in range(20_000)])
    for _ in range(_TURNS):
        sorted(json.dumps(load) for load in json.loads(text))
    return max(1.0, process_time() - begun)
