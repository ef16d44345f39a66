"""Decision sets: what a leaf may choose when decisions are many or have structure; an oracle finds
the cheapest for a vector of costs. The names are listed in `__init__.pyi`, and each is loaded when
it is first asked for.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
