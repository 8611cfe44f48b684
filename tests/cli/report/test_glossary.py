"""The glossary knows every word on the page that is not plain English, and has the policy's own words of a setting."""

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.plan.scenarios import ADDED, BOUND
from functions.cli.report.compute import GLOSSARY, KUBERNETES, SETTINGS, glossary
from shared.core.policy.fields import POOL_FIELDS
from shared.core.reasons import DrainReason, PodBlock, Unremovable
from tests.cli import dumps
from tests.cli.dumps.rich_dump import rich_dump
from tests.cli.report import reports
from tests.cli.running import ebb

PLAIN: Final = Path(__file__).with_name("plain_words.txt")
"""Words that a reader knows who has never run a cluster; a new word is put there, or into the glossary."""
SCRIPTS: Final = Path("functions/cli/output/assets")
_ENDINGS: Final = ("ations", "ation", "ions", "ion", "ies", "'s", "es", "ed", "ing", "s", "d", "e")
_SHORTEST: Final = 3


def stem(word: str) -> str:
    word = word.lower()
    fitting = (word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _SHORTEST)
    return next(fitting, word)


def words(text: str) -> set[str]:
    """Return the words of a text, without figures, paths and flags."""
    return set(re.findall(r"(?<![\w/.:@-])[A-Za-z]+(?:[-'][A-Za-z]+)*(?![\w/@]|[.:-]\w)", text))


def unknown(texts: Iterable[str], names: Iterable[str] = ()) -> list[str]:
    """Return the words that are neither plain, nor in the glossary, nor names of the cluster."""
    known = {stem(word) for word in words(" ".join((*GLOSSARY, *KUBERNETES, *SETTINGS, *names)))}
    known |= set(map(stem, PLAIN.read_text().split()))
    return sorted(word for word in words(" ".join(texts)) if stem(word) not in known)


def shown(page: str) -> str:
    without = re.sub(r"<(script|style).*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", without))


def page_of(*given: str | Path) -> str:
    return ebb("report", *given, "--out", "-").stdout


@pytest.mark.parametrize("committed", [False, True])
def test_every_word_of_the_shops_page_is_known(*, committed: bool, tmp_path: Path) -> None:
    sources = reports.shop(tmp_path)
    assert sources.policy
    families = "cluster: {commitments: {families: {e2: {vcpu: 900, gib: 3600, until: '2027-05-01'}}}, "
    if committed:
        sources.policy.write_text(sources.policy.read_text().replace("cluster: {", families, 1))
    told = shown(page_of(sources.dumps[0], "--policy", sources.policy))
    names = ("batch-pool default-pool web-pool shop europe-west4 backend importer cache platform ledger sessions",)

    assert ("Committed and idle" in told) is committed
    assert unknown([told], names) == []


def test_every_word_of_a_rich_clusters_page_is_known(tmp_path: Path) -> None:
    dump = dumps.write_items(tmp_path / "dump.json", rich_dump(0))
    names = set(re.findall(r'"([A-Za-z][\w.-]*)"', dump.read_text()))

    assert unknown([shown(page_of(dump))], (*names, *" ".join(names).split("-"))) == []


@pytest.mark.parametrize("kind", [Unremovable, PodBlock, DrainReason])
def test_every_word_of_the_reasons_is_known(kind: Any) -> None:
    assert unknown(f"{reason.sentence} {reason.remedy}" for reason in kind) == []


def test_every_heading_that_the_script_draws_is_known() -> None:
    text = " ".join(path.read_text() for path in SCRIPTS.glob("*.js"))
    found = [word for pair in re.findall(r'title: "([^"]*)"|\["([a-z ]+)", ', text) for word in pair]

    assert unknown(found) == []
    assert len(found) > 20


def test_a_rare_word_is_there_where_the_page_has_it() -> None:
    always = [row["word"] for row in glossary({})]

    assert always == [*GLOSSARY]
    assert {ADDED, BOUND} <= {*always}
    assert [row["word"] for row in glossary({"notes": ["A second taint."]})] == [*always, "taint, toleration"]


def test_a_setting_has_the_sentence_of_the_policy_without_its_default() -> None:
    found = {row["word"]: row["meaning"] for row in glossary({"remedy": "Lower consolidateAfter of the pool."})}
    field = next(field_ for field_ in POOL_FIELDS.values() if field_.name == "consolidateAfter")

    meaning, _, default = field.description.partition(" Default ")
    assert default
    assert found["consolidateAfter"].endswith(meaning)
