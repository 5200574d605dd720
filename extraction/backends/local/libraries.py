"""Where errors of the model libraries become ours, and where those libraries are kept quiet."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from ....memory_store.errors import BackendError, BackendUnavailable, SgamError

INSTALL_HINT = "pip install 'sgam[local]'"


@contextmanager
def loading(what: str, *, hint: str) -> Iterator[None]:
    """Everything that fails inside becomes `BackendUnavailable`, which names `what`."""
    try:
        with quiet():
            yield
    except SgamError:
        raise
    except ImportError as error:
        name = getattr(error, "name", None) or "a package"
        raise BackendUnavailable(f"{what}: {name} is not installed ({error})", hint=INSTALL_HINT) from error
    except Exception as error:
        raise BackendUnavailable(f"{what}: {_line(error)}", hint=hint) from error


@contextmanager
def running() -> Iterator[None]:
    """Everything that fails inside becomes a `BackendError`."""
    try:
        with quiet():
            yield
    except SgamError:
        raise
    except Exception as error:
        raise BackendError(f"the local model failed: {_line(error)}") from error


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, warnings or advice from transformers; the caller's settings are as before afterwards."""
    from transformers.utils import logging as library

    bars, level = library.is_progress_bar_enabled(), library.get_verbosity()
    library.disable_progress_bar()  # type: ignore[no-untyped-call]
    library.set_verbosity(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        library.set_verbosity(level)
        if bars:
            library.enable_progress_bar()  # type: ignore[no-untyped-call]


def _line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
