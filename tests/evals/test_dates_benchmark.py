import json
from pathlib import Path

import pytest
from sgam.evals.benchmarks.dates import main


def spec(text: str, kind: str | None, **value: str) -> dict[str, object]:
    results = [{"Text": text, "TypeName": f"datetimeV2.{kind}", "Resolution": {"values": [value]}}] if kind else []
    return {"Input": f"Say {text}.", "Context": {"ReferenceDateTime": "2026-05-13T15:30:00"}, "Results": results}


@pytest.fixture
def recognizers(tmp_path: Path) -> Path:
    specs = [
        spec("july 4th of 1995", "date", value="1995-07-04"),
        spec("tomorrow at 5 pm", "datetime", value="2026-05-14 17:00:00"),
        spec("this week", "daterange", start="2026-05-11", end="2026-05-18"),
        spec("christmas", "date", value="2026-12-25"),
        spec("two weeks", "duration", value="1209600"),
        spec("17:30", "time", value="17:30:00"),
        spec("nothing", None),
    ]
    path = tmp_path / "specs.json"
    path.write_text(json.dumps(specs), encoding="utf-8-sig")
    return path


@pytest.fixture
def timenorm(tmp_path: Path) -> Path:
    path = tmp_path / "timexes.tsv"
    rows = [
        "1989-10-30\tDATE\t1989-10-30",
        "September\tDATE\t1989-09",
        "now\tDATE\tPRESENT_REF",
        "Three days\tDURATION\tP3D",
    ]
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    return path


def test_the_report_counts_answers_and_right_answers_per_group(
    recognizers: Path, timenorm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--recognizers", str(recognizers), "--timenorm", str(timenorm), "--json"])
    groups = json.loads(capsys.readouterr().out)["groups"]

    assert code == 0
    assert {g: (row["cases"], row["coverage"], row["accuracy"]) for g, row in groups.items()} == {
        "recognizers date": (2, 0.5, 0.5),
        "recognizers datetime": (1, 1.0, 1.0),
        "recognizers daterange": (1, 1.0, 1.0),
        "recognizers nothing": (2, 0.0, 1.0),
        "recognizers time": (1, 1.0, 1.0),
        "timenorm month": (1, 1.0, 1.0),
        "timenorm present": (1, 1.0, 1.0),
        "timenorm nothing": (1, 0.0, 1.0),
    }


def test_what_was_missed_can_be_listed(recognizers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--recognizers", str(recognizers), "--misses", "5"])

    assert "recognizers date: 'christmas' at Wed 2026-05-13: 2026-12-25, got None" in capsys.readouterr().out


def test_a_run_without_a_set_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "name at least one set" in capsys.readouterr().err
