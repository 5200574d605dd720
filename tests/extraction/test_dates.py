import os
import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgam.extraction.dates import Moment, resolve, resolve_end, to_date, to_datetime, to_time

ANCHOR = datetime(2026, 5, 13, 15, 30, 12, 345, tzinfo=UTC)  # a Wednesday


def since(phrase: str, zone: str = "UTC") -> tuple[str, str] | None:
    return shown(resolve(phrase, anchor=ANCHOR, zone=zone))


def until(phrase: str, zone: str = "UTC") -> str | None:
    end = shown(resolve_end(phrase, anchor=ANCHOR, zone=zone))
    return end and end[0]


def shown(moment: Moment | None) -> tuple[str, str] | None:
    return None if moment is None else (f"{moment.start:%Y-%m-%d %H:%M}", moment.precision)


@pytest.mark.parametrize(
    ("phrase", "start", "precision"),
    [
        ("since 2023", "2023-01-01 00:00", "year"),
        ("in 2024", "2024-01-01 00:00", "year"),
        ("back in 2010", "2010-01-01 00:00", "year"),
        ("nineteen ninety-six", "1996-01-01 00:00", "year"),
        ("since June 2024", "2024-06-01 00:00", "month"),
        ("2024-06", "2024-06-01 00:00", "month"),
        ("15 June 2024", "2024-06-15 00:00", "day"),
        ("the twenty-fifth of December 2024", "2024-12-25 00:00", "day"),
        ("03/04/2026", "2026-03-04 00:00", "day"),
        ("13/04/2026", "2026-04-13 00:00", "day"),
        ("7/4/24", "2024-07-04 00:00", "day"),
        ("in Jan '24", "2024-01-01 00:00", "month"),
        ("starting Monday, May 18", "2026-05-18 00:00", "day"),
        ("2026-07-15", "2026-07-15 00:00", "day"),
        ("20260715", "2026-07-15 00:00", "day"),
        ("2026-07-15T10:00+02:00", "2026-07-15 08:00", "exact"),
        ("2026-07-15 10:00", "2026-07-15 10:00", "exact"),
        ("June 5th 2025 at 3pm", "2025-06-05 15:00", "exact"),
    ],
)
def test_a_full_date_keeps_the_precision_it_was_said_with(phrase: str, start: str, precision: str) -> None:
    assert since(phrase) == (start, precision)


@pytest.mark.parametrize(
    ("phrase", "start", "precision"),
    [
        ("yesterday", "2026-05-12 00:00", "day"),
        ("the day before yesterday", "2026-05-11 00:00", "day"),
        ("last night", "2026-05-12 00:00", "day"),
        ("three days ago", "2026-05-10 00:00", "day"),
        ("a couple of days ago", "2026-05-11 00:00", "day"),
        ("two weeks ago", "2026-04-29 00:00", "day"),
        ("two months ago", "2026-03-13 00:00", "month"),
        ("two years ago", "2024-05-13 00:00", "year"),
        ("for two years", "2024-05-13 00:00", "year"),
        ("for the past two weeks", "2026-04-29 00:00", "day"),
        ("starting in two weeks", "2026-05-27 00:00", "day"),
        ("two weeks from today", "2026-05-27 00:00", "day"),
        ("in a week's time", "2026-05-20 00:00", "day"),
        ("half an hour ago", "2026-05-13 15:00", "exact"),
        ("last month", "2026-04-01 00:00", "month"),
        ("last year", "2025-01-01 00:00", "year"),
        ("starting next month", "2026-06-01 00:00", "month"),
        ("June last year", "2025-06-01 00:00", "month"),
        ("the 1st of next month", "2026-06-01 00:00", "day"),
        ("since yesterday at 5 pm", "2026-05-12 17:00", "exact"),
        ("tonight at 8", "2026-05-13 20:00", "exact"),
    ],
)
def test_a_relative_phrase_counts_from_the_anchor(phrase: str, start: str, precision: str) -> None:
    assert since(phrase) == (start, precision)


