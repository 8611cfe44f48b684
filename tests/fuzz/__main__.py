"""`python -m tests.fuzz [INPUTS]`: a million inputs for all readers; findings become files of the corpus, and fail."""

import sys

from tests.fuzz.fuzzing import Report, fuzz, keep
from tests.fuzz.targets import TARGETS


def main() -> None:
    inputs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    whole = sum(target.share for target in TARGETS)
    reports: list[Report] = []
    for target in TARGETS:
        reports.append(fuzz(target, -int(-inputs * target.share // whole)))
        print(reports[-1], flush=True)  # noqa: T201 - this is what the command is for
        for failure in reports[-1].findings:
            print(f"    {failure}", flush=True)  # noqa: T201 - same
        keep(reports[-1])
    print(f"{sum(report.inputs for report in reports):,} inputs in all")  # noqa: T201 - same
    sys.exit(any(report.findings for report in reports))


if __name__ == "__main__":
    main()
