"""Time phrases -> instants, days and times of day, read by `dateparser` under fixed conventions.

Every function is pure: the result depends on the phrase, the anchor (the `observed_at` of the episode) and the zone,
not on the clock or zone of the machine.  A naive anchor raises ValueError, an unknown zone `ZoneInfoNotFoundError`; no
phrase raises.  What is not understood is None, never a guess: "soon", "5", "Feb 30", "two weeks" (a length, not a
time), "summer", "the 1990s", and anything over 200 code points.

Wall-clock phrases are read in `zone` (an IANA name), instants are UTC.  Weeks run from Monday to Sunday.  ISO 8601 is
read first and exactly.  03/04/2026 is March 4 (month first, unless only the other order is possible); two digits of a
year mean 1970 to 2069.  An hour without am or pm is read on the 24-hour clock.

Stretches.  `resolve` names the start of the stretch a phrase speaks of, and how long that stretch is:

* "2024", "last year": its January 1, `year`.  "June 2024", "last month": its first day, `month`.  "15 June", "Friday",
  "yesterday evening", "the end of June" (its last day): the day, `day`.  A time of day: `exact`.
* A week and a quarter have no precision of their own and take the next wider one, `month` and `year`: an order that the
  phrase leaves open must not look settled.
* "two years ago" starts on the anchor's day two years back with precision `year`; months alike; days and weeks `day`.
* "early 2024", "late last year", "mid-June" are the whole of that stretch.
* A stretch that contains the anchor ("today", "this year", "tonight", "June" said in June) yields the anchor, `exact`,
  rule `contains_anchor`, so that a correction later the same day wins.  "Earlier this year" does not: it is not now.

Which June, which Friday.  `resolve` takes the latest that has begun after "since" and "in" and for a bare weekday, the
first that is not over after "from", "starting" or "by" and for "on Friday", and otherwise the nearest.  `resolve_end`
takes the first that begins after the anchor.  Values (`to_date`, `to_datetime`) take the first that is not before the
anchor's day.  "Last", "this" and "next" Friday are the Friday of last, this and next week; "last June" and "next June"
exclude the month of the anchor.

Ends are exclusive, and "until X" ends where X starts, for every X: "until June" is June 1, 00:00, and "until Friday"
the start of Friday.  One rule without exceptions agrees with half-open intervals and with "from Friday" as the next
value's start: the two then meet and never overlap.  What includes X ends where X ends: "through Friday",
"until the end of June", "until June 30 inclusive".  "For two weeks" ends two weeks after the anchor.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Final, Literal, Protocol, cast
from zoneinfo import ZoneInfo

from ..memory_store.model import Precision
from .idioms import COUNT, UNIT, simplify

_Lean = Literal["past", "future", "after", "near"]

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY: Final = (
    "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_WEEKDAY_ALONE: Final = rf"{_WEEKDAY}\b(?!,? (?:{_MONTH}|\d))"
_STEP: Final = {"last": -1, "previous": -1, "this": 0, "next": 1, "following": 1}
_STEPS: Final = "|".join(_STEP)


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """When a phrase says that something began or ended, and how precisely."""

    start: datetime
    """Aware, UTC."""
    precision: Precision
    """The stretch is [start, start + one day, month or year in the zone)."""
    rule: str
    """The reading that was used: `iso`, `dateparser:absolute`, `contains_anchor`, ..."""


def resolve(phrase: str, *, anchor: datetime, zone: str = "UTC") -> Moment | None:
    """Tell since when, for a phrase such as "since 2023", "from next Monday" or "three days ago"."""
    scene = _Scene.of(anchor, zone)
    text = simplify(phrase)
    if text is None:
        return None
    text = _ONWARDS.sub("", text)
    text, lean = _strip_since(_LENGTH_SINCE.sub(r"\g<length> ago", text))
    return scene.moment(_span(text, scene, lean))


def resolve_end(phrase: str, *, anchor: datetime, zone: str = "UTC") -> Moment | None:
    """Tell the exclusive end, for a phrase such as "until June", "through Friday" or "for two weeks"."""
    scene = _Scene.of(anchor, zone)
    text = simplify(phrase)
    if text is None:
        return None
    bare = _LEAD_END.sub("", _INCLUSIVE.sub("", _LENGTH_END.sub(r"in \g<length>", text)), count=1)
    if _VAGUE_END.match(bare):
        return None
    if not (_INCLUSIVE.search(text) or _END_OF.match(bare)):
        return scene.moment(_span(bare, scene, "after"))
    span = _span(bare, scene, "future")
    if span is None:
        return None
    return scene.moment(replace(span, start=span.end, rule=f"{span.rule}+inclusive", current=False))


def to_date(phrase: str, *, anchor: datetime, zone: str = "UTC") -> date | None:
    """Read a day: "June 30", "next Friday", "2026-07-15", "the 5th of May"; None for anything wider, or a bare time."""
    span = _value(phrase, _Scene.of(anchor, zone))
    return span.start.date() if span is not None and span.dated else None


def to_datetime(phrase: str, *, anchor: datetime, zone: str = "UTC") -> datetime | None:
    """Read an instant (aware, UTC): a day without a time is its start, a time without a day its next occurrence."""
    scene = _Scene.of(anchor, zone)
    moment = scene.moment(_value(phrase, scene), literal=True)
    return None if moment is None else moment.start


def to_time(phrase: str) -> time | None:
    """Read a time of day: "5 pm", "17:30", "half past 11 in the morning"; None where am or pm is anyone's guess."""
    scene = _Scene(now=datetime(2000, 1, 1, 12), zone=ZoneInfo("UTC"))  # noqa: DTZ001 - local times are naive here
    text = simplify(phrase)
    if text is None or _RELATIVE_TIME.search(text):
        return None
    span = _span(_LEAD_TIME.sub("", text), scene, "future")
    return span.start.time() if span is not None and span.precision == "exact" and not span.zoned else None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Span:
    """What a phrase speaks of, `[start, end)`, in local time without a zone."""

    start: datetime
    end: datetime
    precision: Precision
    rule: str
    current: bool = True  # it stands for the anchor where it contains it
    dated: bool = True  # it names a day, not a time alone
    zoned: bool = False  # the phrase names a zone or an offset


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scene:
    """When, and in which zone, the phrase was said."""

    now: datetime  # local time without a zone
    zone: ZoneInfo

    @classmethod
    def of(cls, anchor: datetime, zone: str) -> _Scene:
        if anchor.utcoffset() is None:
            raise ValueError("anchor must be an aware datetime")
        tz = ZoneInfo(zone)
        return cls(now=anchor.astimezone(tz).replace(tzinfo=None), zone=tz)

    def local(self, instant: datetime) -> datetime:
        return instant if instant.tzinfo is None else instant.astimezone(self.zone).replace(tzinfo=None)

    def moment(self, span: _Span | None, *, literal: bool = False) -> Moment | None:
        if span is None:
            return None
        inside = span.current and (span.start <= self.now < span.end or span.start == self.now) and not literal
        start = self.now if inside else span.start
        try:
            instant = start.replace(tzinfo=self.zone).astimezone(UTC)
        except (OverflowError, ValueError):
            return None
        if inside:
            return Moment(start=instant, precision="exact", rule="contains_anchor")
        return Moment(start=instant, precision=span.precision, rule=span.rule)


