"""A number with its noun, for sentences."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: `1 claim`, `12 000 claims`."""
    return f"{spaced(number)} {noun if number == 1 else plural or f'{noun}s'}"


def spaced(number: int) -> str:
    """A whole number with a space after every three digits."""
    return f"{number:,}".replace(",", " ")
