"""Lines with a label, at most 80 columns wide."""

from __future__ import annotations

import re
import textwrap

#: Columns of a terminal, and of the labels with the space behind them.
WIDTH, LABEL = 80, 10
#: Spaces within a number, before its percent sign, and around the sign of a product.
TOGETHER = re.compile(r"(?<=\d) (?=\d{3}\b|%|x \d)|(?<=\d x) (?=\d)")


def folded(line: str) -> str:
    """A line `label     text` in lines of at most 80 columns, the later ones below the text.

    A longer word, such as a path, stays whole.
    """
    kept = TOGETHER.sub("\xa0", line)
    return textwrap.fill(
        kept,
        WIDTH,
        subsequent_indent=" " * LABEL,
        break_long_words=False,
        break_on_hyphens=False,
    ).replace("\xa0", " ")
