"""Greedy trees for BudgetRF: impurities, compiled growing, and the grown tree.

See Nan, Wang, Saligrama (2015).
"""