@pytest.mark.parametrize(
    "phrase", ["now", "today", "this morning", "tonight", "this week", "this month", "this year", "2026", "May 2026"]
)
def test_a_stretch_that_contains_the_anchor_yields_the_anchor(phrase: str) -> None:
    moment = resolve(phrase, anchor=ANCHOR)

    assert moment == Moment(start=ANCHOR, precision="exact", rule="contains_anchor")


def test_earlier_this_year_is_not_now() -> None:
    assert since("earlier this year") == ("2026-01-01 00:00", "year")


@pytest.mark.parametrize(
    ("phrase", "start", "precision"),
    [("last week", "2026-05-04 00:00", "month"), ("Q3 2024", "2024-07-01 00:00", "year")],
)
def test_a_week_and_a_quarter_take_the_next_wider_precision(phrase: str, start: str, precision: str) -> None:
    assert since(phrase) == (start, precision)


@pytest.mark.parametrize(
    ("phrase", "start"),
    [
        ("since June", "2025-06-01 00:00"),
        ("in June", "2025-06-01 00:00"),
        ("from June", "2026-06-01 00:00"),
        ("starting June", "2026-06-01 00:00"),
        ("as of June 1", "2026-06-01 00:00"),
        ("as of May 1", "2026-05-01 00:00"),
        ("on May 1", "2026-05-01 00:00"),
        ("from Monday onwards", "2026-05-18 00:00"),
        ("June", "2026-06-01 00:00"),
        ("March", "2026-03-01 00:00"),
        ("since July 15", "2025-07-15 00:00"),
        ("from July 15", "2026-07-15 00:00"),
        ("since Friday", "2026-05-08 00:00"),
        ("Friday", "2026-05-08 00:00"),
        ("on Friday", "2026-05-15 00:00"),
        ("since the 5th", "2026-05-05 00:00"),
        ("from the 5th", "2026-06-05 00:00"),
        ("last June", "2025-06-01 00:00"),
        ("next June", "2026-06-01 00:00"),
    ],
)
def test_the_preposition_decides_which_occurrence_is_meant(phrase: str, start: str) -> None:
    found = since(phrase)

    assert found is not None
    assert found[0] == start


@pytest.mark.parametrize(
    ("phrase", "day"),
    [
        ("last Friday", "2026-05-08 00:00"),
        ("this Friday", "2026-05-15 00:00"),
        ("next Friday", "2026-05-22 00:00"),
        ("Monday next week", "2026-05-18 00:00"),
        ("coming Tuesday", "2026-05-19 00:00"),
    ],
)
def test_last_this_and_next_weekday_are_those_of_last_this_and_next_week(phrase: str, day: str) -> None:
    assert since(phrase) == (day, "day")


@pytest.mark.parametrize(
    ("phrase", "start", "precision"),
    [
        ("the end of June 2024", "2024-06-30 00:00", "day"),
        ("the beginning of the year", "2026-01-01 00:00", "day"),
        ("early 2024", "2024-01-01 00:00", "year"),
        ("mid-June 2024", "2024-06-01 00:00", "month"),
    ],
)
def test_an_edge_is_a_day_and_a_part_is_the_whole(phrase: str, start: str, precision: str) -> None:
    assert since(phrase) == (start, precision)


def test_the_rule_names_the_reading() -> None:
    rules = [resolve(p, anchor=ANCHOR) for p in ("2024-06-15", "June 2024", "last year", "since the 5th")]

    assert [m and m.rule for m in rules] == ["iso", "dateparser:absolute", "dateparser:relative", "day_of_month"]


@pytest.mark.parametrize(
    ("phrase", "end"),
    [
        ("until June", "2026-06-01 00:00"),
        ("until May", "2027-05-01 00:00"),
        ("until June 30", "2026-06-30 00:00"),
        ("until Friday", "2026-05-15 00:00"),
        ("until Wednesday", "2026-05-20 00:00"),
        ("till next week", "2026-05-18 00:00"),
        ("until 2027", "2027-01-01 00:00"),
        ("until 5 pm", "2026-05-13 17:00"),
        ("before June", "2026-06-01 00:00"),
    ],
)
def test_until_ends_where_what_it_names_starts(phrase: str, end: str) -> None:
    assert until(phrase) == end


