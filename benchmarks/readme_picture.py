"""The picture of README.md: the optimal tree of the example table `people.csv`.

python benchmarks/readme_picture.py
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import milp_trees as mt

PICTURE = Path(__file__).parents[1] / "docs" / "start" / "pictures" / "people_tree.svg"


def drawn() -> tuple[str, mt.Result]:
    """The picture as SVG, and the result that it shows."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "people.csv"
        mt.example("people", table)
        data = mt.load(table)
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(max_depth=3)))
    return result.tree.picture(data) + "\n", result


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    svg, found = drawn()
    PICTURE.write_text(svg, encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
