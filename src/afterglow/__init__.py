"""Afterglow keeps what matters of every conversation between people and their agents."""

__version__ = "0.1.0"
