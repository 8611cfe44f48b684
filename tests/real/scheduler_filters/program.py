"""The Go program beside this file: built once into the cache like the control plane's binaries, asked over a pipe."""

import json
import os
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.real.control_plane.go_build import GoPrograms, missing_go

Manifest = dict[str, Any]
Refusals = Mapping[str, Mapping[str, str]]
"""By node and plugin, the plugin's words; a node that is absent takes the pod."""
_SOURCE = Path(__file__).with_name("scheduler_filters.go")
_SECONDS = 300


@dataclass(frozen=True)
class Question:
    """Which nodes refuse the pod? If it is bound it leaves its node first; then it is bound to `bind`, if given.

    Nodes in `cordon` are cordoned before, with `taints`; those in `gone` leave with all that is still on them.
    `claims` stand from now on in place of those of the same name.
    """

    pod: Manifest
    bind: str = ""
    cordon: Sequence[str] = ()
    taints: Sequence[Manifest] = ()
    gone: Sequence[str] = ()
    claims: Sequence[Manifest] = ()


@dataclass(frozen=True)
class Cluster:
    nodes: Sequence[Manifest]
    namespaces: Sequence[Manifest]
    pods: Sequence[Manifest]
    claims: Sequence[Manifest] = ()
    volumes: Sequence[Manifest] = ()
    classes: Sequence[Manifest] = ()
    csi_nodes: Sequence[Manifest] = ()
    csi_drivers: Sequence[Manifest] = ()
    attachments: Sequence[Manifest] = ()
    returning: Sequence[Manifest] = ()
    """The bound pods as they come back, where that is not as they are; the program does not read them."""


def key(pod: Manifest) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def replacement(pod: Manifest) -> Manifest:
    """Return what the pod's controller creates in its place."""
    return pod | {"spec": {field: value for field, value in pod["spec"].items() if field != "nodeName"}}


def refusals_of(
    asked: Iterable[tuple[Cluster, Sequence[Question]]], answers: Iterable[list[Refusals]]
) -> Iterator[tuple[int, Question, Mapping[str, str]]]:
    """Yield each question whose target refuses its pod: the place of its cluster, and the plugins' words."""
    for place, ((_, questions), answer) in enumerate(zip(asked, answers, strict=True)):
        for question, refusals in zip(questions, answer, strict=True):
            if said := refusals.get(question.bind):
                yield place, question, said


class SchedulerFilters:
    """The filters as one call: a list of clusters with questions in, a list of answers for each out."""

    @staticmethod
    def missing(env: Mapping[str, str] = os.environ) -> str | None:
        """Say in one sentence what keeps this machine from having the program, or None if nothing does."""
        return None if _has_program(_PROGRAMS.home(env)) else missing_go()

    def __init__(self) -> None:
        """Build the program if no build is cached. Raises BuildError."""
        self._program = _PROGRAMS.built() / _SOURCE.stem

    def ask(self, asked: Iterable[tuple[Cluster, Sequence[Question]]]) -> list[list[Refusals]]:
        """Return for each cluster the answers in the order of its questions; each sees what the ones before did."""
        lines = "".join(json.dumps(vars(cluster) | {"questions": [*map(vars, each)]}) + "\n" for cluster, each in asked)
        done = subprocess.run(
            [self._program], input=lines, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        if done.returncode:
            raise RuntimeError(f"the scheduler's filters ended with {done.returncode}:\n{done.stderr[-4000:]}")
        return [json.loads(line) for line in done.stdout.splitlines()]


def _has_program(folder: Path) -> bool:
    return (folder / _SOURCE.stem).is_file()


_PROGRAMS = GoPrograms("scheduler_filters", "the scheduler's filters", [str(_SOURCE)], _has_program, sources=[_SOURCE])
