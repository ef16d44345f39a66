"""Is a constraint matrix totally unimodular? Yes with a proof, no with a submatrix, or unknown.

A matrix is totally unimodular (TU) if every square submatrix has determinant 0, 1 or -1; a linear
program with a TU matrix and integer right-hand sides has only integral vertices (A. J. Hoffman and
J. B. Kruskal, 1956). `total_unimodularity` tries the checks of this package from fast to slow; each
of them can also be used alone. No answer is a guess. The names are listed in `__init__.pyi`; each
is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
