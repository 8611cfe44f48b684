"""Which pods a plan would mark so that a scale-in takes them first. Must not judge: `steering` does."""

from collections.abc import Iterator

from functions.cli.format import count, some
from shared.core.planning.plan import Plan
from shared.core.planning.steering import steering
from shared.core.rules.situation import Situation


def steer_note(situation: Situation, plan: Plan) -> Iterator[str]:
    """Yield a sentence where the policy steers scale-in and something is to go next."""
    if not plan.next_nodes:
        return
    found = steering(plan, situation)
    pods, nodes = count(len(found.wanted), "pod"), f"{count(len(found.nodes), 'node')} ({some(list(found.nodes))})"
    if found.wanted:
        yield f"steerScaleIn: a scale-in takes {pods} on {nodes} first, by the deletion cost that Ebb writes."
    else:
        yield "steerScaleIn: on no node that goes next is a pod that a scale-in could take before others."