@pytest.mark.parametrize(
    ("phrase", "end"),
    [
        ("through Friday", "2026-05-16 00:00"),
        ("through May", "2026-06-01 00:00"),
        ("the end of June", "2026-07-01 00:00"),
        ("through the end of June", "2026-07-01 00:00"),
        ("until June 30 inclusive", "2026-07-01 00:00"),
        ("until the end of June", "2026-07-01 00:00"),
        ("until the end of May", "2026-06-01 00:00"),
        ("until the end of the week", "2026-05-18 00:00"),
        ("until year end", "2027-01-01 00:00"),
    ],
)
def test_what_includes_its_end_ends_after_it(phrase: str, end: str) -> None:
    assert until(phrase) == end


def test_a_length_ends_that_long_after_the_anchor() -> None:
    assert until("for two weeks") == "2026-05-27 00:00"


@pytest.mark.parametrize("phrase", ["until further notice", "until late June", "until tonight", "until then"])
def test_a_vague_end_is_none(phrase: str) -> None:
    assert until(phrase) is None


@pytest.mark.parametrize(
    ("phrase", "day"),
    [
        ("June 30", date(2026, 6, 30)),
        ("May 12", date(2027, 5, 12)),
        ("May 13", date(2026, 5, 13)),
        ("next Friday", date(2026, 5, 22)),
        ("Friday", date(2026, 5, 15)),
        ("Wednesday", date(2026, 5, 13)),
        ("2026-07-15", date(2026, 7, 15)),
        ("the 5th of May", date(2027, 5, 5)),
        ("the 20th", date(2026, 5, 20)),
        ("12th of this month", date(2026, 5, 12)),
        ("by the end of June", date(2026, 6, 30)),
        ("later today", date(2026, 5, 13)),
        ("tomorrow at 5 pm", date(2026, 5, 14)),
        ("29 Feb", date(2028, 2, 29)),
    ],
)
def test_a_day_is_the_next_one_of_its_name(phrase: str, day: date) -> None:
    assert to_date(phrase, anchor=ANCHOR) == day


@pytest.mark.parametrize("phrase", ["June", "2026", "next week", "5 pm", "noon", "in 2 years", "soon"])
def test_what_is_wider_than_a_day_or_only_a_time_is_no_day(phrase: str) -> None:
    assert to_date(phrase, anchor=ANCHOR) is None


@pytest.mark.parametrize(
    ("phrase", "clock"),
    [
        ("5 pm", time(17)),
        ("5 p.m.", time(17)),
        ("17:30", time(17, 30)),
        ("8.30pm", time(20, 30)),
        ("noon", time(12)),
        ("midnight", time(0)),
        ("half past 11 in the morning", time(11, 30)),
        ("quarter to five in the afternoon", time(16, 45)),
        ("quarter past 9 in the morning", time(9, 15)),
        ("morning 10:30", time(10, 30)),
        ("evening, 4:30", time(16, 30)),
        ("6 o'clock in the evening", time(18)),
        ("12:15 in the afternoon", time(12, 15)),
        ("tomorrow at 5 pm", time(17)),
    ],
)
def test_a_time_of_day_is_read(phrase: str, clock: time) -> None:
    assert to_time(phrase) == clock


@pytest.mark.parametrize("phrase", ["5", "at 5", "25:00", "2 hours ago", "now", "10 pm EST", "June 5", "evening", ""])
def test_what_is_not_a_plain_time_of_day_is_none(phrase: str) -> None:
    assert to_time(phrase) is None


@pytest.mark.parametrize(
    ("phrase", "instant"),
    [
        ("tomorrow at 5 pm", datetime(2026, 5, 14, 15, tzinfo=UTC)),
        ("June 30", datetime(2026, 6, 29, 22, tzinfo=UTC)),
        ("9 am", datetime(2026, 5, 14, 7, tzinfo=UTC)),
        ("10 pm EST", datetime(2026, 5, 14, 3, tzinfo=UTC)),
        ("2026-07-15T10:00Z", datetime(2026, 7, 15, 10, tzinfo=UTC)),
        ("today", datetime(2026, 5, 12, 22, tzinfo=UTC)),
    ],
)
def test_an_instant_is_read_on_the_clock_of_the_zone(phrase: str, instant: datetime) -> None:
    assert to_datetime(phrase, anchor=ANCHOR, zone="Europe/Oslo") == instant


