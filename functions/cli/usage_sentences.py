"""What is wrong with what was typed for an option, in one sentence, in place of the parser's own words.

Must not judge what was typed: the parser has refused it.
"""

import re
from typing import Any, Final

import typer

from functions.cli.near_names import near
from shared.errors import BadInput

_CHOICE: Final = re.compile(r"(?:Value error, )?'(?P<given>.*)' is not one of (?P<known>'.*')\.?", re.DOTALL)
_MISSING: Final = "MissingParameter"
"""The parser keeps its classes to itself, and gives this one no message."""
_ARGUMENT: Final = "An argument"
_MUST_BE: Final = (
    ("Input should be a valid integer, unable to parse string as an integer", "must be a whole number"),
    ("Value error, ", ""),
    ("Input should be", "must be"),
)


def sentence_of(error: typer.BadParameter) -> BadInput:
    """Return the failure whose sentence begins with the option."""
    names = [*getattr(error.param, "opts", ()), *getattr(error.param, "secondary_opts", ())]
    option = next((name for name in names if name.startswith("--")), None) or getattr(error.param, "metavar", None)
    if type(error).__name__ == _MISSING:
        return BadInput(f"{_plain(option or _ARGUMENT)} is missing: write {_usage(error.ctx)}.")
    told = _told(error.message)
    return BadInput(f"{option}: {told}" if option else told)


def _usage(context: Any) -> str:
    """Return the command with all that it cannot do without."""
    wanted = (each for each in context.command.params if each.required)
    program, *words = context.command_path.split()
    del program
    return " ".join(("ebb", *words, *map(_spelled, wanted)))


def _spelled(parameter: Any) -> str:
    option = next((name for name in parameter.opts if name.startswith("--")), "")
    return " ".join(filter(None, (option, parameter.metavar or ("" if option else parameter.name.upper()))))


def _plain(name: str) -> str:
    return name.removesuffix("...")


def _told(message: str) -> str:
    choice = _CHOICE.fullmatch(message)
    if choice is None:
        for theirs, ours in _MUST_BE:
            message = message.replace(theirs, ours)
        return f"{message.removesuffix('.')}."
    known = re.findall(r"'([^']*)'", choice["known"])
    asked = near(choice["given"], known, least=0.6)
    return f"{choice['given']!r} is none of {', '.join(known)}{f'; {asked}' if asked else '.'}"
