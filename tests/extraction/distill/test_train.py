from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sgam.extraction.backends.local import LocalBackend, models
from sgam.extraction.backends.local.libraries import quiet
from sgam.extraction.calibration import Calibration
from sgam.extraction.distill import plan
from sgam.extraction.distill.card import calibrate, write_card
from sgam.extraction.extractor import Extractor
from sgam.memory_store.errors import BackendUnavailable
from sgam.memory_store.schema import MemorySchema

from ..backends.conftest import build_tiny_model
from ..conftest import task
from .conftest import hotel_case

pytest.importorskip("torch")
pytest.importorskip("peft")

from sgam.extraction.distill import train

PLAN = plan.plan([hotel_case()] * 8, 30, random.Random(1), size=4)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    build_tiny_model(folder, context=8192)
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SGAM_CACHE", str(tmp_path / "cache"))


def run(base: Path, folder: Path, times: int = 1, **settings: Any) -> list[dict[str, float]]:
    """Train, and the lines of the log."""
    chosen = train.Settings(rank=4, rate=2e-2, warmup=2, accumulate=1, longest=4000, **settings)
    train.train_on(PLAN * times, folder, chosen, base=str(base), start=None, threads=None)
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def trained(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "run"
    run(base, folder, times=4)
    return folder


def test_the_loss_falls(trained: Path) -> None:
    losses = [json.loads(line)["loss"] for line in (trained / "log.jsonl").read_text().splitlines()]

    assert losses[-1] < 0.8 * losses[0]


def test_sharing_the_constant_part_changes_no_loss(base: Path) -> None:
    import torch

    model, tokenizer = models.load(models.locate(base), device="cpu", dtype="float32")
    batch = train.tokenised(PLAN[0], tokenizer, 4000)
    assert batch is not None
    rows = [(batch.prefix + row.prompt, row.answer) for row in batch.rows]
    counts = torch.cat([torch.tensor(row.weights) for row in batch.rows])
    with torch.no_grad():
        shared = train.loss_of(train.adapted(model, train.Settings()), batch)
        alone = (torch.cat([_losses(model, *row) for row in rows]) * counts).sum() / counts.sum()

    assert torch.isclose(shared, alone, atol=1e-4)


def _losses(model: Any, prompt: list[int], answer: list[int]) -> Any:
    import torch

    logits = model(input_ids=torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
    return torch.nn.functional.cross_entropy(logits, torch.tensor(answer), reduction="none")


def test_a_run_that_was_interrupted_goes_on_where_it_was(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(trainer: train.Trainer, row: dict[str, float], steps: int) -> None:
        if trainer._step == 3:
            raise KeyboardInterrupt
        log(trainer, row, steps)

    log = train.Trainer._log
    whole = run(base, tmp_path / "whole", every=1)
    with monkeypatch.context() as patch:
        patch.setattr(train.Trainer, "_log", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run(base, tmp_path / "cut", every=1)
    resumed = run(base, tmp_path / "cut", every=1)

    assert [line["step"] for line in resumed] == [line["step"] for line in whole]
    assert [line["loss"] for line in resumed] == pytest.approx([line["loss"] for line in whole], abs=1e-3)


class TestAdapter:
    @pytest.fixture
    def adapter(self, trained: Path, tmp_path: Path) -> Path:
        train.export(trained, tmp_path / "adapter")
        return tmp_path / "adapter"

    def test_it_answers_in_the_form_that_it_was_trained_on(self, adapter: Path) -> None:
        backend = LocalBackend(adapter)
        schema = MemorySchema.from_json(hotel_case()["schema"])
        outcome = Extractor(schema, backend).extract(task("Please find me a cheap hotel."))

        assert backend.compact
        assert backend.name.startswith("local:tiny+adapter@")
        assert outcome.status in {"complete", "partial"}

    def test_merging_gives_the_logits_of_base_and_adapter(self, base: Path, trained: Path, adapter: Path) -> None:
        import torch
        from peft import PeftModel

        ids = torch.tensor([[1, 2, 3, 4]])
        plain, _ = models.load(models.locate(base), device="cpu", dtype="float32")
        before = plain(input_ids=ids).logits
        merged, _ = models.load(models.locate(adapter), device="cpu", dtype="float32")
        with quiet():
            together = PeftModel.from_pretrained(plain, str(trained))

        assert torch.allclose(merged(input_ids=ids).logits, together(input_ids=ids).logits, atol=0.05)
        assert not torch.allclose(merged(input_ids=ids).logits, before, atol=0.05)

    def test_its_weights_are_in_half_precision(self, adapter: Path) -> None:
        from safetensors.torch import load_file

        assert {str(tensor.dtype) for tensor in load_file(adapter / "adapter_model.safetensors").values()} == {
            "torch.float16"
        }

    def test_an_adapter_for_another_base_is_refused(self, adapter: Path, tmp_path: Path) -> None:
        build_tiny_model(tmp_path / "other", context=128)
        _rename_base(adapter, str(tmp_path / "other"))

        with pytest.raises(BackendUnavailable, match="was trained on other weights than other"):
            LocalBackend(adapter).load()

    def test_an_adapter_that_names_no_base_is_refused(self, adapter: Path) -> None:
        (adapter / "adapter_config.json").write_text("{}")

        with pytest.raises(BackendUnavailable, match="names no base model"):
            LocalBackend(adapter).load()

    def test_a_base_that_is_not_there_is_named(self, adapter: Path) -> None:
        _rename_base(adapter, "./nowhere")

        with pytest.raises(BackendUnavailable, match=r"no model at '\./nowhere'"):
            LocalBackend(adapter).load()

    def test_its_calibration_is_fitted_and_stored(self, adapter: Path, tmp_path: Path) -> None:
        said = [{"confidence": 0.9, "right": number % 2 == 0} for number in range(400)]
        (tmp_path / "turns.jsonl").write_text(json.dumps({"predicted": said}) + "\n")
        found = calibrate(tmp_path / "turns.jsonl", adapter, update_bias=0.5)
        training = models.locate(adapter).training()

        assert abs(found(0.9) - 0.5) < 0.05
        assert training is not None
        assert training.update_bias == 0.5
        assert abs(training.calibration(0.9) - 0.5) < 0.05

    def test_an_unreadable_account_of_the_training_is_named(self, adapter: Path) -> None:
        (adapter / "sgam.json").write_text('{"base": "x", "calibration": 7}')

        with pytest.raises(BackendUnavailable, match=r"sgam\.json cannot be read"):
            LocalBackend(adapter).load()

    def test_the_card_shows_data_and_figures(self, adapter: Path, tmp_path: Path) -> None:
        names = ["f1", "precision", "recall", "change_accuracy", "f1.new"]
        keys = [f"extraction.{name}" for name in names] + ["negatives.false_writes_per_100"]
        values = dict.fromkeys(keys, 0.5) | {f"{key}.low": 0.4 for key in keys} | {f"{key}.high": 0.6 for key in keys}
        figures = tmp_path / "figures.json"
        figures.write_text(json.dumps({"cases": "some.jsonl", "only": None, "turns": 3, "updates": 2, **values}))
        text = write_card(adapter, [figures], ["some set, CC BY-SA 4.0"], "mine").read_text()

        assert "# mine" in text
        assert "* some set, CC BY-SA 4.0" in text
        assert "| f1, new | 0.50 | 0.40 to 0.60 |" in text


def _rename_base(adapter: Path, name: str) -> None:
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps({**config, "base_model_name_or_path": name}))


def test_no_calibration_leaves_probabilities_alone() -> None:
    assert models.Training(base="x").calibration == Calibration()
