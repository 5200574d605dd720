"""Measured ratios that the design gives bounds for."""
