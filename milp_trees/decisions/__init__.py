"""Decision sets: the decisions that a leaf may choose if they are many or have structure.

An oracle finds the cheapest decision for a vector of costs. The names are listed in `__init__.pyi`;
each is loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
