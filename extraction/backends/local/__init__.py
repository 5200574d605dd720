"""A transformers model under an xgrammar grammar, in this process."""
