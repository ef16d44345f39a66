"""Parts of the engine `states`: compiled parts of a task, and the search over its states."""
