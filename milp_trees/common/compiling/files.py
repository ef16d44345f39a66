"""Compiled functions as bytes for files, and back, in a form that is quick to load. Loads numba.

numba's own form also reads the function in LLVM's language, which only another function that is
compiled with it needs; that was half of the time of loading. Here it is read when it is needed. The
functions that count references, which numba compiles in every process, are kept in a file too.
"""

# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

import pickle
from typing import Any

from milp_trees.common.compiling import inside

#: Part of the names of files: those of another form are not read.
FORM = 4


class _Loaded(inside.JITCodeLibrary):
    """Code that was compiled before."""

    def __init__(self, codegen: Any, name: str, code: bytes, symbols: set[str], llvm: bytes):
        super().__init__(codegen, name)
        self.enable_object_caching()
        self._set_compiled_object(code)
        self._llvm = llvm
        self._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        self._shared_module: Any = None

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = inside.binding.parse_bitcode(self._llvm)
        return self._shared_module


def _state(library: Any) -> tuple[str, bytes, set[str], bytes]:
    """What `_Loaded` is made from."""
    name, _, (code, llvm) = library.serialize_using_object_code()
    module = library._get_module_for_linking()
    symbols = {
        symbol.name
        for kind in (module.functions, module.global_variables)
        for symbol in kind
        if not symbol.is_declaration
    }
    return name, code, symbols, llvm


def packed(compiled: Any) -> bytes:
    """A compiled function as bytes."""
    _, *parts = compiled._reduce()
    content: bytes = inside.dumps((_state(compiled.library), *parts))
    return content


def unpacked(context: Any, content: bytes) -> Any:
    """The compiled function, ready to be called."""
    state, fndesc, env, signature, _, lifted, annotation, reload_init, envs = pickle.loads(content)
    for function in reload_init:
        function()
    library = _Loaded(context.codegen(), *state)
    found = inside.compile_result(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=context.get_executable(library, fndesc, env),
        type_annotation=annotation,
        signature=signature,
        objectmode=False,
        lifted=lifted,
        fndesc=fndesc,
        library=library,
        environment=env,
        reload_init=reload_init,
        referenced_envs=envs,
    )
    for one in envs:
        library.codegen.set_env(one.env_name, one)
    return found


def provide_references(context: Any, content: bytes | None) -> bytes | None:
    """Provide the functions that count references, which compiled code needs, once per process."""
    runtime, made = inside.rtsys, None
    with inside.global_compiler_lock:
        if runtime._init:  # by another thread, meanwhile
            return None
        for name, address in inside.c_helpers.items():
            inside.binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
        if content is None:
            module, library = inside.create_nrt_module(context)
            library.enable_object_caching()
            library.add_ir_module(module)
            library.finalize()
            made = inside.dumps(_state(library))
        else:
            library = _Loaded(context.codegen(), *pickle.loads(content))
        runtime._library, runtime._init = library, True
    return made
