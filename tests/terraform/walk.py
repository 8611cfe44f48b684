"""The README's section on Terraform, taken apart: its commands, its module blocks, its table of inputs.

Must not run anything.
"""

import re
import shlex
from dataclasses import dataclass

from tests.readme import README

SECTION = README.read_text(encoding="utf-8").split("## Install with Terraform\n")[1].split("\n## ")[0]
CLOUD = "cloud:"
"""How a comment begins that names what needs a cloud."""


@dataclass(frozen=True)
class Command:
    """One line of the walk-through: each program of its pipe with its words, and what is said of it."""

    programs: tuple[tuple[str, ...], ...]
    comment: str

    @property
    def needs_cloud(self) -> bool:
        return self.comment.startswith(CLOUD)


def commands() -> list[Command]:
    block = re.findall(r"```sh\n(.*?)```", SECTION, re.DOTALL)[0]
    return [_command(line) for line in block.splitlines() if line.strip()]


def _command(line: str) -> Command:
    words = shlex.split(line, comments=True)
    comment = line.partition("  # ")[2] if "  # " in line else ""
    programs: list[list[str]] = [[]]
    for word in words:
        programs.append([]) if word == "|" else programs[-1].append(word)
    return Command(tuple(tuple(each) for each in programs), comment.strip())


def modules() -> list[str]:
    return re.findall(r"```hcl\n(.*?)```", SECTION, re.DOTALL)


def inputs() -> set[str]:
    """Return the names in the first column of the table of inputs."""
    table = SECTION.split("| input | meaning, default |\n|---|---|\n")[1].split("\n\n")[0]
    return {name for row in table.splitlines() for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
