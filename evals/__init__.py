"""Replay of cases, metrics, reports and benchmarks."""
