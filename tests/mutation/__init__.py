"""Mutation testing of the conformance suite: faults planted in the source of formulations and
tasks, and who catches them.

    python -m tests.mutation --help

`operators` says which faults there are, `mutants` finds them in a file and plants them in the
running process, `suite` says what must catch them, and `runner` plants each in a forked child. No
framework was taken: mutmut and cosmic-ray run a whole test command per mutant, which costs seconds
of imports and oracles each, and have no faults that act only from some level, action, row or column
on.
"""
