"""Episodes, times and receipts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sgam.memory_store.errors import InvalidEpisode, InvalidInput
from sgam.memory_store.model import (
    MAX_EPISODE_LENGTH,
    Candidate,
    Decision,
    DecisionKind,
    Episode,
    Key,
    Outcome,
    Precision,
    Quarantined,
    QuarantineReason,
    Reason,
    Receipt,
    end_of_stretch,
    subject_id,
    utc,
)

from .ledgers import day

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
HOME = Key("person", "mira", "home")


def hello(**changes: Any) -> Episode:
    return Episode(**{"text": "hello", "observed_at": NOON, **changes})


class TestEpisodeId:
    def test_it_is_the_same_for_the_same_words(self) -> None:
        assert hello().episode_id == hello().episode_id
        assert len(hello().episode_id) == 32

    @pytest.mark.parametrize(
        "change",
        [
            {"text": "hello "},
            {"observed_at": NOON + timedelta(microseconds=1)},
            {"speaker": "mira"},
            {"session_id": "s1"},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_it_depends_on_session_time_speaker_and_text(self, change: dict[str, Any]) -> None:
        assert hello(**change).episode_id != hello().episode_id

    @pytest.mark.parametrize("change", [{"source": "tool"}, {"zone": "Europe/Berlin"}, {"tenant_id": "acme"}], ids=str)
    def test_it_depends_on_nothing_else(self, change: dict[str, Any]) -> None:
        assert hello(**change).episode_id == hello().episode_id

    def test_one_instant_in_two_zones_is_one_episode(self) -> None:
        east = NOON.astimezone(timezone(timedelta(hours=5)))

        assert hello(observed_at=east) == hello()

    def test_parts_do_not_run_into_each_other(self) -> None:
        assert hello(session_id="ab", speaker="c").episode_id != hello(session_id="a", speaker="bc").episode_id

    def test_one_that_is_given_stands(self) -> None:
        assert hello(episode_id="mail-7").episode_id == "mail-7"


class TestContentHash:
    @pytest.mark.parametrize(
        "change",
        [
            {"text": "hullo"},
            {"observed_at": day(0)},
            {"source": "tool"},
            {"speaker": "mira"},
            {"session_id": "s"},
            {"zone": "Asia/Tokyo"},
            {"retention": "short"},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_it_covers_all_that_an_episode_says(self, change: dict[str, Any]) -> None:
        assert hello(**change).content_hash != hello().content_hash

    @pytest.mark.parametrize("change", [{"episode_id": "other"}, {"tenant_id": "acme"}], ids=str)
    def test_it_does_not_cover_where_it_is_kept(self, change: dict[str, Any]) -> None:
        assert hello(**change).content_hash == hello().content_hash


WRONG: list[tuple[str, object]] = [
    ("text", ""),
    ("text", " \n"),
    ("text", None),
    ("text", 7),
    ("text", "a\x00b"),
    ("text", "a\udfffb"),
    ("text", "x" * (MAX_EPISODE_LENGTH + 1)),
    ("observed_at", datetime(2026, 6, 1)),  # noqa: DTZ001 - a naive one is the point
    ("observed_at", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))),
    ("source", None),
    ("source", "a\x00b"),
    ("speaker", 7),
    ("speaker", "   "),
    ("speaker", "a\x07b"),
    ("speaker", "x" * 501),
    ("session_id", "x" * 501),
    ("episode_id", "x" * 501),
    ("episode_id", None),
    ("tenant_id", "\ud800"),
    ("retention", 3),
    ("zone", "Mars/Olympus"),
    ("zone", "../etc/passwd"),
    ("zone", ""),
    ("zone", None),
]


class TestBadEpisodes:
    @pytest.mark.parametrize(("name", "value"), WRONG, ids=[f"{name} {str(value)[:12]!r}" for name, value in WRONG])
    def test_a_bad_field_is_named(self, name: str, value: object) -> None:
        with pytest.raises(InvalidEpisode) as caught:
            hello(**{name: value})

        assert caught.value.field == name
        assert str(caught.value).startswith(f"{name}: ")
        assert "\n" not in str(caught.value)

    def test_the_longest_text_is_allowed(self) -> None:
        assert len(hello(text="é" * MAX_EPISODE_LENGTH).text) == MAX_EPISODE_LENGTH


class TestJsonLines:
    def test_all_fields_are_read(self) -> None:
        read = Episode.from_json(
            {
                "episode_id": "e1",
                "observed_at": "2026-06-01T14:00:00+02:00",
                "text": "hello",
                "speaker": "Mira",
                "source": "tool",
                "session_id": "s1",
                "zone": "Europe/Berlin",
                "tenant_id": "acme",
                "retention": "short",
            }
        )

        assert read == Episode(
            text="hello",
            observed_at=NOON,
            episode_id="e1",
            source="tool",
            speaker="Mira",
            session_id="s1",
            zone="Europe/Berlin",
            retention="short",
            tenant_id="acme",
        )

    def test_two_fields_are_enough(self) -> None:
        read = Episode.from_json({"observed_at": "2026-06-01T12:00:00Z", "text": "hello", "speaker": None})

        assert read == hello()

    @pytest.mark.parametrize(
        ("data", "field"),
        [
            ([], "episode"),
            ("hello", "episode"),
            ({}, "text"),
            ({"text": "hello"}, "observed_at"),
            ({"text": "hello", "observed_at": None}, "observed_at"),
            ({"text": "hello", "observed_at": "yesterday"}, "observed_at"),
            ({"text": "hello", "observed_at": "2026-06-01T12:00:00"}, "observed_at"),
            ({"text": "hello", "observed_at": 1780315200}, "observed_at"),
            ({"text": None, "observed_at": "2026-06-01T12:00:00Z"}, "text"),
            ({"text": "hello", "observed_at": "2026-06-01T12:00:00Z", "user": "mira"}, "user"),
        ],
    )
    def test_a_bad_line_names_the_field(self, data: Any, field: str) -> None:
        with pytest.raises(InvalidEpisode) as caught:
            Episode.from_json(data)

        assert caught.value.field == field


class TestSubjectId:
    @pytest.mark.parametrize(
        ("name", "normal"),
        [
            ("Mira", "mira"),
            ("  Mira  Lind ", "mira_lind"),
            ("MİRA", "mi\u0307ra"),
            ("\ufb01n", "fin"),
            ("Straße", "strasse"),
            ("e\u0301", "é"),
        ],
    )
    def test_names_of_one_entity_are_one_id(self, name: str, normal: str) -> None:
        assert subject_id(name) == normal
        assert subject_id(normal) == normal

    @pytest.mark.parametrize("name", ["", "  ", "a\x00", "a\x1bb", "x" * 501])
    def test_what_is_no_id_is_refused(self, name: str) -> None:
        with pytest.raises(InvalidInput, match="is no id"):
            subject_id(name)


class TestUtc:
    def test_an_aware_time_is_converted(self) -> None:
        assert utc(NOON.astimezone(timezone(timedelta(hours=-7))), "valid_at").tzinfo is UTC

    def test_a_naive_one_is_refused_by_name(self) -> None:
        with pytest.raises(InvalidInput, match="valid_at: 2026-06-01T00:00:00 has no offset"):
            utc(datetime(2026, 6, 1), "valid_at")  # noqa: DTZ001 - a naive one is the point


class TestCandidate:
    def candidate(self, **changes: Any) -> Candidate:
        return Candidate(
            **{"key": HOME, "value": None, "valid_from": NOON, "source": "user", "evidence": (), **changes}
        )

    @pytest.mark.parametrize("name", ["valid_from", "valid_from_end", "valid_until"])
    def test_its_times_are_kept_in_utc(self, name: str) -> None:
        later = (NOON + timedelta(days=1)).astimezone(timezone(timedelta(hours=5)))

        assert getattr(self.candidate(**{name: later}), name).tzinfo is UTC

    @pytest.mark.parametrize("name", ["valid_from", "valid_from_end", "valid_until"])
    def test_a_naive_time_is_refused(self, name: str) -> None:
        with pytest.raises(InvalidInput, match=f"{name}: .* has no offset"):
            self.candidate(**{name: datetime(2026, 6, 1)})  # noqa: DTZ001 - a naive one is the point


class TestEndOfStretch:
    @pytest.mark.parametrize(
        ("start", "precision", "zone", "end"),
        [
            ("2026-12-31T00:00Z", "day", "UTC", "2027-01-01T00:00Z"),
            ("2026-12-01T00:00Z", "month", "UTC", "2027-01-01T00:00Z"),
            ("2026-01-01T00:00Z", "year", "UTC", "2027-01-01T00:00Z"),
            ("2026-12-31T00:00Z", "month", "UTC", "2027-01-01T00:00Z"),
            ("2026-12-31T00:00Z", "year", "UTC", "2027-01-01T00:00Z"),
            ("2028-02-01T00:00Z", "month", "UTC", "2028-03-01T00:00Z"),
            ("2028-02-29T00:00Z", "year", "UTC", "2029-01-01T00:00Z"),
            ("2026-03-29T00:00+01:00", "day", "Europe/Berlin", "2026-03-30T00:00+02:00"),
            ("2026-10-25T00:00+02:00", "day", "Europe/Berlin", "2026-10-26T00:00+01:00"),
            ("2026-03-01T00:00+01:00", "month", "Europe/Berlin", "2026-04-01T00:00+02:00"),
            ("2026-12-31T00:00-05:00", "day", "America/New_York", "2027-01-01T00:00-05:00"),
            ("2026-06-01T00:00+05:45", "month", "Asia/Kathmandu", "2026-07-01T00:00+05:45"),
        ],
    )
    def test_it_is_the_end_of_that_day_month_or_year_in_its_zone(
        self, start: str, precision: Precision, zone: str, end: str
    ) -> None:
        assert end_of_stretch(datetime.fromisoformat(start), precision, zone) == datetime.fromisoformat(end)

    def test_an_exact_instant_has_none(self) -> None:
        assert end_of_stretch(NOON, "exact") is None


def decision(kind: DecisionKind, reason: Reason, value: str | None = '"Porto"', number: int = 1) -> Decision:
    return Decision(candidate_id=number, key=HOME, value=value, decision=kind, reason=reason, known_at=NOON)


RECEIPT = Receipt(
    episode_id="e1",
    status="partial",
    known_at=NOON,
    error="the answer was cut",
    decisions=(
        decision(DecisionKind.NEW, Reason.NO_VALUE_THEN),
        decision(DecisionKind.SUPERSEDE, Reason.REVOKED, None),
        decision(DecisionKind.HOLD, Reason.EQUAL_TIME, number=7),
        decision(DecisionKind.REJECT, Reason.FROM_MEMORY),
    ),
    quarantined=(Quarantined(reason=QuarantineReason.MALFORMED, message="no JSON", raw="{" * 80),),
)


class TestReceipt:
    def test_the_kinds_add_up_to_the_candidates(self) -> None:
        assert RECEIPT.counts == {
            "candidates": 5,
            "new": 1,
            "supersede": 1,
            "no_change": 0,
            "hold": 1,
            "reject": 1,
            "quarantined": 1,
        }

    def test_it_prints_as_a_short_table(self) -> None:
        assert str(RECEIPT).splitlines() == [
            "episode e1: partial (the answer was cut)",
            '  new        mira.home = "Porto"  (no_value_then)',
            "  supersede  mira.home = (no value)  (revoked)",
            '  hold       mira.home = "Porto"  (equal_time, hold 7)',
            '  reject     mira.home = "Porto"  (from_memory)',
            f"  quarantined {'{' * 60}  (malformed: no JSON)",
        ]


class TestFingerprint:
    def test_it_is_that_of_the_extractor_where_there_is_one(self) -> None:
        assert Outcome(extractor="m1").fingerprint == "extractor:m1"

    def test_else_it_is_that_of_the_candidates(self) -> None:
        def outcome(**changes: Any) -> str:
            return Outcome(candidates=(TestCandidate().candidate(**changes),)).fingerprint

        same = {outcome(), outcome()}
        others = {
            outcome(value='"a"'),
            outcome(valid_until=day(900)),
            outcome(source="tool"),
            outcome(key=HOME._replace(item="x")),
            outcome(valid_from_end=day(901)),
        }

        assert len(same) == 1
        assert len(others | same) == 6
