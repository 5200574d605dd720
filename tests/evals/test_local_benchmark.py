from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from sgam.evals.benchmarks import local_contestants, local_worker
from sgam.evals.benchmarks.local import chosen, main, result
from sgam.evals.benchmarks.local_asks import dump, load, plain, requests_of
from sgam.evals.benchmarks.local_contestants import Answer, Contestant, Setup
from sgam.evals.benchmarks.local_meter import Clock, Meter, peak
from sgam.evals.benchmarks.local_report import Result, figures, is_instance, ratio_of, table
from sgam.extraction.backends.base import Budget, Message, Request

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "x-substring": True},
        "sure": {"anyOf": [{"const": 1}, {"type": "null"}]},
    },
    "required": ["city", "sure"],
    "additionalProperties": False,
}
REQUEST = Request(
    messages=(Message(role="user", content="I live in Graz."),),
    schema=CITY,
    source="I live in Graz.",
    context=("Where do you live?",),
    budget=Budget(tokens=20),
)


def case() -> dict[str, Any]:
    def episode(number: int, source: str, text: str) -> dict[str, Any]:
        when = datetime(2026, 1, 1, 9, number, tzinfo=UTC).isoformat()
        return {"episode_id": f"e{number}", "source": source, "text": text, "observed_at": when}

    update = {
        "episode_id": "e0",
        "subject": "user",
        "attribute": "city",
        "change": "new",
        "value": "Graz",
        "evidence": {"episode_id": "e0", "start": 10, "end": 14, "text": "Graz", "kind": "user_span"},
    }
    return {
        "case_id": "c",
        "schema": {"name": "s", "version": 1, "types": {"person": {"attributes": {"city": {"type": "text"}}}}},
        "subjects": {"user": "person"},
        "episodes": [
            episode(0, "user", "I live in Graz."),
            episode(1, "system", "Nice."),
            episode(2, "user", "I moved to Linz."),
        ],
        "updates": [update],
    }


def reading(at: float, text: str = '{"city":"Graz","sure":null}', **other: Any) -> dict[str, Any]:
    counters = {"compile_seconds": None, "masks": None, "mask_seconds": None, "passes": None, "fed": None}
    return {"at": at, "text": text, "generated": 10, "prompt": 50, **counters, "engine": {}, "peak": None, **other}


def measured(*readings: dict[str, Any]) -> Result:
    return Result(label="x", status="measured", readings=readings)


class TestRequests:
    def test_they_are_the_extractors_with_gold_on_record(self) -> None:
        first, second = requests_of([case()], 2, tokens=256)

        assert (first.source, second.source) == ("I live in Graz.", "I moved to Linz.")
        assert first.budget.tokens == 256
        assert '"const": "Graz"' not in json.dumps(first.schema)
        assert '"const": "Graz"' in json.dumps(second.schema)

    def test_only_the_first_turns_are_asked_about(self) -> None:
        assert [request.source for request in requests_of([case(), case()], 1, tokens=8)] == ["I live in Graz."]

    def test_they_survive_the_way_to_another_process(self) -> None:
        assert load(dump([REQUEST])) == [REQUEST]

    def test_a_plain_schema_is_the_same_without_marks(self) -> None:
        assert "x-substring" not in json.dumps(plain(CITY))
        assert plain(CITY)["properties"]["city"] == {"type": "string"}
        assert plain(CITY)["properties"]["sure"] == CITY["properties"]["sure"]  # type: ignore[index]


class TestFigures:
    def test_a_ratio_is_taken_on_the_turns_that_both_have_answered(self) -> None:
        assert ratio_of([reading(1.0), reading(2.0)], [reading(4.0), reading(8.0), reading(90.0)]) == 0.25

    def test_there_is_no_ratio_without_the_base(self) -> None:
        found = figures({"d1": measured(reading(1.0))}, [REQUEST])["d1"]

        assert (found["seconds_per_episode"], found["ratio"], found["times_faster"]) == (1.0, None, None)

    def test_counters_are_sums_and_become_figures_per_episode(self) -> None:
        engine = {"right": 5, "forced": 10}
        last = reading(
            8.0, compile_seconds=1.0, masks=40, mask_seconds=0.002, passes=30, fed=120, engine=engine, peak=3 << 20
        )
        found = figures({"a": measured(reading(2.0), last)}, [REQUEST] * 2)["a"]

        assert found["compile_seconds_per_episode"] == 0.5
        assert found["forward_passes_per_episode"] == 15
        assert found["generated_tokens_per_episode"] == 10
        assert found["mask_us"] == pytest.approx(50)
        assert (found["drafted_share"], found["forced_share"]) == (0.25, 0.5)
        assert found["peak_mib"] == 3

    def test_what_cannot_be_seen_is_none(self) -> None:
        found = figures({"c1": measured(reading(2.0))}, [REQUEST])["c1"]

        assert found["forward_passes_per_episode"] is found["mask_us"] is found["drafted_share"] is None
        assert found["peak_mib"] is None

    def test_answers_that_are_no_instances_and_those_that_were_cut_are_counted(self) -> None:
        cut = reading(2.0, '{"city":"Gr', generated=20)
        found = figures({"a": measured(reading(1.0), cut)}, [REQUEST] * 2)["a"]

        assert (found["valid_share"], found["cut_share"]) == (0.5, 0.5)

    @pytest.mark.parametrize(
        ("text", "valid"),
        [
            ('{"city":"Graz","sure":1}', True),
            ('{ "sure": null, "city": "Graz" }', True),
            ('{"city":"Graz","sure":true}', False),
            ('{"city":1,"sure":1}', False),
            ('{"city":"Graz"}', False),
            ('{"city":"Graz","sure":1,"more":1}', False),
            ("[]", False),
            ("", False),
        ],
    )
    def test_an_instance_of_the_schema_is_told_from_others(self, text: str, valid: bool) -> None:
        assert is_instance(text, CITY) is valid

    def test_lists_have_to_keep_their_bounds(self) -> None:
        schema = {"type": "array", "items": {"enum": ["a"]}, "maxItems": 1}

        assert [is_instance(text, schema) for text in ("[]", '["a"]', '["b"]', '["a","a"]')] == [
            True,
            True,
            False,
            False,
        ]


