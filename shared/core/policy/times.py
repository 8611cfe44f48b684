"""Which times are taken from outside: those to which any duration may be added."""

from typing import Final

YEARS: Final = range(1970, 9000)
"""A duration added to a time of these years, or a zone's offset, is still a time."""
