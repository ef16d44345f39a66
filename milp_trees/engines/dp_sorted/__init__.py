"""Exact search over sorted numeric columns."""
