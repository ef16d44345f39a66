# Short names; the commands themselves are in README.md.
SHELL := /bin/bash
.PHONY: demo test fast lint notebook docs ci

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
	.venv/bin/python docs/build_formulations.py
	.venv/bin/python docs/build_tables.py

ci:
	.ci/run
