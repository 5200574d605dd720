"""Where sgam keeps what it can make again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_root() -> Path:
    """The folder `SGAM_CACHE`, else one under the platform's cache folder; it need not be there."""
    if own := os.environ.get("SGAM_CACHE"):
        return Path(own)
    return _platform_cache() / "sgam"


def _platform_cache() -> Path:
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local)
    return Path.home() / ".cache"
