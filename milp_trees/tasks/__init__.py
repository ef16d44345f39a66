"""Tasks: what "best" means. One file per kind of task; the names are listed in `__init__.pyi`, and
each is loaded when it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
