"""What a node can be in the story: a sign, a word for the legend and a colour. Must not hold anything else."""

from enum import Enum


class Sign(Enum):
    """One state of a node, with the mark that the picture puts before its name."""

    STAYS = " ", "stays", "default"
    MARKED = "~", "marked", "cyan"
    ORDERED = ">", "ordered", "blue"
    DRAINING = "x", "draining", "yellow"
    HELD = "!", "held by a PDB", "bold red"
    EMPTY = "o", "empty", "green"
    AUTOSCALER = "a", "drained by the autoscaler", "bright_yellow"
    GONE = "-", "gone", "bright_black"
    GIVEN_BACK = "<", "given back", "magenta"
    BLOCKED = "#", "kept by a pod", "bright_blue"
    PERSON = "p", "cordoned by a person", "bright_blue"

    def __init__(self, mark: str, word: str, style: str) -> None:
        self.mark, self.word, self.style = mark, word, style
