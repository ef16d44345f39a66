"""Pruning of ensembles with feature costs: from the space of prunings to the command.

The names are listed in `__init__.pyi`; each is loaded when it is first used.

Reference: Nan, Wang, Saligrama (2016), *Pruning random forests for prediction on a budget*.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
