# Short names; the commands themselves are in README.md.
SHELL := /bin/bash
.PHONY: demo test fast quick lint notebook docs gallery site links ci

demo:
	@source <(grep '^python3 -m venv .*milp-trees demo' README.md)

test:
	@source <(grep '^python3 -m venv .*pytest' README.md)

fast:
	.venv/bin/python -m pytest -n 2

# The reference methods, every task, golden values, models, results and planning: half a
# minute of processor time once kernels are compiled.
QUICK = tests/golden tests/conformance/test_methods.py \
	$(addprefix tests/unit/,measures mip models planning results tasks)

quick:
	.venv/bin/python -m pytest -q $(QUICK)

lint:
	.venv/bin/ruff check && .venv/bin/mypy

notebook:
	.venv/bin/python notebooks/build.py

docs:
	.venv/bin/python docs/build_tables.py

# The stored pictures of docs/gallery, drawn anew by the files beside them.
gallery:
	.venv/bin/python docs/_site/gallery.py

# The documentation site, from docs/ and the classes; open build/site/index.html.
site:
	.venv/bin/sphinx-build -q -W --keep-going -n -d build/doctrees docs build/site
	.venv/bin/python docs/_site/check.py build/site

# Links to other sites, asked one by one over the network.
links: site
	.venv/bin/python docs/_site/external.py build/site

ci:
	.ci/run
