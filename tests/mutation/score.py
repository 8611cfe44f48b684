"""How many of each package's mutants the tests saw."""

from collections import Counter, defaultdict

from tests.mutation.trying import Fate, Trial


class Score:
    def __init__(self) -> None:
        self._fates: dict[str, Counter[Fate]] = defaultdict(Counter)

    def add(self, trial: Trial, end: Fate) -> None:
        if trial.mutant:
            self._fates[trial.mutant.package][end] += 1

    def table(self) -> str:
        """Return a row for each package and one for all."""
        head = f"{'':28}{'mutants':>9}{''.join(f'{fate:>10}' for fate in Fate)}{'score':>7}"
        rows = [*sorted(self._fates.items()), ("all", sum(self._fates.values(), Counter()))]
        return "\n".join([head, *(_row(package, fates) for package, fates in rows)])


def _row(package: str, fates: Counter[Fate]) -> str:
    seen = (fates[Fate.KILLED] + fates[Fate.HUNG]) / max(fates.total(), 1)
    return f"{package:28}{fates.total():9}{''.join(f'{fates[fate]:10}' for fate in Fate)}{seen:7.0%}"
