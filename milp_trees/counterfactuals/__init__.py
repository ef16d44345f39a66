"""Counterfactuals: the nearest row that a model predicts otherwise, with a proof.

References
----------
S. Wachter, B. Mittelstadt, C. Russell, "Counterfactual explanations without opening the black box",
Harvard Journal of Law & Technology 31, 2018 (arXiv:1711.00399). B. Ustun, A. Spangher, Y. Liu,
"Actionable recourse in linear classification", FAT* 2019 (arXiv:1809.06514). A. Parmentier, T. Vidal,
"Optimal counterfactual explanations in tree ensembles", ICML 2021 (arXiv:2106.06631).
"""
