"""Count the ones of a word, in compiled code. Loads numba."""

# mypy: disable-error-code="untyped-decorator"

from typing import Any

from milp_trees.common.compiling.inside import intrinsic, types


@intrinsic
def ones(typingctx: Any, word: Any) -> Any:
    """Number of ones in a 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen
