"""A study whose names try to become markup, and readers of pages, for the tests of pages."""

import base64
import gzip
import html.parser
import json
import re

import numpy as np

import milp_trees as mt

EVIL = "</script><script>window.ran=1</script><img src=x onerror='window.ran=2'>{{title}}"


def evil_study(path):
    """Trees and rule lists; every text that a user or a data file chooses holds `EVIL`."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3))
    y = np.where(X[:, 0] & X[:, 1], EVIL, "no")
    data = mt.Dataset(X, [mt.BinaryFeature(f"{EVIL}{k}", "is", 1) for k in range(3)], y=y)
    for space, methods in ((mt.Trees(2), ["dp", "cart"]), (mt.RuleLists(max_length=2), ["corels"])):
        study = mt.compare(mt.Problem(data, mt.Accuracy(), space), methods, store=path)
        study.store.close()


class Elements(html.parser.HTMLParser):
    """All elements of a page with their attributes, and the text of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.scripts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_data(self, text):
        if self.found and self.found[-1][0] == "script":
            self.scripts.append((self.found[-1][1], text))


def block(page, name):
    """What a page holds under a name, unpacked."""
    coded = re.search(rf'<script type="text/plain" id="{name}"[^>]*>([^<]*)</script>', page)[1]
    return gzip.decompress(base64.b64decode(coded)).decode()


def held(page):
    """The data that a page reads at once, and those of the details."""
    return json.loads(block(page, "study")), json.loads(block(page, "details"))


def rows_of(packed):
    """Rows from columns, as the page's script makes them."""
    rows = [{} for _ in range(packed["count"])]
    for name, column in packed["columns"].items():
        for k, row in enumerate(rows):
            if "all" in column:
                row[name] = column["all"]
            elif "of" in column:
                at = column["at"][k]
                row[name] = None if at < 0 else column["of"][at]
            else:
                row[name] = column["each"][k]
    return rows
