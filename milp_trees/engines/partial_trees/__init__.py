"""Parts of the engine `partial-trees`: compiled `kernels`, `parts` of rows, the `search`."""
