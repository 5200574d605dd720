"""Adapters to agent frameworks, one module each."""
