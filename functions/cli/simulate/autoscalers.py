"""The limits of HorizontalPodAutoscalers in a dump: between which replicas their workloads follow the day.

What cannot be followed is said, by name. Must not read files: the dump's reader has kept these objects.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from functions.cli.analysis.simulated_days.patterns import Range
from functions.cli.format import count, some

KIND: Final = "HorizontalPodAutoscaler"
NO_WORKLOAD: Final = "{some} of {all} {verb} no workload whose pods are in the dump: {names}."
BACKWARDS: Final = "{some} of {all} {verb} minReplicas above maxReplicas: {names}."
UNREADABLE: Final = "{some} of {all} cannot be read."


class _Meta(msgspec.Struct):
    name: str
    namespace: str = "default"

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"


class _Target(msgspec.Struct):
    kind: str
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scale_target_ref: _Target
    max_replicas: int
    min_replicas: int | None = None

    @property
    def least(self) -> int:
        return 1 if self.min_replicas is None else self.min_replicas


class _Autoscaler(msgspec.Struct):
    metadata: _Meta
    spec: _Spec

    @property
    def target(self) -> str:
        target = self.spec.scale_target_ref
        return f"{self.metadata.namespace}/{target.kind}/{target.name}"


_decoder: Final = msgspec.json.Decoder(_Autoscaler)


def limits_in(
    objects: Iterable[tuple[str, bytes]], controllers: Mapping[str, str]
) -> tuple[dict[str, Range], tuple[str, ...]]:
    """Return the limits by controller, of workloads whose pods are there, and notes on autoscalers left aside."""
    raws = [raw for kind, raw in objects if kind == KIND]
    read = {each.metadata.key: each for raw in raws if (each := _read(raw)) is not None}
    backwards = [key for key, each in read.items() if each.spec.least > each.spec.max_replicas]
    unknown = [key for key, each in read.items() if each.target not in controllers and key not in backwards]
    found = {
        controllers[each.target]: Range(each.spec.least, each.spec.max_replicas)
        for key, each in read.items()
        if key not in {*backwards, *unknown}
    }
    every = count(len(raws), KIND)
    notes = [_note(NO_WORKLOAD, unknown, every, ("names", "name")), _note(BACKWARDS, backwards, every, ("has", "have"))]
    if len(raws) > len(read):
        notes.append(UNREADABLE.format(some=len(raws) - len(read), all=every))
    return found, tuple(filter(None, notes))


def _read(raw: bytes) -> _Autoscaler | None:
    try:
        return _decoder.decode(raw)
    except msgspec.MsgspecError:
        return None


def _note(sentence: str, keys: list[str], every: str, verbs: tuple[str, str]) -> str:
    verb = verbs[len(keys) != 1]
    return sentence.format(some=len(keys), all=every, verb=verb, names=some(sorted(keys))) if keys else ""
