"""Parts of the engine `tangents`, whose module `method` says what it computes and why.

`rows` are parts of the data with counts, `sums` the largest sums of a tangent over all trees,
`areas` and `errors` the two kinds of objectives with their tangents, `partial` the partial trees,
and `search` is the branch and bound.
"""
