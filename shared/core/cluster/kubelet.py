"""What a node's kubelet can do."""

import re
from dataclasses import dataclass
from typing import Final

_VERSION: Final = re.compile(r"v([0-9]{1,4})\.([0-9]{1,4})\.", re.ASCII)
UNKNOWN: Final = (0, 0)


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Its version as (major, minor), and the features that the node declares (`status.declaredFeatures`)."""

    version: tuple[int, int] = UNKNOWN
    features: frozenset[str] = frozenset()

    def can_all_of(self, other: "Kubelet") -> bool:
        """Whether what runs under the other may run under this one: not older, and no feature missing.

        A newer kubelet runs what an older one does (kubernetes.io/docs/reference/using-api/deprecation-policy); the
        scheduler's plugin NodeDeclaredFeatures asks for the features that a pod needs, which are some of those that
        its node declares.
        """
        return self.version >= other.version and self.features >= other.features

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}" if self.version != UNKNOWN else "unknown"


def minor_version(written: str) -> tuple[int, int]:
    """Return major and minor of a kubelet's version (`v1.33.4-gke.1245000`); what is not of that form is unknown."""
    match = _VERSION.match(written)
    return (int(match[1]), int(match[2])) if match else UNKNOWN


ANY_KUBELET: Final = Kubelet()
"""One of which nothing is known."""
