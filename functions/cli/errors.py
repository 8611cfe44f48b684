"""The group of commands and its failures: one sentence on stderr, an exit code, and "did you mean"."""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from functions.cli.output.visible import visible
from shared.errors import BadInput, BadPolicy, EbbError

_NEAR: Final = 0.75
"""One letter of four may be another; what is less alike only distracts."""
_AS_NEAR: Final = 0.03
"""What is by so much less alike than the nearest was not meant: all names of a cluster share most of their letters."""
_MOST: Final = 3


def near(word: str, known: Iterable[str], least: float = _NEAR) -> str:
    """Return `did you mean A or B?`, or nothing where no name is so much like the word, whole or by its end."""
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


class Command(TyperCommand):
    """A command with plain flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_params(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands with plain flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _plain_params(super().get_params(ctx))


class Commands(typer.Typer):
    """Makes commands with plain flags."""

    def command(self, name: str | None = None, **given: Any) -> Callable[[Any], Any]:
        return super().command(name, **{"cls": Command, **given})


def _plain_params(params: list[Any]) -> list[Any]:
    for param in params:
        if getattr(param, "is_bool_flag", False):
            param.metavar = ""
    return params


WRONG: Final = 1
"""Something is wrong with the policy or the cluster."""
BAD_USE: Final = 2
"""Something is wrong with what was typed or given."""
_DUMP: Final = "--dump"


class Sentences(PlainGroup):
    """A group of commands whose failures are sentences."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, spread(args))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            typer.echo(f"ebb: {visible(str(sentence_of(wrong)))}", err=True)
            raise typer.Exit(BAD_USE) from wrong
        except ModuleNotFoundError as missing:
            typer.echo(f"ebb: {_missing_extra(missing, ctx.invoked_subcommand)}", err=True)
            raise typer.Exit(WRONG) from missing
        except EbbError as failure:
            for sentence in told(failure).split("\n"):
                typer.echo(f"ebb: {visible(sentence)}", err=True)
            raise typer.Exit(exit_code(failure)) from failure


_OURS: Final = ("functions", "infra", "shared")
_CLOUD: Final = ("google", "grpc", "requests")


def _missing_extra(missing: ModuleNotFoundError, command: str) -> str:
    """Return which extra a command lacks. Raises the failure again if it is no extra's module that is not there."""
    module = (missing.name or "").partition(".")[0]
    if module in _OURS:
        raise missing
    extra = "cloud" if module in _CLOUD else "demo"
    return f"{command} needs the package {module}; in the checkout of Ebb run: pipx install --force '.[{extra}]'"


def told(failure: EbbError) -> str:
    """Return a failure's message with what somebody at a shell does about it."""
    first, *more = str(failure).split("\n")
    return "\n".join([f"{first.removesuffix('.')}; {failure.at_a_shell}" if failure.at_a_shell else first, *more])


def exit_code(failure: EbbError) -> int:
    """Return 2 for a mistake in what was typed or given, else 1 (docs/operations.md)."""
    return BAD_USE if isinstance(failure, BadInput) and not isinstance(failure, BadPolicy) else WRONG


def spread(args: list[str]) -> list[str]:
    """Write `--dump a b` as `--dump a --dump b`, so that a shell's `--dump dumps/*.json` is understood."""
    spelled: list[str] = []
    in_dumps = False
    for number, arg in enumerate(args):
        if in_dumps and args[number - 1] != _DUMP and not arg.startswith("-"):
            in_dumps = Path(arg).exists()
            spelled += [_DUMP] if in_dumps else []
        else:
            in_dumps = arg == _DUMP or (in_dumps and not arg.startswith("-"))
        spelled.append(arg)
    return spelled
