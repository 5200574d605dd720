"""The commands of `sgam`, by what they do."""
