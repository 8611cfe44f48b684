"""What `SECURITY.md` says can be looked up: its tests are there, and its figures are the code's."""

import re

import pytest

from shared.core.policy.values import MOST_POLICY_BYTES
from shared.core.records.orders import decode, quoted_value
from shared.errors import BadOrder
from tests.builders import CLUSTER, NOW
from tests.pages import ROOT

TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"`((?:tests|infra|terraform)/[^`]*)`", TEXT))
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_the_limits_are_those_of_the_code() -> None:
    assert "at most 64 KiB" in " ".join(TEXT.split())
    with pytest.raises(BadOrder, match="at most 65536"):
        decode(b" " * (64 * 1024 + 1), CLUSTER, "id", NOW)
    assert f"at most {MOST_POLICY_BYTES // 1024} KiB" in " ".join(TEXT.split())
    assert len(quoted_value("x" * 1000)) == 81, "eighty characters and the mark that some are missing"
