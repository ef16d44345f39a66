# Short names; the commands themselves are in README.md.
SHELL := /bin/bash
.PHONY: demo test fast lint notebook docs site links ci

demo:
	@source <(grep '^python3 -m venv .*milp-trees demo' README.md)

test:
	@source <(grep '^python3 -m venv .*pytest' README.md)

fast:
	.venv/bin/python -m pytest -n 2

lint:
	.venv/bin/ruff check && .venv/bin/mypy

notebook:
	.venv/bin/python notebooks/build.py

docs:
	.venv/bin/python docs/build_tables.py

# The documentation site, from docs/ and the classes; open build/site/index.html.
site:
	.venv/bin/sphinx-build -q -W --keep-going -n docs build/site
	.venv/bin/python docs/_site/check.py build/site

# Links to other sites, asked one by one over the network.
links: site
	.venv/bin/python docs/_site/external.py build/site

ci:
	.ci/run
