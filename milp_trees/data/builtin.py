"""Data sets that scikit-learn contains, by name; nothing is downloaded.

Their files are read as they are: importing scikit-learn for its loaders would take a second.
"""

from __future__ import annotations

import gzip
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_OF_CELLS = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave points",
    "symmetry",
    "fractal dimension",
]

#: Name → file of scikit-learn, and the names of its columns, which the file does not hold.
BUILTIN = {
    "breast-cancer": (
        "breast_cancer.csv",
        [f"mean {c}" for c in _OF_CELLS]
        + [f"{c} error" for c in _OF_CELLS]
        + [f"worst {c}" for c in _OF_CELLS],
    ),
    "iris": (
        "iris.csv",
        [f"{part} {size} (cm)" for part in ("sepal", "petal") for size in ("length", "width")],
    ),
    "wine": (
        "wine_data.csv",
        [
            "alcohol",
            "malic_acid",
            "ash",
            "alcalinity_of_ash",
            "magnesium",
            "total_phenols",
            "flavanoids",
            "nonflavanoid_phenols",
            "proanthocyanins",
            "color_intensity",
            "hue",
            "od280/od315_of_diluted_wines",
            "proline",
        ],
    ),
    "digits": ("digits.csv.gz", [f"pixel_{row}_{col}" for row in range(8) for col in range(8)]),
}


def builtin(name: str) -> tuple[pd.DataFrame, str]:
    """The table of a built-in data set, and the name of its target.

    The target is the last column and holds the names of the classes (`malignant`).
    """
    import numpy as np
    import pandas as pd

    file, columns = BUILTIN[name]
    spec = find_spec("sklearn")
    path = Path(spec.origin if spec and spec.origin else "").parent / "datasets" / "data" / file
    if not path.is_file():
        raise DataError(
            f"The data set {name!r} is a part of scikit-learn, and {path} is not there; install scikit-learn, or name a file of your own."
        )
    lines = (gzip.decompress if path.suffix == ".gz" else bytes)(path.read_bytes()).splitlines()
    # A title, where there is one, holds the numbers of rows and columns and the names of classes.
    titled = path.suffix == ".csv"
    cells = np.array([line.split(b",") for line in lines[titled:]], dtype=float)
    codes = cells[:, -1].astype(int)
    names = lines[0].decode().split(",")[2:] if titled else np.unique(codes)
    frame = pd.DataFrame(cells[:, :-1], columns=columns)
    frame["target"] = np.asarray(names)[codes]
    return frame, "target"
