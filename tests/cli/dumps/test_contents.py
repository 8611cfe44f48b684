"""What pieces of one dump come to together: nothing of a later piece is lost."""

from typing import Any

import msgspec
import pytest

from functions.cli.dumps.contents import DumpContents
from functions.cli.dumps.homes import Home

OLD, NEW = "2026-03-04T21:00:00Z", "2026-03-04T22:00:00Z"


def contents(kind: str, **given: Any) -> DumpContents:
    found = DumpContents()
    found.add(kind, msgspec.json.encode({"kind": kind, "metadata": {"name": "x"}, **given}))
    return found


def merged(later: DumpContents) -> DumpContents:
    """A first piece that holds a namespace, and that piece added to it."""
    first = contents("Namespace", metadata={"name": "default", "creationTimestamp": OLD})
    first.merge(later)
    return first


def test_what_shows_how_much_is_wanted_is_kept_from_each_piece() -> None:
    later = contents("CronJob")

    assert merged(later).demand == later.demand != {}


def test_a_dump_is_as_old_as_the_newest_time_in_any_piece() -> None:
    later = contents("Namespace", metadata={"name": "other", "creationTimestamp": NEW})

    assert merged(later).newest == later.newest


def test_the_clusters_own_namespace_is_known_from_each_piece() -> None:
    later = contents("Namespace", metadata={"name": "kube-system", "uid": "u"})

    assert merged(later).kube_system == {"u"}


def test_objects_that_cannot_be_read_are_shown_of_each_piece() -> None:
    later = contents("VerticalPodAutoscaler", metadata={"name": "x", "namespace": "default"}, spec="odd")

    assert merged(later).read().autoscalers.faults == later.read().autoscalers.faults != ()


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_names_the_shorter_may_have_been_cut_whichever_comes_first(turned: bool) -> None:
    homes = [Home("p", "r", "prod"), Home("p", "r", "prod-eu")]
    one, other = reversed(homes) if turned else homes

    assert one.may_be(other)
