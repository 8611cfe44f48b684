"""Whether what was read is the cluster of the installation that the environment names, and that installation's policy.

Its marks and its policy are of no other cluster, so that a dump has to tell whose it is, or a person has to say it.
Must not read marks: `plan.remembered` does.
"""

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from functions.cli.dumps.homes import Home
    from shared.core.policy import Policy

_CLUSTER: Final = re.compile(
    r"projects/(?P<project>[^/]+)/locations/(?P<region>[a-z]+-[a-z]+\d+)(?:-[a-z])?/clusters/(?P<name>[^/]+)"
)


def is_installed(home: "Home", *, said: bool) -> bool:
    """Return whether a dump is of the cluster that EBB_CLUSTER names.

    Its nodes have to tell project, region and name, or a person has `said` so and they do not tell otherwise.
    """
    named = _CLUSTER.fullmatch(os.environ.get("EBB_CLUSTER", ""))
    if named is None:
        return False
    ours = type(home)(named["project"], named["region"], named["name"])
    return ours.may_be(home) if said else ours == home


def installed_policy() -> "Policy | None":
    """Return the policy that EBB_POLICY names; None where it names none.

    Raises:
        BadSettings, BadPolicy, Retryable, Terminal: it names one that cannot be used or read.
    """
    if not os.environ.get("EBB_POLICY"):
        return None
    from shared.settings import read_settings
    from shared.wiring import policy_of

    return policy_of(read_settings(os.environ)).read()
