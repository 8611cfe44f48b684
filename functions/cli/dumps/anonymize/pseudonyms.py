"""Which name stands for which: the rank of a name among those of its sort.

Sorted by name, all is in the same order as before, so the plan of both dumps is the same; equal dumps give equal
pseudonyms. All names have to be known before the first is given: a `Gathering` takes them down, `Pseudonyms` gives
them out.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, Protocol

from shared.core.cluster.names import AUTOPILOT_NODES, KUBE_SYSTEM

_BEFORE_KUBE_SYSTEM: Final = "a-"
"""kube-system keeps its name, for rules read it: what came before it in the order has to come before it still."""


class Namer(Protocol):
    """Gives the name that stands for another; nothing stands for nothing."""

    def name(self, sort: str, given: str) -> str: ...

    def value(self, key: str, given: str) -> str:
        """Return the value that stands for a label's or a taint's."""

    def compares(self, key: str) -> None:
        """Take down that values of this label are compared as numbers."""

    def made_claim(self, pod: str, volume: str) -> None:
        """Take down that a claim is named after its pod and the pod's volume."""


class Gathering:
    """Takes down the names of a dump, and gives them back as they are."""

    def __init__(self) -> None:
        self.names: defaultdict[str, set[str]] = defaultdict(set)
        self.numbers: defaultdict[str, set[int]] = defaultdict(set)
        self.compared: set[str] = set()
        self.made: dict[str, tuple[str, str]] = {}

    def name(self, sort: str, given: str) -> str:
        """Raises TypeError: it is no name."""
        if not isinstance(given, str):
            raise TypeError(f"{given!r} is no name")
        self.names[sort].add(given)
        return given

    def value(self, key: str, given: str) -> str:
        self.name("value", given)
        number = _number(given)
        if number is not None:
            self.numbers[key].add(number)
        return given

    def compares(self, key: str) -> None:
        self.compared.add(key)

    def made_claim(self, pod: str, volume: str) -> None:
        self.made[f"{pod}-{volume}"] = (pod, volume)


class Pseudonyms:
    """Gives out the name for each."""

    def __init__(self, gathered: Gathering) -> None:
        self.table = {sort: _ranked(sort, names - {""}) for sort, names in gathered.names.items()}
        self._numbers = {
            key: {number: str(rank) for rank, number in enumerate(sorted(gathered.numbers[key]), start=1)}
            for key in gathered.compared
        }
        claims = self.table.setdefault("claim", {})
        for claim, (pod, volume) in gathered.made.items():
            claims[claim] = f"{self.name('pod', pod)}-{self.name('volume', volume)}"

    def name(self, sort: str, given: str) -> str:
        return self.table[sort][given] if given else ""

    def value(self, key: str, given: str) -> str:
        number = _number(given)
        if number is not None and key in self._numbers:
            return self._numbers[key][number]
        return self.name("value", given)

    def compares(self, key: str) -> None:
        """Nothing to do: it was taken down."""

    def made_claim(self, pod: str, volume: str) -> None:
        """Nothing to do: it was taken down."""


def _ranked(sort: str, names: Iterable[str]) -> dict[str, str]:
    """A namespace is sorted as it stands before a name: `a/` comes after `a-b/`."""
    order = sorted(names, key=lambda name: f"{name}/") if sort == "namespace" else sorted(names)
    width = len(str(len(order)))
    return {name: f"{_prefix(sort, name)}{sort}-{rank:0{width}}" for rank, name in enumerate(order, 1)} | _kept(sort)


def _kept(sort: str) -> dict[str, str]:
    return {KUBE_SYSTEM: KUBE_SYSTEM} if sort == "namespace" else {}


def _prefix(sort: str, name: str) -> str:
    if sort == "namespace" and name < KUBE_SYSTEM:
        return _BEFORE_KUBE_SYSTEM
    return AUTOPILOT_NODES if sort == "node" and name.startswith(AUTOPILOT_NODES) else ""


def _number(given: str) -> int | None:
    digits = given.removeprefix("-")
    return int(given) if digits.isascii() and digits.isdigit() else None
