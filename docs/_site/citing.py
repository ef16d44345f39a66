"""The page that says how to cite, from CITATION.cff."""

from __future__ import annotations

import yaml

from _site.files import ROOT, Pages


def write(pages: Pages) -> None:
    """Write the page."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    pages.add("project/citing.md", page(text))


def page(text: str) -> str:
    """The page that follows from the text of a citation file."""
    cff = yaml.safe_load(text)
    authors = " and ".join(_author(a) for a in cff["authors"])
    released = str(cff.get("date-released", ""))
    fields = {
        "title": f"{{{cff['title']}}}: {' '.join(cff['abstract'].split()).rstrip('.')}",
        "author": authors,
        "version": cff["version"],
        "year": released[:4],
        "doi": cff.get("doi", ""),
        "url": cff.get("repository-code", cff.get("url", "")),
        "license": cff["license"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    bibtex = "\n".join(["@software{milp_trees,", *lines, "}"])
    papers = (
        "Cite the papers of the formulations and engines that you use, too: their pages name them "
        "([formulations](../../reference/formulations.md), [methods](../../reference/methods.md))."
    )
    return (
        f"# How to cite\n\n{cff['message']}\n\n```bibtex\n{bibtex}\n```\n\n{papers}\n\n"
        f"The same as a file that reference managers read:\n\n```yaml\n{text}```\n"
    )


def _author(author: dict[str, str]) -> str:
    """A person by family and given names, an entity by its name in braces."""
    if "family-names" in author:
        return f"{author['family-names']}, {author.get('given-names', '')}".rstrip(", ")
    return f"{{{author['name']}}}"