def test_an_instant_is_not_made_of_a_month() -> None:
    assert to_datetime("June 2026", anchor=ANCHOR) is None


def test_a_time_of_day_equal_to_the_anchors_is_still_a_time() -> None:
    sharp = datetime(2026, 5, 13, 10, tzinfo=UTC)

    assert to_datetime("tomorrow at 10 am", anchor=sharp) == datetime(2026, 5, 14, 10, tzinfo=UTC)


def test_the_day_is_that_of_the_zone_not_of_utc() -> None:
    late = datetime(2026, 5, 13, 23, 30, tzinfo=UTC)

    assert to_date("tomorrow", anchor=late, zone="Asia/Tokyo") == date(2026, 5, 15)
    assert shown(resolve("since yesterday", anchor=late, zone="Asia/Tokyo")) == ("2026-05-12 15:00", "day")


def test_summer_time_is_the_zones() -> None:
    assert since("since 15 January 2026", zone="America/New_York") == ("2026-01-15 05:00", "day")
    assert since("since 15 April 2026", zone="America/New_York") == ("2026-04-15 04:00", "day")


@pytest.mark.parametrize(
    "phrase",
    [
        *("", " ", "soon", "a while", "recently", "someday", "then", "summer", "since I was born", "week", "the year"),
        *(
            "5",
            "38",
            "12",
            "two",
            "99999",
            "1484823450",
            "0",
            "year 0",
            "two weeks",
            "two-year",
            "two-year plan",
            "3h",
            "1 night",
            "the 1990s",
        ),
        *("Feb 30", "February 30 2026", "2026-02-30", "2026-13-01", "31/02/2026", "June 31", "32 June", "29 Feb 2025"),
        *("2018-2019", "from Monday to Friday", "two days before Christmas", "last week of 2016", "18-19", "3.5years"),
        *(
            "next Monday 6-8",
            "tomorrow at 7 27",
            "today at 3",
            "midnight tonight",
            "Monday June 2 2026",
            "9999999 years ago",
            "in 100000 years",
        ),
    ],
)
def test_a_phrase_that_is_not_understood_is_none(phrase: str) -> None:
    assert resolve(phrase, anchor=ANCHOR) is None
    assert to_date(phrase, anchor=ANCHOR) is None


@pytest.mark.parametrize(
    "phrase", ["\x00", "2024\x00", "😀", "9" * 200, "9" * 100_000, "ﷺ" * 100, "9999-12-31", "0001-01-01", "31 Dec 9999"]
)
def test_hostile_phrases_do_not_raise(phrase: str) -> None:
    for zone in ("UTC", "Pacific/Kiritimati", "America/Los_Angeles"):
        resolve(phrase, anchor=ANCHOR, zone=zone)
        resolve_end(f"through {phrase}", anchor=ANCHOR, zone=zone)
        to_date(phrase, anchor=ANCHOR, zone=zone)
        to_datetime(phrase, anchor=ANCHOR, zone=zone)
        to_time(phrase)


def test_invisible_marks_change_nothing() -> None:
    assert since("\u200fsince\u200b 2023\u200e") == ("2023-01-01 00:00", "year")


WORDS = st.sampled_from(
    [
        *("since", "from", "until", "through", "the", "end of", "last", "next", "this", "early", "in", "for", "ago"),
        *("at", "about", "before", "after", "on", "2", "31", "30", "2024", "99", "7/4", "june", "may", "feb", "monday"),
        *("week", "month", "year", "day", "hour", "quarter", "q3", "5th", "pm", "am", "noon", "half past", "to", "now"),
        *("tomorrow", "fri", "-", ",", ":", ".", "'"),
    ]
)
PHRASES = st.one_of(st.text(max_size=250), st.lists(WORDS, max_size=8).map(" ".join))
ANCHORS = st.datetimes(timezones=st.just(UTC))


