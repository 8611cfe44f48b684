"""What could not be read is said: which lists, and what follows for the drains."""

from collections.abc import Callable
from typing import Any

import pytest

from shared.core.cluster.autoscaling import BUFFER_LISTS, Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.returning import VerticalAutoscalers
from shared.core.cluster.storage import Storage
from shared.port_types import ClusterReading
from shared.store.snapshots import warn_of_unread
from tests.fakes import FakeLog


def said(**parts: Any) -> list[str]:
    """What the log says of a reading of which all else was read."""
    whole: dict[str, Any] = {"storage": Storage(unread=()), **parts}
    log = FakeLog()
    warn_of_unread(log, "drain_step", ClusterReading((), (), (), {}, **whole))
    assert {line["severity"] for line in log.lines} <= {"WARNING"}
    return [str(line["message"]) for line in log.lines]


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        pytest.param("storage", Storage, id="storage"),
        pytest.param("autoscalers", VerticalAutoscalers, id="VerticalPodAutoscalers"),
        pytest.param("limits", NamespaceLimits, id="limits of namespaces"),
        pytest.param("buffers", Buffers, id="capacity buffers"),
    ],
)
def test_lists_that_may_not_be_read_are_named_and_nothing_is_shown_where_all_were(
    part: str, kind: Callable[..., Any]
) -> None:
    assert said(**{part: kind(unread=())}) == []
    (sentence,) = said(**{part: kind(unread=("ones", "others"))})
    assert "ones, others" in sentence


@pytest.mark.parametrize("unread", BUFFER_LISTS)
def test_how_long_the_autoscaler_waits_is_unknown_only_without_compute_classes(unread: str) -> None:
    (sentence,) = said(buffers=Buffers(unread=(unread,)))

    assert ("ComputeClasses" in sentence) is (unread == "computeclasses")


def test_it_is_unknown_as_well_where_more_than_they_could_not_be_read() -> None:
    (sentence,) = said(buffers=Buffers(unread=tuple(BUFFER_LISTS)))

    assert "ComputeClasses" in sentence
