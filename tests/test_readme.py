"""What the README says is true: its commands exist, its policy parses, its tables are the code's."""

import re
import shlex

import pytest

from shared.core.orders import Kind, decode
from shared.core.policy_document.parsing import parse
from shared.core.result import DrainResult
from shared.settings import Settings
from tests.builders import CLUSTER, NOW
from tests.readme import README, written

TEXT = README.read_text(encoding="utf-8")
MAKEFILE = (README.parent / "Makefile").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_the_reasons_are_those_of_the_code() -> None:
    assert written(TEXT) == TEXT, "run `python -m tests.readme`"


@pytest.mark.parametrize("text", blocks("yaml"))
def test_every_policy_shown_is_valid(text: str) -> None:
    assert parse(text.encode()).pools["default-pool"].enabled


def test_every_order_shown_is_an_order() -> None:
    messages = [
        words[-1] for block in blocks("sh") for words in map(shlex.split, block.splitlines()) if "--message" in words
    ]

    kinds = [decode(message.encode(), CLUSTER, "id", NOW).kind for message in messages]
    assert kinds == [Kind.DRAIN, Kind.RELEASE]


def test_every_make_target_named_exists() -> None:
    named = set(re.findall(r"`?make ([a-z]+)", TEXT))

    assert named
    assert all(re.search(rf"^{target}:", MAKEFILE, re.MULTILINE) for target in named)


def test_every_key_of_a_result_is_explained_and_no_other() -> None:
    table = TEXT.partition("| result | meaning |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(DrainResult.__struct_fields__)


def test_every_variable_of_the_environment_is_explained_and_no_other() -> None:
    named = set(re.findall(r"`(EBB_[A-Z_]+)`", TEXT))

    assert named == {f"EBB_{name.upper()}" for name in Settings.__dataclass_fields__}
