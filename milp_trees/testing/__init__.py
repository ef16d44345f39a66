"""Conformance checks for plug-ins, and generators of random problems."""
