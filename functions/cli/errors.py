"""The group of commands: several files after one --dump, and failures as one sentence on stderr with an exit code.

Must not catch what Ebb does not name: that is a fault of ours and its traceback is wanted.
"""

from pathlib import Path
from typing import Any, Final

import typer

from functions.cli.flags import PlainGroup
from functions.cli.usage_sentences import sentence_of
from functions.cli.visible import visible
from shared.errors import BadInput, BadPolicy, EbbError

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
        except EbbError as failure:
            for sentence in told(failure).split("\n"):
                typer.echo(f"ebb: {visible(sentence)}", err=True)
            raise typer.Exit(exit_code(failure)) from failure


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
