"""Lines with a label, at most 80 columns wide."""

from __future__ import annotations

import textwrap

#: Columns of a terminal, and of the labels with the space behind them.
WIDTH, LABEL = 80, 10


def folded(line: str) -> str:
    """A line `label     text` in lines of at most 80 columns, the later ones below the text.

    A longer word, such as a path, stays whole.
    """
    return textwrap.fill(
        line,
        WIDTH,
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    )
