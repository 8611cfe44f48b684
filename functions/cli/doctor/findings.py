"""What a check found: one sentence, and what to do about it. Must not ask anything."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is; a `FAIL` keeps Ebb from working."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"
    """Not looked at: what it rests on has failed."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at. The remedy is empty where nothing is to be done."""

    check: str
    grade: Grade
    sentence: str
    remedy: str = ""


def ok(check: str, sentence: str) -> CheckResult:
    return CheckResult(check, Grade.OK, sentence)


def skip(checks: Iterable[str], sentence: str) -> CheckResult:
    """Return one result for all checks that could not be made."""
    return CheckResult(", ".join(checks), Grade.SKIP, sentence)


def warn(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.WARN, sentence, remedy)


def fail(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.FAIL, sentence, remedy)
