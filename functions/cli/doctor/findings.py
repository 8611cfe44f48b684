"""What a check found: one sentence, and what to do about it. Must not ask anything."""

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is; a `FAIL` keeps Ebb from working."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at. The remedy is empty where nothing is to be done."""

    check: str
    grade: Grade
    sentence: str
    remedy: str = ""


def ok(check: str, sentence: str) -> CheckResult:
    return CheckResult(check, Grade.OK, sentence)


def warn(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.WARN, sentence, remedy)


def fail(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.FAIL, sentence, remedy)
