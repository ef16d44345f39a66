"""Everything that this package uses of numba's and llvmlite's private modules. Loads numba.

Private names may change with every minor version of numba, so `pyproject.toml` allows the versions
that were tested and no others. To allow a new one, run the tests of this folder with it, then
change the range there and here.
"""

from typing import Any

from milp_trees.common.compiling.notices import Uncharged
from milp_trees.common.compiling.pausing import collector_paused

# To load numba takes longer than many a search, and no run is charged for it.
with Uncharged(), collector_paused():
    from llvmlite import __version__ as llvmlite_version
    from llvmlite import binding, ir
    from numba import __version__ as numba_version
    from numba import errors, typeof, types
    from numba.core import cgutils, config, dispatcher, imputils, sigutils, typing
    from numba.core.caching import NullCache
    from numba.core.ccallback import CFunc
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, compile_result
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.compiler_machinery import PassManager, register_pass
    from numba.core.datamodel import models, register_default
    from numba.core.registry import CPUDispatcher, cpu_target
    from numba.core.runtime import rtsys
    from numba.core.runtime._nrt_python import c_helpers
    from numba.core.runtime.nrtdynmod import create_nrt_module
    from numba.core.serialize import dumps
    from numba.core.typed_passes import (
        AnnotateTypes,
        IRLegalization,
        NativeLowering,
        NoPythonBackend,
    )
    from numba.core.typing.templates import AttributeTemplate, infer_getattr
    from numba.extending import intrinsic
    from numba.np.numpy_support import from_dtype

#: The versions of numba whose private modules were tested: at least the first, below the second.
NUMBA = ("0.66", "0.69")

FunctionCompiler: Any = vars(dispatcher)["_FunctionCompiler"]

__all__ = [
    "NUMBA",
    "AnnotateTypes",
    "AttributeTemplate",
    "CFunc",
    "CPUDispatcher",
    "CompilerBase",
    "DefaultPassBuilder",
    "Flags",
    "FunctionCompiler",
    "IRLegalization",
    "JITCodeLibrary",
    "NativeLowering",
    "NoPythonBackend",
    "NullCache",
    "PassManager",
    "binding",
    "c_helpers",
    "cgutils",
    "compile_result",
    "config",
    "cpu_target",
    "create_nrt_module",
    "dumps",
    "errors",
    "from_dtype",
    "global_compiler_lock",
    "imputils",
    "infer_getattr",
    "intrinsic",
    "ir",
    "llvmlite_version",
    "models",
    "numba_version",
    "register_default",
    "register_pass",
    "rtsys",
    "sigutils",
    "typeof",
    "types",
    "typing",
]
