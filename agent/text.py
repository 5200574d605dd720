"""Text from outside, made fit for a terminal."""

from __future__ import annotations


def printable(value: object) -> str:
    """Text on one line that cannot steer a terminal: whatever is not printable is shown as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in str(value))


def shortened(value: object, width: int = 60) -> str:
    """Printable text of at most `width` characters."""
    text = printable(value)
    return text if len(text) <= width else text[: width - 1] + "…"
