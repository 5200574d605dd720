"""A transformers model under an xgrammar grammar, in this process."""

from .backend import LocalBackend

__all__ = ["LocalBackend"]
