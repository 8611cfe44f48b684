"""How a class of settings declares them: each attribute with its field, so that one line holds all there is to know.

Must not know the single fields.
"""

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any, Final, TypedDict, TypeVar, Unpack

from shared.core.policy.field import Binds, Field, Shape

T = TypeVar("T")
_DECLARED: Final = "declared"


class Options(TypedDict, total=False):
    """What a declaration may say besides; `Field` says what each means."""

    binds: Binds
    unset: str
    empty: str
    unit: str


def setting(
    path: str,
    shape: Shape[T],
    default: Any,
    text: str,
    *,
    in_force: T | None = None,
    **more: Unpack[Options],
) -> T:
    """Declare an attribute of a dataclass; where the default is None, `in_force` is what holds when it is left out."""
    declared = Field(path, shape, text, default, **more)
    value: T = in_force if default is None else declared.initial()  # type: ignore[assignment]  # see `optional`
    return field(default=value, metadata={_DECLARED: declared})


def optional(path: str, shape: Shape[T], text: str, **more: Unpack[Options]) -> T | None:
    """Declare an attribute that holds None where it is left out."""
    value: T | None = setting(path, shape, None, text, **more)
    return value


def declared(kind: type) -> Mapping[str, Field]:
    """Return the fields of a dataclass by attribute; attributes that are no settings are not among them."""
    return {each.name: each.metadata[_DECLARED] for each in fields(kind) if _DECLARED in each.metadata}
