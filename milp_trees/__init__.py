"""Optimal interpretable models as mathematical programs: one problem, many methods.

The usual names are at the top: `mt.Dataset`, `mt.Accuracy`, `mt.Trees`, `mt.Problem`, `mt.solve`,
`mt.compare`; other tasks are in `mt.tasks`, sets of decisions in `mt.decisions`, errors in
`mt.errors`, and what writers of plug-ins need in `mt.plugins`. The names are listed in
`__init__.pyi`; each is loaded when it is first used, so importing the package loads none of numba,
pandas, scikit-learn and Pyomo.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
