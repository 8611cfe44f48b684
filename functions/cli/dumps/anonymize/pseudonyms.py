"""Which name stands for which: the rank of a name among those of its sort.

Sorted by name, all is in the same order as before, so the plan of both dumps is the same; equal dumps give equal
pseudonyms. All names have to be known before the first is given: the rules run twice, before and after `rank_names`.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from shared.core.cluster.names import AUTOPILOT_NODES, KUBE_SYSTEM

NameTable = dict[str, dict[str, str]]
"""By sort and name: what stands for it."""
_BEFORE_KUBE_SYSTEM: Final = "a-"
"""kube-system keeps its name, for rules read it: what came before it in the order has to come before it still."""


class Namer:
    """Takes names down until they are ranked, and from then on gives what stands for each; nothing for nothing."""

    def __init__(self) -> None:
        self.table: NameTable = {}
        self._names: defaultdict[str, set[str]] = defaultdict(set)
        self._numbers: defaultdict[str, set[int]] = defaultdict(set)
        self._compared: set[str] = set()
        self._claims: dict[str, tuple[str, str]] = {}
        self._ranks: dict[str, dict[int, str]] = {}
        self._is_ranked = False

    def rank_names(self) -> None:
        self._is_ranked = True
        self.table = {sort: _rank(sort, names - {""}) for sort, names in self._names.items()}
        self._ranks = {
            key: {number: str(rank) for rank, number in enumerate(sorted(self._numbers[key]), start=1)}
            for key in self._compared
        }
        claims = self.table.setdefault("claim", {})
        for claim, (pod, volume) in self._claims.items():
            claims[claim] = f"{self.name('pod', pod)}-{self.name('volume', volume)}"

    def name(self, sort: str, given: str) -> str:
        """Raises TypeError: it is no name."""
        if self._is_ranked:
            return self.table[sort][given] if given else ""
        if not isinstance(given, str):
            raise TypeError(f"{given!r} is no name")
        self._names[sort].add(given)
        return given

    def value(self, key: str, given: str) -> str:
        name, number = self.name("value", given), _number(given)
        if number is not None and not self._is_ranked:
            self._numbers[key].add(number)
        return name if number is None else self._ranks.get(key, {}).get(number, name)

    def compare_numbers(self, key: str) -> None:
        """Take down that values of this label are compared as numbers."""
        self._compared.add(key)

    def derive_claim(self, pod: str, volume: str) -> None:
        """Take down that a claim is named after its pod and the pod's volume."""
        self._claims[f"{pod}-{volume}"] = (pod, volume)


def _rank(sort: str, names: Iterable[str]) -> dict[str, str]:
    """A namespace is sorted as it stands before a name: `a/` comes after `a-b/`."""
    order = sorted(names, key=lambda name: f"{name}/") if sort == "namespace" else sorted(names)
    width = len(str(len(order)))
    return {
        **{name: f"{_prefix(sort, name)}{sort}-{rank:0{width}}" for rank, name in enumerate(order, 1)},
        **({KUBE_SYSTEM: KUBE_SYSTEM} if sort == "namespace" else {}),
    }


def _prefix(sort: str, name: str) -> str:
    if sort == "namespace" and name < KUBE_SYSTEM:
        return _BEFORE_KUBE_SYSTEM
    return AUTOPILOT_NODES if sort == "node" and name.startswith(AUTOPILOT_NODES) else ""


def _number(given: str) -> int | None:
    digits = given.removeprefix("-")
    return int(given) if digits.isascii() and digits.isdigit() else None
