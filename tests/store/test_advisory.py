"""What could not be read is said: which lists, and what follows for the drains."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.core.cluster.buffers import LISTS, Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.storage import Storage
from shared.core.cluster.vertical_autoscaler import VerticalAutoscalers
from shared.store.advisory import (
    warn_of_unread_autoscalers,
    warn_of_unread_buffers,
    warn_of_unread_limits,
    warn_of_unread_storage,
)
from tests.fakes import FakeLog


def said(warn: Callable[..., None], reading: Any) -> list[str]:
    log = FakeLog()
    warn(log.event, "drain_step", reading)
    assert {line["severity"] for line in log.lines} <= {"WARNING"}
    return [str(line["message"]) for line in log.lines]


@pytest.mark.parametrize(
    ("warn", "reading"),
    [
        pytest.param(warn_of_unread_storage, Storage, id="storage"),
        pytest.param(warn_of_unread_autoscalers, VerticalAutoscalers, id="VerticalPodAutoscalers"),
        pytest.param(warn_of_unread_limits, NamespaceLimits, id="limits of namespaces"),
        pytest.param(warn_of_unread_buffers, Buffers, id="capacity buffers"),
    ],
)
def test_lists_that_may_not_be_read_are_named_and_nothing_is_said_where_all_were(
    warn: Callable[..., None], reading: Callable[..., Any]
) -> None:
    assert said(warn, reading(unread=())) == []
    (sentence,) = said(warn, reading(unread=("ones", "others")))
    assert "ones, others" in sentence


@pytest.mark.parametrize("unread", LISTS)
def test_how_long_the_autoscaler_waits_is_unknown_only_without_compute_classes(unread: str) -> None:
    (sentence,) = said(warn_of_unread_buffers, Buffers(unread=(unread,)))

    assert ("ComputeClasses" in sentence) is (unread == "computeclasses")


def test_it_is_unknown_as_well_where_more_than_they_could_not_be_read() -> None:
    (sentence,) = said(warn_of_unread_buffers, Buffers(unread=tuple(LISTS)))

    assert "ComputeClasses" in sentence
