"""What `evictionResponders: request` needs: a cluster with EvictionRequests, the right, and time for who answers.

Says nothing where no pool asks for it. Must not change anything.
"""

from collections.abc import Callable, Iterable
from typing import Final

from functions.cli.doctor.findings import CheckResult, ok, warn
from functions.cli.doctor.installation import RightsReview
from functions.cli.doctor.rights import rights_of_option
from functions.cli.format import span
from shared.core.policy import EvictionResponders, Policy
from shared.core.rules.eviction_responders import SILENT_FOR

NAME: Final = "eviction_requests"
_NOT_SERVED: Final = "The policy requests evictions (evictionResponders), and the cluster serves no EvictionRequests."


def eviction_requests(policy: Policy, reviews_of: Callable[[], RightsReview]) -> Iterable[CheckResult]:
    """Look at it where an enabled pool requests evictions."""
    asking = sorted(name for name, pool in policy.pools.items() if pool.enabled and _requests(pool.eviction_responders))
    if not asking:
        return
    reviews, wanted = reviews_of(), rights_of_option("eviction-requests")
    if not reviews.serves(wanted[0].group, wanted[0].resource):
        yield warn(NAME, _NOT_SERVED, "Set evictionResponders: leave: the pods concerned keep their nodes anyway.")
        return
    lacking = [str(each) for each in wanted if not reviews.may(*each)]
    if lacking:
        sentence = f"Evictions are to be requested, and this identity may not: {'; '.join(lacking)}."
        yield warn(
            NAME, sentence, "Apply infra/options/eviction-requests.yaml; if you ask as a person, ask as the drainer."
        )
    elif policy.drain.timeout < SILENT_FOR:
        sentence = (
            f"drain.timeout is {span(policy.drain.timeout)}, and who answers may be silent for {span(SILENT_FOR)}."
        )
        yield warn(NAME, sentence, "Raise drain.timeout to 20m for each responder that a pod names.")
    else:
        yield ok(NAME, f"Evictions are requested in {', '.join(asking)}, and this identity may.")


def _requests(word: EvictionResponders) -> bool:
    return word is EvictionResponders.REQUEST
