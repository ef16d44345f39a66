"""Relations that are known to fail, each with the reason; an entry that holds is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

#: (what is tried, subject, relation) → reason.
KNOWN: dict[tuple[str, str, str], str] = {}


def reference(what: str, subject: str, tried: Iterable[str], found: Mapping[str, str]) -> None:
    """Compare the relations that failed for a subject with those that are known to.

    Parameters
    ----------
    what : str
        What is tried: "asked", "fitted", ….
    subject : str
    tried : iterable of str
        Names of the relations.
    found : mapping of str to str
        Those of them that do not hold, each with what differs.
    """
    known = {r for w, s, r in KNOWN if (w, s) == (what, subject)} & set(tried)
    wrong = [f"{relation}: {why}" for relation, why in found.items() if relation not in known]
    assert not wrong, f"{subject}, {what}:\n" + "\n".join(wrong)
    held = known - set(found)
    assert not held, f"{subject}, {what}: these hold, take them from the list: {sorted(held)}"
