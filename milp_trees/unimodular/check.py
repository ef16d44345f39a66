"""`total_unimodularity`: the checks, from fast to slow, until one of them decides."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import isnan
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Deadline, Stopped
from milp_trees.unimodular.answer import Unimodularity, no, unknown, yes
from milp_trees.unimodular.certificate import NetworkCertificate
from milp_trees.unimodular.cmr import cmr_is_installed, decide_by_cmr
from milp_trees.unimodular.composition import Composition, TwoSum, verify_composition
from milp_trees.unimodular.deletion import decide_by_deletion
from milp_trees.unimodular.determinants import MOST_LINES, decide_by_subdeterminants
from milp_trees.unimodular.network import check_network_certificate
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.recognise import Realisation, network_answer, realise_block
from milp_trees.unimodular.reduce import Reduction, reduce_matrix
from milp_trees.unimodular.refute import decide_by_chordless_cycles, decide_by_pivots
from milp_trees.unimodular.simple import decide_by_entries, easy_checks
from milp_trees.unimodular.two_sum import MOST_LINES as LINES_OF_TWO_SUMS
from milp_trees.unimodular.two_sum import find_split

#: Share of the remaining time for one search for a violating submatrix in a block.
_SHARE = 0.3

Block = tuple[list[int], list[int]]


def total_unimodularity(
    matrix: Any,
    tree: NetworkCertificate | Iterable[tuple[Hashable, Hashable, Hashable]] | None = None,
    *,
    time_limit: float | None = 60.0,
) -> Unimodularity:
    """Is a matrix totally unimodular: yes with a proof, no with a violating submatrix, or unknown.

    The checks in their order are: entries; the tree, if one is given; difference and
    consecutive-ones form; reductions and connected blocks; network matrices and their transposes,
    and the signs on their supports; all subdeterminants of blocks with at most 22 lines; searches
    for a violating submatrix; 2-sums; CMR, if it is installed. So every matrix up to 10 × 10 gets
    yes or no, and so does every matrix whose support is, block by block, that of a network matrix
    or of a transpose.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        For a model the matrix of its constraints; bounds do not matter.
    tree : iterable of (tail, head, label), or NetworkCertificate, optional
        A spanning tree that proves it, as for `check_network_certificate`. If it proves nothing,
        the reason says so and the other checks follow.
    time_limit : float or None
        Wall-clock seconds; None: no limit. When it is reached the answer is unknown.

    Returns
    -------
    Unimodularity

    Raises
    ------
    DataError
        The input is not a matrix, the tree is not a tree, or the time limit is negative.

    Examples
    --------
    >>> total_unimodularity([[1, 1, 0], [0, 1, 1], [1, 0, 1]]).submatrix.determinant
    2
    """
    if time_limit is not None and (isnan(time_limit) or time_limit < 0):
        raise DataError(f"time_limit is a number of seconds, 0 or more, or None; got {time_limit}.")
    named, deadline, refused = read_matrix(matrix), Deadline.after(time_limit), ""
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    if tree is not None:
        given = check_network_certificate(named, tree)
        if given.answer != "unknown":
            return given
        refused = f"The given tree proves nothing: {given.reason}"
    try:
        answer = _decide(named, deadline)
    except Stopped:
        answer = unknown(named, f"The time limit of {time_limit:g} seconds was reached; raise it.")
    return answer.because(refused) if refused else answer


def _decide(named: NamedMatrix, deadline: Deadline) -> Unimodularity:
    """The answer for any matrix of 0, 1 and -1."""
    return easy_checks(named) or _by_blocks(named, deadline)


def _by_blocks(named: NamedMatrix, deadline: Deadline) -> Unimodularity:
    """Reduce the matrix, and combine the answers for its blocks."""
    reduction = reduce_matrix(named.A, deadline)
    if reduction.conflict:
        return no(named, *reduction.conflict)
    blocks = reduction.components()
    trees: list[tuple[bool, Realisation] | None] = [None] * len(blocks)
    for transposed in (False, True):
        found = []
        for b, block in enumerate(blocks):
            tree = _realised(named, reduction, block, transposed, deadline)
            if isinstance(tree, Unimodularity):
                return tree
            if tree is not None:
                found.append(tree)
                trees[b] = trees[b] or (transposed, tree)
        if len(found) == len(blocks):
            return network_answer(named, reduction.steps, found, transposed)
    return _from_blocks(named, reduction, blocks, trees, deadline)


def _from_blocks(
    named: NamedMatrix,
    reduction: Reduction,
    blocks: list[Block],
    trees: list[tuple[bool, Realisation] | None],
    deadline: Deadline,
) -> Unimodularity:
    """Yes if all blocks are yes, no if one is no, otherwise unknown."""
    parts, open_question = [], None
    for block, tree in zip(blocks, trees, strict=True):
        part = named.part(*block)
        answer = (
            _network_part(part, tree[1], block, tree[0]) if tree else _block_answer(part, deadline)
        )
        if answer.answer == "no":
            return _in_whole(named, block, answer)
        if answer.answer == "unknown":
            open_question = open_question or answer
        parts.append((tuple(block[0]), tuple(block[1]), answer))
    if open_question is not None:
        m, n = open_question.shape
        return unknown(
            named,
            f"A block of {m} × {n}, after reductions, is neither a network matrix nor the transpose of one. {open_question.reason}",
        )
    proofs = " + ".join(dict.fromkeys(str(answer.proof) for _, _, answer in parts))
    certificate = Composition(tuple(reduction.steps), tuple(parts))
    if not any(_by_cmr(answer) for _, _, answer in parts):
        verify_composition(named, certificate)
    count = f"{len(parts)} block{'s' if len(parts) > 1 else ''}"
    return yes(
        named,
        proofs,
        f"After {len(reduction.steps)} reductions {count} remained, each totally unimodular.",
        certificate,
    )


def _by_cmr(answer: Unimodularity) -> bool:
    """Whether a part of the proof is a claim of CMR, which cannot be verified here."""
    inner = answer.certificate
    parts = (
        [a for _, _, a in inner.blocks]
        if isinstance(inner, Composition)
        else inner.answers
        if isinstance(inner, TwoSum)
        else ()
    )
    return answer.proof == "cmr" or any(map(_by_cmr, parts))


def _realised(
    named: NamedMatrix, reduction: Reduction, block: Block, transposed: bool, deadline: Deadline
) -> Realisation | Unimodularity | None:
    """The block's tree.

    None if its support has no tree; the answer "no" if it has one but the signs are wrong.
    """
    rows, columns = block
    tree = realise_block(
        reduction,
        columns if transposed else rows,
        rows if transposed else columns,
        transposed,
        deadline,
    )
    if tree == "signs":
        return _in_whole(
            named, block, decide_by_chordless_cycles(named.part(rows, columns), deadline=deadline)
        )
    return None if tree == "support" else tree


def _block_answer(part: NamedMatrix, deadline: Deadline) -> Unimodularity:
    """The answer for a connected block that is no network matrix and no transpose of one."""
    if sum(part.A.shape) <= MOST_LINES:
        return decide_by_subdeterminants(part, deadline=deadline)
    for look in (_few_pivots, _cycles, _as_two_sum, _by_deletion, _many_pivots):
        answer = look(part, deadline.share(_SHARE).left)
        if answer.answer != "unknown":
            return answer
    return decide_by_cmr(part, time_limit=deadline.left) if cmr_is_installed() else answer


def _few_pivots(part: NamedMatrix, time_limit: float | None) -> Unimodularity:
    return decide_by_pivots(part, time_limit=time_limit, rounds=20)


def _many_pivots(part: NamedMatrix, time_limit: float | None) -> Unimodularity:
    return decide_by_pivots(part, time_limit=time_limit)


def _by_deletion(part: NamedMatrix, time_limit: float | None) -> Unimodularity:
    return decide_by_deletion(part, time_limit=time_limit)


def _as_two_sum(part: NamedMatrix, time_limit: float | None) -> Unimodularity:
    """The answer from those for the two summands, if the matrix is a 2-sum."""
    deadline = Deadline.after(time_limit)
    if sum(part.A.shape) > LINES_OF_TWO_SUMS:
        return unknown(
            part,
            f"Matrices with more than {LINES_OF_TWO_SUMS} rows and columns together are not searched for 2-sums.",
        )
    try:
        split = find_split(part, deadline)
        if split is None:
            return unknown(part, "It is no 2-sum.")
        answers = []
        for rows, columns in split.parts(part.A.shape):
            answer = _decide(part.part(rows, columns), deadline)
            if answer.answer == "no":
                return _in_whole(part, (rows, columns), answer)
            answers.append(answer)
    except Stopped:
        return unknown(
            part, "It was not known within the time limit whether it is a 2-sum, and of what."
        )
    for answer in answers:
        if answer.answer == "unknown":
            return unknown(part, f"It is a 2-sum. {answer.reason}")
    return yes(
        part,
        "2-sum",
        "Both summands are totally unimodular.",
        TwoSum(split, (answers[0], answers[1]), part.A.shape),
    )


def _cycles(part: NamedMatrix, time_limit: float | None) -> Unimodularity:
    try:
        return decide_by_chordless_cycles(part, deadline=Deadline.after(time_limit))
    except Stopped:
        return unknown(
            part, "Not all chordless cycles that matter were seen within the time limit."
        )


def _network_part(
    part: NamedMatrix, tree: Realisation, block: Block, transposed: bool
) -> Unimodularity:
    """The tree of a block as the certificate of that submatrix."""
    row, column = ({k: i for i, k in enumerate(lines)} for lines in block)
    arc, path = (column, row) if transposed else (row, column)
    own = Realisation(
        {arc[k]: ends for k, ends in tree.arcs.items()},
        {path[k]: ends for k, ends in tree.paths.items()},
    )
    return network_answer(part, [], [own], transposed)


def _in_whole(named: NamedMatrix, block: Block, answer: Unimodularity) -> Unimodularity:
    """The "no" of a block as an answer for the whole matrix."""
    if answer.submatrix is None:
        return answer
    found = answer.submatrix
    return no(
        named,
        [block[0][i] for i in found.rows],
        [block[1][j] for j in found.columns],
        answer.proof or "submatrix",
    )
