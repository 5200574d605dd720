"""Prompt templates and the renderer."""
