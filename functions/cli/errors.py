"""The group of commands and its failures: one sentence on stderr, an exit code, and "did you mean"."""

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import typer
from typer.core import TyperGroup

from functions.cli.output.visible import visible
from shared.errors import BadInput, BadPolicy, EbbError

_NEAR: Final = 0.7  # About one letter of three may be another; what is less alike only distracts.
_AS_NEAR: Final = 0.03
"""What is by so much less alike than the nearest was not meant: all names of a cluster share most of their letters."""
_MOST: Final = 3


def near(word: str, known: Iterable[str], least: float = _NEAR) -> str:
    """Return `did you mean A or B?`, or nothing where no name is so much like the word, whole or by its end."""
    import difflib

    by_part = {part: name for name in known for part in _parts(name, word)}
    found = difflib.get_close_matches(word, by_part, n=_MOST, cutoff=least)
    likeness = {part: difflib.SequenceMatcher(None, part, word).ratio() for part in found}
    nearest = max(likeness.values(), default=0) - _AS_NEAR
    names = list(dict.fromkeys(by_part[part] for part in found if likeness[part] >= nearest))
    return f"did you mean {_either(names)}?" if names else ""


def _either(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


def _parts(name: str, word: str) -> Iterator[str]:
    """Yield what of a name a person writes: the whole, what follows its namespace or kind, as many words at its end."""
    yield name
    own = name.rpartition("/")[2]
    yield own
    yield "-".join(own.split("-")[-1 - word.count("-") :])


WRONG: Final = 1  # Something is wrong with the policy or the cluster.
BAD_USE: Final = 2  # Something is wrong with what was typed or given.
INTERRUPTED: Final = 130  # What a shell reports of a command that Ctrl-C ended (128 + SIGINT).
_USAGE: Final[Any] = typer.BadParameter.__mro__[1]
"""What the parser raises of a wrong command line; it keeps the class to itself."""
_HELP: Final = "NoArgsIsHelpError"


class Commands(typer.Typer):
    def __init__(self, **given: Any) -> None:
        mine = {"cls": EbbGroup, "no_args_is_help": True, "add_completion": False, "pretty_exceptions_enable": False}
        super().__init__(**{**mine, **given})


class EbbGroup(TyperGroup):
    """A group of commands whose failures are sentences."""

    def invoke(self, ctx: Any) -> Any:
        # Log lines of libraries stay off the terminal: a failure is one sentence of ours.
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")
        logging.captureWarnings(capture=True)
        logging.getLogger().addHandler(logging.NullHandler())
        return super().invoke(ctx)

    def main(self, *given: Any, **more: Any) -> Any:
        try:
            ended = super().main(*given, **{**more, "standalone_mode": False})
        except (_USAGE, EbbError) as failure:
            ended = _print(failure)
        except typer.Abort:
            ended = WRONG
        sys.exit(ended if isinstance(ended, int) else 0)


def _print(failure: Any) -> int:
    if type(failure).__name__ == _HELP:  # a group without a command: its help
        typer.echo(str(failure), err=True)
        return BAD_USE
    if isinstance(failure, EbbError):
        message, code = message_of(failure), exit_code(failure)
    else:
        message, code = failure.format_message(), BAD_USE
    for sentence in message.split("\n"):
        typer.echo(f"ebb: {visible(sentence)}", err=True)
    return code


def message_of(failure: EbbError) -> str:
    """Return a failure's message with what somebody at a shell does about it."""
    first, *more = str(failure).split("\n")
    return "\n".join([f"{first.removesuffix('.')}; {failure.at_a_shell}" if failure.at_a_shell else first, *more])


def exit_code(failure: EbbError) -> int:
    """Return 2 for a mistake in what was typed or given, else 1 (docs/run.md)."""
    return BAD_USE if isinstance(failure, BadInput) and not isinstance(failure, BadPolicy) else WRONG
