"""Asks every other site that the built pages link to: `make links`. It needs the network."""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _site.check import external

#: Answers of sites that are there, but do not talk to programs.
REFUSALS = {401, 403, 405, 406, 418, 429, 999}


def answer(link: str) -> str:
    """What is wrong with a link; empty if its site answers."""
    request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0"})
    try:
        with urllib.request.urlopen(request, timeout=20):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in REFUSALS else f"answers {error.code}"
    except (OSError, ValueError) as error:
        return f"does not answer: {error}"


if __name__ == "__main__":
    links = external(Path(sys.argv[1]))
    with ThreadPoolExecutor(8) as several:
        wrong = [
            (link, said)
            for link, said in zip(links, several.map(answer, links), strict=True)
            if said
        ]
    for link, said in wrong:
        print(f"{link} {said} (on {', '.join(links[link][:3])})")
    print(f"{len(links)} links to other sites, {len(wrong)} of them broken.")
    sys.exit(bool(wrong))
