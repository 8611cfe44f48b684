"""Drawn cron schedules that know what they mean: text for the code, sets of values for the judge."""

from dataclasses import dataclass
from datetime import datetime

from hypothesis import strategies as st


@dataclass(frozen=True)
class Field:
    text: str
    values: frozenset[int]
    free: bool  # Whether `*` or `?` stands in it: then the other day field alone decides (CronJobs; crontab(5)).


@st.composite
def written(draw: st.DrawFn, least: int, most: int, *, stars: int, usual: int | None = None) -> Field:
    """One cron field with the values it stands for; the more stars, the more often it is free.

    Values up to `usual` are drawn as often as all others together.
    """
    kind = draw(st.sampled_from(["star"] * stars + ["one", "range", "step", "from", "list"]))
    low = draw(st.integers(least, usual or most) | st.integers(least, most))
    high, step = draw(st.integers(low, most)), draw(st.integers(2, 9))
    match kind:
        case "star":
            return Field("*", frozenset(range(least, most + 1)), free=True)
        case "one":
            return Field(f"{low}", frozenset({low}), free=False)
        case "range":
            return Field(f"{low}-{high}", frozenset(range(low, high + 1)), free=False)
        case "step":
            return Field(f"*/{step}", frozenset(range(least, most + 1, step)), free=False)
        case "from":
            return Field(f"{low}/{step}", frozenset(range(low, most + 1, step)), free=False)
    return Field(f"{low},{high}", frozenset({low, high}), free=False)


@dataclass(frozen=True)
class Written:
    """A cron schedule as text, and as the sets it was made from."""

    fields: tuple[Field, Field, Field, Field]

    @property
    def text(self) -> str:
        minute, hour, day, weekday = (field.text for field in self.fields)
        return f"{minute} {hour} {day} * {weekday}"

    def hits(self, local: datetime) -> bool:
        minute, hour, day, weekday = self.fields
        by_day, by_weekday = local.day in day.values, local.isoweekday() % 7 in weekday.values
        free = day.free or weekday.free
        on_day = by_day and by_weekday if free else by_day or by_weekday
        return on_day and local.hour in hour.values and local.minute in minute.values


crons = st.builds(
    Written,
    st.tuples(
        written(0, 59, stars=1), written(0, 23, stars=1, usual=3), written(1, 31, stars=8), written(0, 6, stars=8)
    ),
)
