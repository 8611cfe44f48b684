"""Writes the deletion costs of a pass for ReplicaSets that are scaled in, after its orders; no rule lives here.

Each write stands alone and is conditional on the pod as it was read: killed between two of them, a pass leaves costs
that the next one counts, keeps or takes back. What cannot be written is logged, and the pass ends as usual.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from functions.planner.read_and_repair import Outages
from shared.core.cluster import names
from shared.core.planning.steering import CostWrite, Steering
from shared.errors import EbbError, Forbidden, Stale
from shared.ports import Ports

MOST_TOLD: Final = 3  # So many failures of a pass are logged; the others are counted.
_REMEDY: Final = "Apply infra/options/steer.yaml, or take steerScaleIn out of the policy."


@dataclass(frozen=True)
class Steered:
    """What a pass wrote: costs set, costs taken back, and writes that failed or were left to the next pass."""

    written: int = 0
    taken_back: int = 0
    left: int = 0


def steer(ports: Ports, found: Steering, *, dry_run: bool, may_write: Callable[[], bool]) -> Steered:
    """Make the writes one after another while `may_write` is true: a pass whose lease is over stops."""
    done, outages, goes_on = Steered(left=found.later), Outages(), True
    for place, write in enumerate(found.writes):
        if not goes_on or not may_write():
            done = replace(done, left=done.left + len(found.writes) - place)
            break
        try:
            done = _count_write(done, write, wrote=ports.cluster.set_deletion_cost(write.pod, write.cost))
            outages.note_success()
        except Stale:  # Gone as well: the pod is another by now, and the next pass looks again
            continue
        except EbbError as fault:
            goes_on = not (isinstance(fault, Forbidden) or outages.is_one(fault))
            done = replace(done, left=done.left + 1)
            if done.left - found.later <= MOST_TOLD:
                _log_failure(ports, write, fault)
    for workload in found.marked[:MOST_TOLD]:
        message = f"{workload}: its pods are not steered: its pod template carries {names.STEERED}. Take it out there."
        ports.log.event("run_summary", message, severity="WARNING", reason="not_steered")
    _log(ports, found, done, dry_run=dry_run)
    return done


def _count_write(done: Steered, write: CostWrite, *, wrote: bool) -> Steered:
    if write.cost is None:
        return replace(done, taken_back=done.taken_back + wrote)
    return replace(done, written=done.written + wrote)


def _log_failure(ports: Ports, write: CostWrite, fault: EbbError) -> None:
    remedy = f" {_REMEDY}" if isinstance(fault, Forbidden) else ""
    message = f"{write.pod.key}: its deletion cost was not written: {fault}.{remedy}"
    ports.log.event("run_summary", message, severity="WARNING", reason="not_steered")


def _log(ports: Ports, found: Steering, done: Steered, *, dry_run: bool) -> None:
    if not (found.writes or (dry_run and found.wanted)):
        return
    would = f"{len(found.wanted)} pods would carry a deletion cost (dry run)" if dry_run else f"{done.written} written"
    message = f"Scale-in: {would}, {done.taken_back} taken back, {done.left} left to later passes."
    ports.log.event(
        "scale_in_steered",
        message,
        wanted=len(found.wanted),
        nodes=len(found.nodes),
        written=done.written,
        taken_back=done.taken_back,
        left=done.left,
    )
