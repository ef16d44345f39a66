"""Growing trees greedily for decisions: coded columns, criteria, compiled scans, weakest-link
pruning (Elmachtoub, Liang, McNellis 2020).
"""
