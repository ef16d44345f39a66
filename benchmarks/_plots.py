"""How the pictures of this folder look, and where they go: `benchmarks/plots` (not kept in the
repository).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "plots"
#: Colours that most colour-blind readers tell apart (Okabe and Ito 2008).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: One colour and marker per engine in every picture.
ENGINES = {
    "milp-trees": ("#0072B2", "o"),
    "pystreed": ("#D55E00", "s"),
    "pydl8.5": ("#009E73", "^"),
    "gosdt": ("#CC79A7", "D"),
    "CART": ("#000000", "x"),
    "greedy (ours)": ("#E69F00", "+"),
    "milp-trees, λ": ("#56B4E9", "d"),
    "milp-trees, sorted columns": ("#56B4E9", "v"),
}


def figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """A figure without a screen, its axes without frames on top and right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.titlesize": 10,
            "legend.frameon": False,
        }
    )
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)


def save(drawn: Any, name: str) -> Path:
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.png"
    drawn.savefig(path, dpi=130)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")
    return path
