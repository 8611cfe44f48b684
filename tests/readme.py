"""The README's table of reasons, written from the code: `python -m tests.readme` brings it up to date."""

import sys
from pathlib import Path

from shared.core.reasons import Halt, Outcome, PodBlock, Reason, Refusal, Unremovable

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- reasons -->\n", "<!-- /reasons -->"
TITLES: dict[type[Reason], str] = {
    Unremovable: "Why a node stays",
    PodBlock: "Why a pod keeps its node",
    Refusal: "Why the drainer declines an order (besides the reasons above)",
    Halt: "Why a drain is given back",
    Outcome: "How a drain ends",
}


def tables() -> str:
    return "\n".join(_table(title, kind) for kind, title in TITLES.items())


def _table(title: str, kind: type[Reason]) -> str:
    rows = "".join(f"| `{reason.value}` | {reason.sentence} |\n" for reason in kind)
    return f"<details><summary>{title}</summary>\n\n| word | meaning |\n|---|---|\n{rows}\n</details>\n"


def written(text: str) -> str:
    before, rest = text.split(START)
    return before + START + tables() + END + rest.split(END)[1]


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"{README.name} is up to date\n")
