"""Feeds a reader with many almost right inputs, and keeps each that breaks it as a file of the corpus."""

import hashlib
from dataclasses import dataclass, field
from time import perf_counter

from tests.fuzz.mutating import Mutator
from tests.fuzz.targets import CORPUS, Target, accepts

_ENOUGH = 20
"""So many findings in one reader are one to start with."""


@dataclass
class Report:
    name: str
    inputs: int = 0
    accepted: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    findings: dict[str, bytes] = field(default_factory=dict)
    """By failure: one input that shows it."""

    def __str__(self) -> str:
        share = self.accepted / max(self.inputs, 1)
        return (
            f"{self.name:20} {self.inputs:>9,} inputs, {share:5.1%} accepted, {len(self.findings)} findings, "
            f"{self.seconds:6.1f} s, slowest {self.slowest * 1000:.0f} ms"
        )


def fuzz(target: Target, inputs: int, *, first: int = 0) -> Report:
    """Read `inputs` mutated examples, the same ones every time."""
    mutator = Mutator([path.read_bytes() for path in target.corpus], as_yaml=target.as_yaml)
    report, began = Report(target.name), perf_counter()
    for number in range(first, first + inputs):
        _feed(report, target, mutator.input(number))
        if len(report.findings) >= _ENOUGH:
            break
    report.seconds = perf_counter() - began
    return report


def _feed(report: Report, target: Target, data: bytes) -> None:
    began = perf_counter()
    report.inputs += 1
    try:
        report.accepted += accepts(target, data)
    except Exception as failure:  # noqa: BLE001 - whatever is not a named fault is what is looked for
        known = f"{type(failure).__name__}: {str(failure)[:60]}"
        smallest = report.findings.get(known, data)
        report.findings[known] = min(smallest, data, key=len)
    report.slowest = max(report.slowest, perf_counter() - began)


def keep(report: Report) -> None:
    for data in report.findings.values():
        name = f"found-{hashlib.sha256(data).hexdigest()[:8]}"
        (CORPUS / report.name / name).write_bytes(data)
