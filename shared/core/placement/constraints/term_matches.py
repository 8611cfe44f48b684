"""Which pod classes an inter-pod term means, without asking every class of every term.

A namespace is asked once for each term, and in it only classes that bear a label which the term's selector asks for.
Must not know whether a term attracts or rejects.
"""

from collections.abc import Iterator, Mapping, Sequence

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_LABELS, Labels, LabelSelector, PodTerm

_NONE: Sequence[int] = ()


class TermMatches:
    """The classes of a picture by namespace and label."""

    def __init__(self, classes: Sequence[PodClass], namespaces: Mapping[str, Labels]) -> None:
        self._classes = classes
        self._namespaces = namespaces
        self._within: dict[str, list[int]] = {}
        self._bearing: dict[tuple[str, str, str], list[int]] = {}
        for kind, spec in enumerate(classes):
            self._within.setdefault(spec.namespace, []).append(kind)
            for key, value in spec.labels.items():
                self._bearing.setdefault((spec.namespace, key, value), []).append(kind)

    def of(self, term: PodTerm) -> Iterator[int]:
        """Yield each class that the term means, once."""
        if term.selector is None:
            return
        for namespace in self._meant(term):
            for kind in self._near(namespace, term.selector):
                if term.selector.matches(self._classes[kind].labels):
                    yield kind

    def _meant(self, term: PodTerm) -> Iterator[str]:
        if term.namespace_selector is None:
            yield from (each for each in sorted(set(term.namespaces)) if each in self._within)
            return
        for namespace in self._within:
            labels = self._namespaces.get(namespace, NO_LABELS)
            if namespace in term.namespaces or term.namespace_selector.matches(labels):
                yield namespace

    def _near(self, namespace: str, selector: LabelSelector) -> Sequence[int]:
        """Return the classes of the namespace among which the selector's are: as few as one of its labels tells."""
        asked = (each for each in selector.requirements if each.operator == "In" and len(each.values) == 1)
        rows = (self._bearing.get((namespace, each.key, each.values[0]), _NONE) for each in asked)
        return min(rows, key=len, default=self._within[namespace])
