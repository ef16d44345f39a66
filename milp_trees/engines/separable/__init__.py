"""Parts of the engine `separable`: compiled parts of a task, and the search over its states."""
