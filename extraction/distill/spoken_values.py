"""Pools of numbers, days and times as people say them.  Each is read back by the readers that extraction uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Final
from zoneinfo import ZoneInfo

from ...memory_store.values import to_json
from .. import dates, numbers
from .pools import Pool, Said, Scene

_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["-", "-", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS: Final = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


# Numbers ----------------------------------------------------------------------------------------------------------


def in_words(number: int) -> str:
    """A number below a hundred in words, others in digits."""
    if not 0 <= number < 100:
        return str(number)
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def whole(low: int, high: int, step: int = 1) -> Pool:
    """A pool of integers."""

    def pool(rng: Random, scene: Scene) -> Said:
        number = rng.randrange(low, high + 1, step)
        said = rng.choice((str(number), str(number), in_words(number), f"{number:,}"))
        return Said(said if numbers.to_number(said) == number else str(number), number)

    return pool


def fraction(low: int, high: int, digits: int = 1) -> Pool:
    """A pool of numbers with decimals, of the type `number`."""

    def pool(rng: Random, scene: Scene) -> Said:
        value = round(rng.uniform(low, high), digits)
        number = int(value) if value == int(value) else value
        return Said(str(number), float(number))

    return pool


def money(low: int, high: int) -> Pool:
    """A pool of amounts, of the type `decimal`."""

    def pool(rng: Random, scene: Scene) -> Said:
        amount = rng.randint(low, high)
        cents = rng.choice((0, 0, 50, 99, rng.randint(1, 99)))
        value = Decimal(amount) + Decimal(cents) / 100
        said = f"{amount}.{cents:02}" if cents else rng.choice((str(amount), f"{amount:,}"))
        return Said(said, to_json(value))

    return pool


# Days and times ---------------------------------------------------------------------------------------------------

_Wording = Callable[[Random, date, date], str]


def _ordinal(day: int) -> str:
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _plain(rng: Random, day: date, today: date) -> str:
    month = _MONTHS[day.month - 1]
    shapes = (
        f"{month} {day.day}",
        f"{day.day} {month}",
        f"{month} {_ordinal(day.day)}",
        f"the {_ordinal(day.day)} of {month}",
        f"{month[:3]} {day.day}",
    )
    return rng.choice(shapes)


def _with_year(rng: Random, day: date, today: date) -> str:
    month = _MONTHS[day.month - 1]
    shapes = (
        f"{month} {day.day}, {day.year}",
        f"{day.day} {month} {day.year}",
        f"{day.isoformat()}",
        f"{day.month:02}/{day.day:02}/{day.year}",
        f"{_ordinal(day.day)} {month[:3]} {day.year}",
        f"the {_ordinal(day.day)} of {month} {day.year}",
    )
    return rng.choice(shapes)


def full_day(rng: Random, day: date) -> str:
    """A day in words that name the year."""
    return _with_year(rng, day, day)


def _near(rng: Random, day: date, today: date) -> str:
    ahead = (day - today).days
    name = _DAYS[day.weekday()]
    shapes = [f"this {name}", f"next {name}", name, f"{name} the {_ordinal(day.day)}", f"the {_ordinal(day.day)}"]
    shapes += {0: ["today"], 1: ["tomorrow"], 2: ["the day after tomorrow"]}.get(ahead, [f"in {in_words(ahead)} days"])
    return rng.choice(shapes)


def _read(words: str, scene: Scene, fallback: date) -> Said:
    """The day that extraction reads in the words; a full date where it reads none."""
    found = dates.to_date(words, anchor=scene.at, zone=scene.zone)
    if found is None:
        return Said(fallback.isoformat(), fallback.isoformat())
    return Said(words, found.isoformat())


def _today(scene: Scene) -> date:
    return scene.at.astimezone(ZoneInfo(scene.zone)).date()


def day_ahead(rng: Random, scene: Scene) -> Said:
    """A day within the next two years, in one of some twenty wordings."""
    today = _today(scene)
    if rng.random() < 0.35:
        day, wording = today + timedelta(days=rng.randint(1, 13)), _near
    else:
        day = today + timedelta(days=rng.randint(2, 330))
        wording = _plain if rng.random() < 0.65 else _with_year
    return _read(wording(rng, day, today), scene, day)


def day_past(rng: Random, scene: Scene) -> Said:
    """A day of the last twenty years; the year is said."""
    day = _today(scene) - timedelta(days=rng.randint(3, 7000))
    return _read(_with_year(rng, day, _today(scene)), scene, day)


def birth_day(rng: Random, scene: Scene) -> Said:
    """A day on which someone may have been born; the year is said."""
    day = date(rng.randint(1940, 2015), rng.randint(1, 12), rng.randint(1, 28))
    return _read(_with_year(rng, day, _today(scene)), scene, day)


_PARTS: Final = ("in the morning", "in the afternoon", "in the evening")


def _clock(rng: Random, hour: int, minute: int) -> str:
    small, half = hour % 12 or 12, "am" if hour < 12 else "pm"
    part = _PARTS[0 if hour < 12 else 1 if hour < 18 else 2]
    shapes = [f"{hour:02}:{minute:02}", f"{small}:{minute:02} {half}", f"{small}:{minute:02}{half}"]
    if minute == 0:
        shapes += [f"{small} {half}", f"{small}{half}", f"{small} {part}", f"{in_words(small)} {part}"]
        shapes += ["noon"] * (hour == 12)
    if minute == 30:
        shapes.append(f"half past {in_words(small)} {part}")
    return rng.choice(shapes)


def clock(low: int, high: int) -> Pool:
    """A pool of times of day, the hours of which lie in a range."""

    def pool(rng: Random, scene: Scene) -> Said:
        hour, minute = rng.randint(low, high), rng.choice((0, 0, 0, 15, 30, 30, 45, 5, 20))
        said = _clock(rng, hour, minute)
        found = dates.to_time(said)
        return Said(said, to_json(found)) if found == time(hour, minute) else Said(*[f"{hour:02}:{minute:02}"] * 2)

    return pool


def instant(rng: Random, scene: Scene) -> Said:
    """A day with a time."""
    day, at = day_ahead(rng, scene).words, _clock(rng, rng.randint(7, 21), rng.choice((0, 30, 15)))
    words = f"{day} at {at}"
    found = dates.to_datetime(words, anchor=scene.at, zone=scene.zone)
    if found is None:
        found = (scene.at + timedelta(days=rng.randint(2, 60))).replace(minute=0, second=0)
        words = found.strftime("%Y-%m-%d %H:00")
        found = dates.to_datetime(words, anchor=scene.at, zone=scene.zone) or found
    return Said(words, to_json(found))


# Since and until --------------------------------------------------------------------------------------------------


def _filled(rng: Random, scene: Scene, phrases: Sequence[str]) -> str:
    today = _today(scene)
    near, far = today + timedelta(days=rng.randint(3, 12)), today + timedelta(days=rng.randint(20, 200))
    fill = {
        "month": rng.choice(_MONTHS),
        "year": str(today.year - rng.randint(1, 12)),
        "weekday": _DAYS[near.weekday()],
        "day": _plain(rng, far, today),
        "fullday": _with_year(rng, far, today),
        "count": in_words(rng.randint(2, 9)),
    }
    return rng.choice(phrases).format(**fill)


_SINCE: Final = [
    "since {month}",
    "since {year}",
    "since last {weekday}",
    "as of last week",
    "as of yesterday",
    "since yesterday",
    "since last month",
    "since last year",
    "since this morning",
    "for {count} years now",
    "for {count} months now",
    "since {month} {year}",
    "since the summer",
    "ever since {year}",
    "as of today",
    "as of now",
    "since January {year}",
    "since the beginning of {month}",
    "for {count} weeks now",
]
_FROM: Final = [
    "from {weekday}",
    "starting tomorrow",
    "from next week",
    "starting next month",
    "as of {day}",
    "from {day} on",
    "effective {fullday}",
    "starting {weekday}",
    "from tomorrow",
    "beginning next week",
    "as of today",
    "effective immediately",
    "as of next {weekday}",
    "from {month} onwards",
    "starting {fullday}",
    "starting in {count} weeks",
    "as of tomorrow",
]
_UNTIL: Final = [
    "until {weekday}",
    "until next {weekday}",
    "till the end of {month}",
    "through {weekday}",
    "until {day}",
    "for the next {count} weeks",
    "until the end of the month",
    "until {month}",
    "for the next {count} days",
    "until tomorrow",
    "until {fullday}",
    "till {day}",
    "until the end of the week",
    "for another {count} months",
    "up to and including {day}",
    "until the end of next month",
]


def since(rng: Random, scene: Scene) -> str | None:
    """A phrase for a beginning in the past, or None where extraction could not read it."""
    words = _filled(rng, scene, _SINCE)
    moment = dates.resolve(words, anchor=scene.at, zone=scene.zone)
    return words if moment is not None and moment.start <= scene.at else None


def starting(rng: Random, scene: Scene) -> str | None:
    """A phrase for a beginning now or to come, or None where extraction could not read it."""
    words = _filled(rng, scene, _FROM)
    moment = dates.resolve(words, anchor=scene.at, zone=scene.zone)
    return words if moment is not None and moment.start >= scene.at else None


def ending(rng: Random, scene: Scene) -> str | None:
    """A phrase for an end to come, or None where extraction could not read it."""
    words = _filled(rng, scene, _UNTIL)
    moment = dates.resolve_end(words, anchor=scene.at, zone=scene.zone)
    return words if moment is not None and moment.start > scene.at + timedelta(hours=1) else None


def utc_text(instant: datetime) -> str:
    """An instant in the form of the cases."""
    return str(to_json(instant))