def _value(phrase: str, scene: _Scene) -> _Span | None:
    text = simplify(phrase)
    if text is None:
        return None
    span = _span(_LEAD_VALUE.sub("", text), scene, "future")
    return span if span is not None and span.precision in {"exact", "day"} else None


def _span(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    """Read a phrase without its preposition; the first reader that knows its shape answers."""
    try:
        for reader in (_iso, _edge, _loose, _day_of_month):
            span = reader(text, scene, lean)
            if span is not None:
                return span
        return _library_span(text, scene, lean)
    except (OverflowError, ValueError):  # a year outside 1 to 9999
        return None


# Prepositions -----------------------------------------------------------------------------------------------------

_LEADS: Final[tuple[tuple[re.Pattern[str], _Lean | None], ...]] = (
    (re.compile(r"(?:ever since|since|back in|during|within)\b ?"), "past"),
    (re.compile(r"(?:from|starting|beginning|commencing|as from|by)\b(?! of\b) ?"), "future"),
    (re.compile(rf"on (?={_WEEKDAY}\b)"), "future"),
    (re.compile(r"(?:effective|as of|on|at)\b ?"), None),
    (re.compile(rf"in (?!{COUNT})"), "past"),
)
_ONWARDS: Final = re.compile(r" (?:on|onwards?|forwards?)$")
_LEAD_END: Final = re.compile(
    r"^(?:(?:ends?|ending|expires|expiring|valid|good|up|only|not later than|no later than)\b(?! of\b) ?)?"
    rf"(?:(?:until|till|'?til|through|thru|to|before|by|on|in (?!{COUNT})|at)\b ?)?"
)
_LEAD_VALUE: Final = re.compile(
    rf"^(?:(?:on|by|at|for|due|before|until|from|starting|effective|as of|in (?!{COUNT}))\b ?)+"
)
_LEAD_TIME: Final = re.compile(r"^(?:(?:at|in|by|from|until|before|after)\b ?)+")
_INCLUSIVE: Final = re.compile(r"^(?:up )?(?:through|thru)\b ?|^up to and including\b ?|,? ?\(?\binclusive\)?$")
_END_OF: Final = re.compile(r"end of\b|(?:week|month|year)[ -]end$")
_VAGUE_END: Final = re.compile(r"(?:late|later|mid|middle|sometime|tonight|this (?:morning|afternoon|evening))\b")
_LENGTH_SINCE: Final = re.compile(rf"^(?:(?:for|since|during|last|past|previous) )+(?P<length>{COUNT})$")
_LENGTH_END: Final = re.compile(rf"^(?:for|over|within)(?: next| another)? (?P<length>{COUNT})$")
_RELATIVE_TIME: Final = re.compile(r"\bago\b|\bnow\b|^in \d")


def _strip_since(text: str) -> tuple[str, _Lean]:
    """Take the prepositions off; the first that leans to the past or the future decides which occurrence is meant."""
    lean: _Lean | None = None
    for _ in range(3):
        for pattern, way in _LEADS:
            match = pattern.match(text)
            if match:
                text, lean = text[match.end() :], lean or way
    return text, lean or ("past" if re.match(_WEEKDAY_ALONE, text) else "near")


# Readers ----------------------------------------------------------------------------------------------------------


def _iso(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    if not re.match(r"\d{4}-?(?:\d\d|w\d\d)", text) or re.fullmatch(r"\d{4}(?:-?\d\d)?", text):
        return None
    try:
        instant = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    start = scene.local(instant)
    if re.search(r":|t\d| \d", text):
        return _Span(start=start, end=start, precision="exact", rule="iso", zoned=instant.tzinfo is not None)
    period = "week" if re.search(r"w\d\d$", text) else "day"
    start, end, precision = _stretch(start, period, counted=False)
    return _Span(start=start, end=end, precision=precision, rule="iso")


_EDGE: Final = re.compile(r"(?P<edge>beginning|start|end) (?:of )?(?P<inner>.+)|(?P<unit>week|month|year)[ -]end")
_LOOSE: Final = re.compile(r"(?:very )?(?:early|earlier|late|mid|middle of|sometime)[ -](?:on |in )?(?P<inner>.+)")
_BARE_UNIT: Final = re.compile(r"(?:day|week|month|quarter|year)")


def _inner(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    """Read what an edge or a part belongs to; there, "the month" is this month."""
    if _BARE_UNIT.fullmatch(text):
        text = "today" if text == "day" else f"this {text}"
    return _span(text, scene, lean)


def _edge(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    """Read "the end of June": its last day."""
    match = _EDGE.fullmatch(text)
    span = match and _inner(match["inner"] or match["unit"], scene, lean)
    if not match or not span or span.precision == "exact":
        return None
    day = timedelta(days=1)
    if match["edge"] in {"beginning", "start"}:
        return replace(span, end=span.start + day, precision="day", rule=f"{span.rule}+start")
    return replace(span, start=span.end - day, precision="day", rule=f"{span.rule}+end")


def _loose(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    """Read "early June": the whole of June, since how much of it is anyone's guess."""
    match = _LOOSE.fullmatch(text)
    span = match and _inner(match["inner"], scene, lean)
    return replace(span, current=False, rule=f"{span.rule}+part") if span and span.precision != "exact" else None


_DAY_OF_MONTH: Final = re.compile(rf"(?:(?P<name>{_WEEKDAY}),? )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)")


def _day_of_month(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    """Read "the 5th" or "Friday the 5th": the one the lean asks for, within two months of the anchor's."""
    match = _DAY_OF_MONTH.fullmatch(text)
    if not match:
        return None
    spans: list[_Span] = []
    for step in range(-2, 3):
        month = _add_months(scene.now.replace(day=1), step)
        span = _iso(f"{month.year:04}-{month.month:02}-{int(match['day']):02}", scene, lean)
        if span is not None and _WEEKDAYS[span.start.weekday()].startswith((match["name"] or "")[:3]):
            spans.append(replace(span, rule="day_of_month"))
    return _choose(spans, scene.now, lean)


def _library_span(text: str, scene: _Scene, lean: _Lean) -> _Span | None:
    text = _calendar(text, scene.now)
    if not _plausible(text):
        return None
    spans: list[_Span] = []
    for prefer in ("past", "current_period", "future"):
        span = _from_library(text, prefer, scene)
        if span is None:
            continue
        spans.append(span)
        if span.rule.endswith(":relative"):
            break
    return _choose(spans, scene.now, lean)


def _choose(spans: list[_Span], now: datetime, lean: _Lean) -> _Span | None:
    """Pick the occurrence that the lean asks for; the nearest to it where there is none (a year was named)."""
    ordered = sorted(spans, key=lambda span: span.start)
    if lean == "near":
        return min(ordered, key=lambda s: max(s.start - now, now - s.end, timedelta()), default=None)
    if lean == "past":
        return next((s for s in reversed(ordered) if s.start <= now), next(iter(ordered), None))
    begun = [s for s in ordered if (s.start > now if lean == "after" else max(s.end, s.start) > now or s.start == now)]
    return next(iter(begun or reversed(ordered)), None)


# The calendar -----------------------------------------------------------------------------------------------------


def _weekday(name: str, now: datetime, weeks: int) -> str:
    index = next(i for i, day in enumerate(_WEEKDAYS) if day.startswith(name[:3]))
    return f"{now.date() + timedelta(days=index - now.weekday() + 7 * weeks)}"


def _nearest_weekday(name: str, now: datetime, *, ahead: bool) -> str:
    days = [now.date() + timedelta(days=n if ahead else -n) for n in range(1, 8)]
    return str(next(day for day in days if _WEEKDAYS[day.weekday()].startswith(name[:3])))


def _named_month(step: str, name: str, now: datetime) -> str:
    month = next(i for i, full in enumerate(_MONTHS, 1) if full.startswith(name[:3]))
    passed = {-1: -int(month >= now.month), 0: 0, 1: int(month <= now.month)}[_STEP[step]]
    return f"{name} {now.year + passed}"


def _month_day(day: str, step: str, now: datetime) -> str:
    month = _add_months(now.replace(day=1), _STEP[step])
    return f"{month.year:04}-{month.month:02}-{int(day):02}"


def _quarter(step: str, now: datetime) -> str:
    month = _add_months(now.replace(day=1), 3 * _STEP[step])
    return f"q{(month.month + 2) // 3} {month.year}"


_Calendar = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], str]]
_CALENDAR: Final[tuple[_Calendar, ...]] = (
    (
        re.compile(rf"\b(?:this )?(?P<way>coming|upcoming|past) (?P<day>{_WEEKDAY})\b"),
        lambda m, now: _nearest_weekday(m["day"], now, ahead=m["way"] != "past"),
    ),
    (
        re.compile(rf"\b(?P<step>{_STEPS}) week,? (?:on )?(?P<day>{_WEEKDAY})\b"),
        lambda m, now: _weekday(m["day"], now, _STEP[m["step"]]),
    ),
    (
        re.compile(rf"\b(?P<day>{_WEEKDAY}),? (?:of |in )?(?P<step>{_STEPS}) week\b"),
        lambda m, now: _weekday(m["day"], now, _STEP[m["step"]]),
    ),
    (
        re.compile(rf"\b(?P<step>{_STEPS}) (?P<day>{_WEEKDAY})\b(?! \d{{1,2}}\b(?! ?[ap]m|:)|,? {_MONTH}\b)"),
        lambda m, now: _weekday(m["day"], now, _STEP[m["step"]]),
    ),
    (
        re.compile(rf"\b(?P<step>{_STEPS}) (?P<month>{_MONTH})\b(?!,? \d)"),
        lambda m, now: _named_month(m["step"], m["month"], now),
    ),
    (
        re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:day )?of (?P<step>{_STEPS}) month\b"),
        lambda m, now: _month_day(m["day"], m["step"], now),
    ),
    (re.compile(rf"^(?P<step>{_STEPS}) quarter$"), lambda m, now: _quarter(m["step"], now)),
    (
        re.compile(rf"(?<=[a-z\d])(?:,? of|,)? (?P<step>{_STEPS}) year$"),
        lambda m, now: f" {now.year + _STEP[m['step']]}",
    ),
)


def _calendar(text: str, now: datetime) -> str:
    """Write what the library does not know, or reads otherwise, as the date it stands for."""
    for pattern, new in _CALENDAR:
        text = pattern.sub(lambda match, new=new: new(match, now), text)  # type: ignore[misc]
    return text


def _add_months(start: datetime, months: int) -> datetime:
    """Move by months; a day that the month does not have becomes its last."""
    years, month = divmod(start.month - 1 + months, 12)
    for day in range(start.day, start.day - 4, -1):
        try:
            return start.replace(year=start.year + years, month=month + 1, day=day)
        except ValueError:
            continue
    raise OverflowError("beyond the calendar")


# The library ------------------------------------------------------------------------------------------------------

_NOT_A_TIME: Final = re.compile(
    "|".join(
        (
            r"^\d{1,3}$|\d{5}|^(?!1[89]|2[01])\d{4}$|^\d+\.\d+$|\d'?s\b",  # bare numbers, decades
            rf"^{COUNT}$|\d(?:{UNIT})|\w-(?:{UNIT})\b|\d(?:st|nd|rd|th) (?:{UNIT})|^\d+ ?(?:h|hrs?|nights?)$",
            r"\d{4} ?[-~/] ?\d{4}|(?<![\d/.-])\d{1,2}-\d{1,2}(?![\d/.-])",  # ranges
            rf"\b(?:week|weekend|month) of\b|\b(?:{_STEPS}) (?:decade|century)\b",
            r"\b(?:before|after)\b(?<!^day before)(?<!^day after)",
            r"\bmidnight (?:today|tonight|tomorrow)|\b(?:today|tonight|tomorrow) (?:at )?midnight",  # which end of it?
        )
    )
)
_COUNTED: Final = re.compile(rf"\b{COUNT} ago\b|^in {COUNT}")
_RELATIVE: Final = re.compile(r"\b(?:today|now|yesterday|tomorrow|tonight|ago|this|last|next)\b|^in \d")
_NUMERIC_DATE: Final = re.compile(r"\d+[/.-]\d+[/.-]\d+|\b\d{1,2}/\d{1,2}\b|^\d{4}[/.-]\d{1,2}$|^\d{1,2}[/.-]\d{4}$")
_BARE_CLOCK: Final = re.compile(
    r"(?:at )?(?:noon|midnight|\d{1,2}(?::\d\d)+(?: ?[ap]m)?|\d{1,2} ?[ap]m)(?: [a-z]{3,4})?"
)
_YEAR_FIRST: Final = re.compile(r"\b\d{4}[/.-](\d+)[/.-]\d")
_ZONED: Final = re.compile(r"(?:\d|[ap]m) ?(?:utc|gmt|[a-z]{1,2}[sd]t|z)\b")
_MONTHS_IN: Final = {"month": 1, "quarter": 3, "year": 12}


def _plausible(text: str) -> bool:
    """Refuse what the library would take for a date without saying so: bare numbers, lengths, ranges."""
    return bool(text) and not _NOT_A_TIME.search(text)


def _from_library(text: str, prefer: str, scene: _Scene) -> _Span | None:
    data = _parse(text, scene.now, prefer)
    if data.date_obj is None:
        return None
    relative = bool(_RELATIVE.search(text))
    local = scene.local(data.date_obj)
    if local.microsecond:
        local = local.replace(microsecond=scene.now.microsecond)
    if not _accounts_for(_COUNTED.sub("", text), local, clock=data.period == "time"):
        return None
    start, end, precision = _stretch(local, data.period, counted=bool(_COUNTED.search(text)))
    return _Span(
        start=start,
        end=end,
        precision=precision,
        rule=f"dateparser:{'relative' if relative else 'absolute'}",
        current=not _COUNTED.search(text),
        dated=not _BARE_CLOCK.fullmatch(text),
        zoned=data.date_obj.tzinfo is not None,
    )


def _accounts_for(text: str, found: datetime, *, clock: bool) -> bool:
    """Tell whether each number and weekday of the text is in the date; the library drops or bends what does not fit."""
    allowed = {found.year, found.day}
    if clock:
        allowed |= {found.hour, found.hour % 12 or 12, found.minute, found.second}
    if _NUMERIC_DATE.search(text):
        allowed |= {found.month, found.year % 100}
    year_first = _YEAR_FIRST.search(text)
    if year_first and int(year_first[1]) != found.month:
        return False
    text = re.sub(r"\bq[1-4]\b|[+-]\d\d:?\d\d$", "", text)
    if not _ZONED.search(text) and not {int(n) for n in re.findall(r"\d+", text)} <= allowed:
        return False
    names = re.findall(rf"\b{_WEEKDAY}\b", text)
    return all(_WEEKDAYS[found.weekday()].startswith(name[:3]) for name in names)


def _stretch(found: datetime, period: str, *, counted: bool) -> tuple[datetime, datetime, Precision]:
    """Turn the library's day and period into a stretch; "two years ago" keeps its day, "last year" does not."""
    if period == "time":
        return found, found, "exact"
    day = found.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "week" and not counted:
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=7), "month"
    months = _MONTHS_IN.get(period)
    if months is None:
        return day, day + timedelta(days=1), "day"
    if not counted:
        day = day.replace(day=1, month=day.month - (day.month - 1) % months)
    return day, _add_months(day, months), "month" if months == 1 else "year"


class _Found(Protocol):
    """What the library found; it ships no types, so they are declared here."""

    date_obj: datetime | None
    period: str


class _Parser(Protocol):
    def get_date_data(self, date_string: str) -> _Found: ...


# With a base at 10:00 sharp the library takes "tomorrow 10 am" for a day without a time: no clock shows this base.
_OFF_THE_CLOCK: Final = 1


def _parse(text: str, now: datetime, prefer: str) -> _Found:
    parser = _library()(
        languages=["en"],
        settings={
            "DATE_ORDER": "MDY",
            "PARSERS": ["relative-time", "absolute-time"],  # not `timestamp`, which reads digits in the machine's zone
            "PREFER_DATES_FROM": prefer,
            "RELATIVE_BASE": now.replace(microsecond=_OFF_THE_CLOCK),
            "RETURN_TIME_AS_PERIOD": True,
            "TIMEZONE": "UTC",
        },
    )
    return parser.get_date_data(text)


@cache
def _library() -> Callable[..., _Parser]:
    """Load the library on first use: it takes 0.15 s, which programs that never ask for a date should not pay."""
    from dateparser.date import DateDataParser  # type: ignore[import-untyped]

    return cast("Callable[..., _Parser]", DateDataParser)
