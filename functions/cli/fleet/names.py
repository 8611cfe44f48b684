"""Which cluster is meant by a name: an installation finds its cluster's row, also where that is a dump's.

Pure: names in, answers out. Must not guess: what does not say which cluster it is of is one of its own.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from functions.cli.dumps.homes import Home

_PATH: Final = ("projects", "locations", "clusters")
_LEAST_OF_A_NAME: Final = 16
"""Letters of a cluster's name that are enough to know it again where nodes' names cut it."""


def parts_of(cluster: str) -> tuple[str, str, str] | None:
    """Return project, location and name of `projects/P/locations/L/clusters/C`; None of any other name."""
    words = cluster.split("/")
    if len(words) != 2 * len(_PATH) or tuple(words[::2]) != _PATH:
        return None
    return words[1], words[3], words[5]


def is_of(installation: str, cluster: str, home: "Home | None") -> bool:
    """Return whether an installation's cluster is that of a row: by its name, or by where a dump's nodes belong."""
    parts = parts_of(installation)
    if cluster == installation or parts is None or home is None or not all(home):
        return cluster == installation
    project, location, name = parts
    cut = len(home.name) >= _LEAST_OF_A_NAME and name.startswith(home.name)
    return home.project == project and location.startswith(home.region) and (home.name == name or cut)
