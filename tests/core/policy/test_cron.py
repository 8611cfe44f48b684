import pytest

from shared.core.policy.schedule import parse_cron
from shared.errors import BadInput


@pytest.mark.acceptance(65)
@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("0 9 * 1,2,3,4,5,6,7,8,9,10,11,12 1,2,3,4,5", "0 9 * * mon-fri", id="names and a range"),
        pytest.param("0 9 * 1,2,3,4,5,6,7,8,9,10,11,12 1,2,3,4,5", "0 9 ? * MON-FRI", id="case and question mark"),
        pytest.param("0,30 0 1 1 *", "*/30 0 1 jan *", id="steps and a month's name"),
        pytest.param("5,15,25,35,45,55 0 1 6 *", "5/10 0 1 6 *", id="a start with a step runs to the end"),
        pytest.param("0 0 * 6 0", "0 0 * 6 7", id="Sunday as 7"),
        pytest.param("0 0 * 6 0,5,6", "0 0 * 6 5-7", id="a range up to Sunday as 7"),
        pytest.param("0 0 * 6 0,2,4,6", "0 0 * 6 */2", id="every other weekday counts Sunday once"),
        pytest.param("0 1,2,3,8 1 6 *", "0 1-3,8 1 6 *", id="a list with a range"),
        pytest.param("0 0 1 1 *", "0 0 1 1-1 *", id="a range of one is no star"),
        pytest.param("0 0 13 6 5", "0 0 13 6 fri", id="two restricted days are left to OR"),
        pytest.param("0 0 * 6 *", "0 0 1-31 6 mon", id="a restricted field of all days makes every day match"),
        pytest.param("0 0 * 6 1", "0 0 * 6 mon", id="a star leaves the weekday alone"),
        pytest.param("0 0 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31 6 1", "0 0 */2 6 1", id="a step is no star"),
        pytest.param("0 0 * 6 1", "0 0 */1 6 1", id="a step of one is a star"),
        pytest.param("0 0 1 1 *", "@yearly", id="yearly"),
        pytest.param("0 0 * 1,2,3,4,5,6,7,8,9,10,11,12 0", "@weekly", id="weekly"),
    ],
)
def test_a_schedule_is_read_as_robfig_cron_reads_it(expected: str, text: str) -> None:
    assert parse_cron(text).expression == expected


@pytest.mark.acceptance(66)
@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("five fields, not 6", "0 0 9 * * mon", id="seconds"),
        pytest.param("five fields, not 1", "tue-mon", id="one field"),
        pytest.param("only the words @yearly", "@every 5m", id="an unknown macro"),
        pytest.param("in timeZone", "TZ=Europe/Amsterdam 0 9 * * *", id="a zone before the schedule"),
        pytest.param("runs backwards", "0 9 * * tue-mon", id="a range that wraps"),
        pytest.param("'60' is no minute; write 0 to 59", "60 * * * *", id="a minute too many"),
        pytest.param("'8' is no day of week; write 0 to 7 or sun to sat", "0 0 * * 8", id="a weekday too many"),
        pytest.param("step of '*/0' is zero", "*/0 * * * *", id="a step of nothing"),
        pytest.param("no such date exists", "0 0 30 2 *", id="30 February"),
        pytest.param("no such date exists", "0 0 31 4,6,9,11 *", id="31 in short months"),
        pytest.param("'' is no minute", ", * * * *", id="an empty element"),
        pytest.param("'l' is no day of month", "0 0 l * *", id="the last day"),
        pytest.param("'15W' is no day of month", "0 0 15W * *", id="the nearest workday"),
        pytest.param("'5#2' is no day of week", "0 0 * * 5#2", id="the second Friday"),
        pytest.param("'H' is no minute", "H * * * *", id="a hashed minute"),
        pytest.param("'R' is no hour", "0 R * * *", id="a random hour"),
        pytest.param("'-1' is no minute", "-1 * * * *", id="a negative minute"),
        pytest.param("'*-5' is no minute", "*-5 * * * *", id="a star with an end"),
    ],
)
def test_a_schedule_that_is_none_is_refused_with_the_remedy(expected: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_cron(text)
    assert expected in str(refused.value)


@pytest.mark.parametrize("text", ["0 0 29 2 *", "0 0 29,30 2 *", "0 0 31 1,2 *"])
def test_a_schedule_with_one_date_that_exists_is_one(text: str) -> None:
    assert parse_cron(text).expression == text


def test_an_impossible_date_with_a_weekday_hits_on_the_weekday() -> None:
    assert parse_cron("0 0 30 2 mon").ever
