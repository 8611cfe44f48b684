"""Rights that only an option of the policy needs: there, with their fence, where it is on; absent where it is off.

Whoever may delete pods is a person with rights of his own, which tell nothing of what the functions may. Says nothing
where all is as it should be and no option is on. Must not change anything.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from functions.cli.doctor.findings import CheckResult, ok, warn
from functions.cli.doctor.installation import InstallationParts, RightsReview
from functions.cli.doctor.rights import Right, rights_of_option
from functions.cli.doctor.shipped import fences, roles
from functions.cli.format import count
from shared.core.cluster.names import SURGE
from shared.core.policy import Policy, PoolPolicy, SingleReplicas
from shared.core.rules.surges import FORBIDS
from shared.errors import Forbidden, Gone

NAME: Final = "optional_rights"
_WIDE: Final = Right("delete", "", "pods")


class Option(NamedTuple):
    """A file of infra/options: whose the right is, and what of a pool's policy asks for it."""

    name: str
    function: str
    field: str
    is_on: Callable[[PoolPolicy], bool]

    @property
    def file(self) -> str:
        return f"infra/options/{self.name}.yaml"


OPTIONS: Final = (
    Option("steer", "planner", "steerScaleIn: true", lambda pool: pool.steer_scale_in),
    Option("surge", "drainer", "singleReplicas: surge", lambda pool: pool.single_replicas is SingleReplicas.SURGE),
)


def optional_rights(policy: Policy, parts: InstallationParts) -> Iterable[CheckResult]:
    """Look at each option; an API server that reviews no rights, as the simulated GKE's, ends it."""
    reviews = parts.reviews()
    try:
        wide = reviews.may(*_WIDE)
        for option in OPTIONS:
            asked = _asked_by_pools(option, policy)
            if option.name == "surge" and not asked and not wide:
                asked = _asked_by_annotations(policy, parts)
            yield from _found(option, asked, reviews, wide=wide)
    except Gone:
        return


def _found(option: Option, asked: str, reviews: RightsReview, *, wide: bool) -> Iterator[CheckResult]:
    lacking = [str(each) for each in rights_of_option(option.name) if not reviews.may(*each)]
    if asked:
        yield _needed(option, asked, lacking)
    elif not lacking and not wide:
        remedy = f"Delete what {option.file} made, as its comment says, or drop {option.name} from optional_rights."
        yield warn(NAME, f"This identity has the right of {option.file}, and nothing asks for it.", remedy)
    yield from _stands(option, reviews, needed=bool(asked) and not lacking)


def _needed(option: Option, asked: str, lacking: list[str]) -> CheckResult:
    if lacking:
        return warn(NAME, f"{asked}, and this identity may not: {'; '.join(lacking)}.", _apply(option))
    return ok(NAME, f"{asked}, and this identity may.")


def _stands(option: Option, reviews: RightsReview, *, needed: bool) -> Iterator[CheckResult]:
    """Say what stands and is not this version's; that no fence stands only where it is needed."""
    file = f"options/{option.name}.yaml"
    try:
        found = fences(NAME, file, reviews)
        if needed and found.missing:
            sentence = f"{', '.join(found.missing)} missing: the right of {option.file} stands without its fence."
            yield warn(NAME, sentence, _apply(option))
        yield from found.differing
        yield from roles(NAME, file, reviews)
    except Forbidden:
        return  # the check of the other admission policies has said so


def _apply(option: Option) -> str:
    return f"Apply {option.file}, as its comment says; if you ask as a person, ask as the {option.function}."


def _asked_by_pools(option: Option, policy: Policy) -> str:
    pools = sorted(name for name, pool in policy.pools.items() if pool.enabled and option.is_on(pool))
    return f"{option.field} is on in {', '.join(pools)}" if pools else ""


def _asked_by_annotations(policy: Policy, parts: InstallationParts) -> str:
    """The policy's `never` holds against annotations."""
    if all(pool.single_replicas is SingleReplicas.NEVER for pool in policy.pools.values() if pool.enabled):
        return ""
    found = (each.deployment for each in parts.cluster().read().workloads.values())
    asking = {each.name for each in found if each is not None and each.wish not in {"", FORBIDS}}
    return f"{count(len(asking), 'Deployment')} with the annotation {SURGE}" if asking else ""