class TestTable:
    def test_it_has_a_line_for_each_variant_and_says_why_one_was_skipped(self) -> None:
        results = {
            "a": measured(reading(4.0)),
            "d1": measured(reading(1.0)),
            "b": Result(label="Outlines", status="skipped", reason="No module named 'outlines'"),
        }
        lines = table(figures(results, [REQUEST])).splitlines()

        assert lines[0].split()[:3] == ["variant", "turns", "s/episode"]
        assert "0.250   4.00x" in lines[2]
        assert lines[3].split()[:4] == ["(b)", "Outlines", "0", "-"]
        assert lines[-1] == "(b) skipped: No module named 'outlines'"


class TestResults:
    READY: dict[str, Any] = {"ready": {"engine": "e"}, "load_seconds": 2.0, "loaded": {"peak": 1 << 20}}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("lines", "trouble", "status"),
        [
            ([READY, reading(1.0)], None, "measured"),
            ([READY, reading(1.0)], "stopped after 5 s", "partial"),
            ([READY], "exit code 1: Boom", "failed"),
            ([], "exit code -9: no message", "failed"),
            ([{"skipped": "no such package"}], None, "skipped"),
        ],
    )
    def test_the_status_tells_how_far_a_worker_came(
        self, lines: list[dict[str, Any]], trouble: str | None, status: str
    ) -> None:
        found = result("x", lines, trouble)

        assert found.status == status
        assert found.reason == (trouble or ("no such package" if status == "skipped" else None))

    def test_notes_of_a_contestant_are_kept(self) -> None:
        assert result("x", [self.READY], None).notes == {"notes": {"engine": "e"}, "load_seconds": 2.0, "loaded_mib": 1}


class TestChoice:
    def test_a_letter_stands_for_all_of_its_kind(self) -> None:
        assert chosen("d,b-xgrammar") == ["b-xgrammar", "d1", "d4", "d16"]
        assert chosen(None) == list(local_contestants.CONTESTANTS)

    def test_an_unknown_name_is_refused_before_anything_runs(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["--cases", "nowhere.jsonl", "--only", "a,z"]) == 2
        assert "no such variant: z" in capsys.readouterr().err


class TestMeter:
    def test_a_clock_counts_the_calls_of_a_method(self) -> None:
        class Matcher:
            def fill_next_token_bitmask(self, row: int) -> int:
                return row + 1

        meter = Meter()
        meter.masking(Matcher)

        assert Matcher().fill_next_token_bitmask(1) == 2
        assert meter.reading()["masks"] == 1

    def test_what_failed_is_counted_too(self) -> None:
        clock = Clock()

        with pytest.raises(ZeroDivisionError):
            clock.timed(lambda: 1 / 0)()

        assert clock.calls == 1

    def test_counters_that_are_not_in_use_stay_none(self) -> None:
        meter = Meter()
        meter.clear()

        assert meter.reading()["passes"] is meter.reading()["compile_seconds"] is None

    def test_the_high_water_mark_is_that_of_this_process(self) -> None:
        found = peak()

        assert found is None or found > 1 << 20


class _Echo:
    """A contestant without a model."""

    def __init__(self, setup: Setup) -> None:
        self._clock = setup.meter.compiling()

    def __call__(self, requests: Sequence[Request]) -> Iterator[Answer]:
        for request in requests:
            self._clock.timed(lambda: None)()
            yield Answer(text=request.source, generated=1, prompt=2)


def _missing(setup: Setup) -> _Echo:
    raise ModuleNotFoundError("No module named 'outlines'")


class TestWorker:
    def lines(self, monkeypatch: pytest.MonkeyPatch, make: Any) -> list[dict[str, Any]]:
        monkeypatch.setattr(local_worker, "CONTESTANTS", {"x": Contestant("x", make)})
        out = io.StringIO()
        local_worker.work("x", [REQUEST, REQUEST], Setup(model="default", threads=1, meter=Meter()), out)
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def test_it_writes_a_reading_for_each_request_but_the_first_that_only_warms_up(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        ready, *readings = self.lines(monkeypatch, _Echo)

        assert ready["ready"] == {}
        assert [row["text"] for row in readings] == ["I live in Graz."] * 2
        assert readings[0]["at"] <= readings[1]["at"]

    def test_a_missing_package_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.lines(monkeypatch, _missing) == [{"skipped": "No module named 'outlines'"}]