@settings(deadline=None)
@given(PHRASES, ANCHORS, st.sampled_from(["UTC", "Asia/Kathmandu", "America/New_York"]))
def test_no_text_raises_and_every_instant_is_utc(phrase: str, anchor: datetime, zone: str) -> None:
    to_time(phrase)
    to_date(phrase, anchor=anchor, zone=zone)
    starts = [
        *(
            m.start
            for m in (resolve(phrase, anchor=anchor, zone=zone), resolve_end(phrase, anchor=anchor, zone=zone))
            if m
        ),
        *(d for d in [to_datetime(phrase, anchor=anchor, zone=zone)] if d),
    ]

    assert all(start.tzinfo is UTC for start in starts)


@settings(deadline=None)
@given(st.dates(min_value=date(1000, 1, 1)), ANCHORS)
def test_a_written_date_does_not_depend_on_the_anchor(day: date, anchor: datetime) -> None:
    assert to_date(day.isoformat(), anchor=anchor) == day
    assert to_date(f"{day:%B} {day.day}, {day.year}", anchor=anchor) == day


@settings(deadline=None)
@given(st.lists(WORDS, max_size=6).map(" ".join), st.integers(-14, 14))
def test_the_offset_of_the_anchor_does_not_matter(phrase: str, hours: int) -> None:
    moved = ANCHOR.astimezone(timezone(timedelta(hours=hours)))

    assert resolve(phrase, anchor=moved) == resolve(phrase, anchor=ANCHOR)


@pytest.mark.parametrize("read", [resolve, resolve_end, to_date, to_datetime])
def test_a_naive_anchor_is_refused(read: object) -> None:
    assert callable(read)

    with pytest.raises(ValueError, match="aware"):
        read("today", anchor=datetime(2026, 5, 13))  # noqa: DTZ001 - the point of the test


PROGRAM = """
from datetime import UTC, datetime
from sgam.extraction.dates import resolve, resolve_end, to_date, to_datetime, to_time
anchor = datetime(2026, 5, 13, 3, 30, tzinfo=UTC)
for phrase in ("now", "today", "yesterday at 5 pm", "since June", "Friday", "in 2 hours", "10 pm EST", "2024", "17:30"):
    print(resolve(phrase, anchor=anchor), resolve_end(phrase, anchor=anchor, zone="Asia/Tokyo"))
    print(to_date(phrase, anchor=anchor), to_datetime(phrase, anchor=anchor), to_time(phrase))
"""


def test_the_result_does_not_depend_on_the_zone_of_the_machine() -> None:
    zones = ("UTC", "Pacific/Kiritimati", "America/Los_Angeles")
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env=os.environ | {"TZ": zone}, capture_output=True, text=True, check=True
        )
        for zone in zones
    ]

    assert len({run.stdout for run in runs}) == 1


@pytest.mark.parametrize("clock", [datetime(1999, 1, 31, 12), datetime(2040, 2, 29, 12)])  # noqa: DTZ001 - as now()
def test_the_result_does_not_depend_on_the_clock_of_the_machine(
    clock: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    phrases = ("March", "29 Feb", "2 hours ago", "yesterday at 5 pm", "10 pm EST", "2024", "in June", "Friday", "7/4")
    before = [(since(p), until(p), to_time(p)) for p in phrases]

    class AnyDatetime(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, datetime)

    class Shifted(datetime, metaclass=AnyDatetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return clock if tz is None else clock.replace(tzinfo=tz)

        today = utcnow = now  # type: ignore[assignment]

    for name, module in list(sys.modules.items()):
        if name.startswith("dateparser") and getattr(module, "datetime", None) is datetime:
            monkeypatch.setattr(module, "datetime", Shifted)

    assert [(since(p), until(p), to_time(p)) for p in phrases] == before


def test_importing_the_module_does_not_load_the_library() -> None:
    program = "import sys, sgam.extraction.dates; print({'dateparser', 'text_to_num'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert run.stdout.strip() == "set()"
