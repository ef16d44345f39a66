"""The decorator `kernel`: numba's `njit`, with less to compile. Loads numba.

numba optimises and translates every function by itself, and once more inside of each function that
calls it. For kernels of many small functions that is more than half of the time of a first use.
Here a function that is called from compiled code is only typed and lowered to LLVM's language, once
per signature. A function that Python calls is linked with everything below it, and this unit is
optimised and translated once. Only units are kept on disk (`store`).
"""

# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from milp_trees.common.compiling import inside
from milp_trees.common.compiling.notices import Uncharged, kernel_compiled
from milp_trees.common.compiling.store import Store, digest_of
from milp_trees.common.errors import SolverUnavailable


def _check_numba_compiles() -> None:
    """numba's own functions are plain Python where the variable is set, and cannot be linked."""
    if inside.config.DISABLE_JIT:
        raise SolverUnavailable(
            "NUMBA_DISABLE_JIT is set, so numba compiles nothing, and this method only runs"
            " compiled; unset the variable, or take a formulation with a solver."
        )


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


class _Unit(inside.JITCodeLibrary):
    """The code of a function; code of the functions that it calls is added when it is finished."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Do nothing: the whole unit is optimised at the end, so its parts need not be."""
        ll_module.data_layout = self._codegen._data_layout

    def add_linking_library(self, library: Any) -> None:
        if not isinstance(library, _Unit):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in self._below({}):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._linking_libraries: list[Any] = []
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)
        self._final_module.verify()
        self._finalize_final_module()
        self._shared_module = None

    def _below(self, found: dict[Any, None]) -> dict[Any, None]:
        """All libraries that this one needs, in the order in which they are met."""
        for library in self._linking_libraries:
            if library not in found:
                found[library] = None
                if isinstance(library, _Unit):
                    library._below(found)
        return found

    def _get_module_for_linking(self) -> Any:
        """The code of this function alone, unless it is a unit of its own already."""
        if self._finalized:
            return super()._get_module_for_linking()
        if self._shared_module is None:
            # A copy may be in several units: such a definition may occur more than once.
            module = self._final_module.clone()
            for function in module.functions:
                if (
                    not function.is_declaration
                    and function.linkage == inside.binding.Linkage.external
                ):
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module


@inside.register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(inside.NativeLowering):
    """Lowers a function into a unit, which is finished only if Python calls the function."""

    _name = "kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        # numba numbers functions in each process. Code from files of several processes would then
        # have the same names for different functions, and the first that is loaded would be called.
        state.func_ir.func_id.unique_id = int(digest_of(state.func_id.func)[:15], 16)
        state.library = _Unit(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        part = state.flags.no_cpython_wrapper and not state.flags.no_compile
        if part:
            state.flags.no_compile = True
        super().run_pass(state)
        if part:
            lowered, key = state["cr"], _Part()
            state["cr"] = lowered._replace(cfunc=key)
            state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        return True


class _Part:
    """Stands where numba expects a callable: code that only compiled code can call."""


class _Compiler(inside.CompilerBase):
    """numba's compiler with the lowering above."""

    def define_pipelines(self) -> list[Any]:
        manager = inside.PassManager("kernel")
        manager.passes.extend(inside.DefaultPassBuilder.define_untyped_pipeline(self.state).passes)
        manager.passes.extend(inside.DefaultPassBuilder.define_typed_pipeline(self.state).passes)
        manager.add_pass(inside.IRLegalization, "legalise")
        manager.add_pass(inside.AnnotateTypes, "annotate types")
        manager.add_pass(_Lowering, "lower into a unit")
        manager.add_pass(inside.NoPythonBackend, "backend")
        manager.finalize()
        return [manager]


class _Flags(inside.Flags):
    """numba's options of a function, which are quick to compare.

    numba looks implementations up by them ten thousand times per unit. To collect all their values
    each time was up to a tenth of the time of compilation.
    """

    _hash = hash(tuple(sorted(inside.Flags.options)))
    _defaults = {name: option.default for name, option in inside.Flags.options.items()}

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> Any:
        return self is other or super().__eq__(other)

    def values(self) -> dict[str, Any]:
        return {**self._defaults, **self._values}


class _PartCompiler(inside.FunctionCompiler):
    """Compiles a function that only compiled code calls."""

    def _customize_flags(self, flags: Any) -> Any:
        return _Flags(flags)


class _UnitCompiler(_PartCompiler):
    """Compiles what is not found on disk; if that lasts, the user gets a message."""

    def compile(self, args: Any, return_type: Any) -> Any:
        _check_numba_compiles()
        with kernel_compiled(_name(self.py_func)):
            return super().compile(args, return_type)


class Kernel(inside.CPUDispatcher):
    """A compiled function. Python calls it like the function; so does compiled code."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        options = {"nopython": True, "boundscheck": None, "no_cfunc_wrapper": True, **options}
        super().__init__(function, {}, options, _Compiler)
        target = self.targetdescr
        self._compiler = _UnitCompiler(function, target, options, {}, _Compiler)
        options = {**options, "no_cpython_wrapper": True}
        self._part = _PartCompiler(function, target, options, {}, _Compiler)
        self._as_part = False
        self._cache = Store(function, tuple(sorted(self.targetoptions.items())))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """The template that numba requests when compiled code calls this function.

        There is one version for all numbers of a type, and none for each constant that is passed.
        """
        args = tuple(inside.types.unliteral(kind) for kind in args)
        kws = {name: inside.types.unliteral(kind) for name, kind in kws.items()}
        with self._compiled_as_part():
            return super().get_call_template(args, kws)

    @contextmanager
    def _compiled_as_part(self) -> Iterator[None]:
        with inside.global_compiler_lock:
            before = self._as_part, self._compiler, self._cache
            self._as_part, self._compiler, self._cache = True, self._part, inside.NullCache()
            try:
                yield
            finally:
                self._as_part, self._compiler, self._cache = before

    def compile(self, sig: Any) -> Any:
        """The function for a signature; for a call from Python as a finished unit."""
        with inside.global_compiler_lock:
            if not self._as_part:
                args = tuple(inside.sigutils.normalize_signature(sig)[0])
                known = self.overloads.get(args)
                if known is not None and isinstance(known.entry_point, _Part):
                    del self.overloads[args]
            with Uncharged():
                return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        if self._as_part:
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            super().add_overload(cres)


def kernel(function: Any = None, *, nogil: bool = False, allocates: bool = True) -> Any:
    """Compile a function at its first call, or read it from the user's files of compiled code."""

    def decorate(function: Any) -> Any:
        return Kernel(function, {"nogil": nogil, **({} if allocates else {"_nrt": False})})

    return decorate if function is None else decorate(function)


class _CFunction(inside.CFunc):
    def _compile_uncached(self) -> Any:
        _check_numba_compiles()
        with kernel_compiled(_name(self.__wrapped__)):
            return super()._compile_uncached()


def c_function(signature: str, function: Callable[..., Any]) -> Any:
    """A function for compiled code that calls it by its address: `c_function(…).address`."""
    arguments = inside.sigutils.normalize_signature(signature)
    made: Any = _CFunction(function, arguments, {}, {}, pipeline_class=_Compiler)
    made._cache = Store(function, ("c",))
    with Uncharged():
        made.compile()
    return made
