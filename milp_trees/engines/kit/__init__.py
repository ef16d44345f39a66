"""What several engines share: the base of a run, sets of rows, and first calls that compile."""
