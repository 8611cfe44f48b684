"""What the pages say of Terraform, taken apart: the commands of the installation and the module blocks."""

import shlex
from dataclasses import dataclass

from tests.pages import INSTALL, README, ROOT, blocks, section

SECTION = section(INSTALL, "## One cluster")
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
    return [_command(line) for line in blocks(SECTION, "sh")[0].splitlines() if line.strip()]


def _command(line: str) -> Command:
    words = shlex.split(line, comments=True)
    comment = line.partition("  # ")[2] if "  # " in line else ""
    programs: list[list[str]] = [[]]
    for word in words:
        programs.append([]) if word == "|" else programs[-1].append(word)
    return Command(tuple(tuple(program) for program in programs), comment.strip())


def modules() -> list[str]:
    pages = (README, ROOT / "terraform" / "README.md")
    return [text for page in pages for text in blocks(page.read_text(encoding="utf-8"), "hcl")]
