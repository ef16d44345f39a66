"""Trees grown greedily for BudgetRF (Nan, Wang, Saligrama 2015): impurities, compiled growing, and
the grown tree.
"""
