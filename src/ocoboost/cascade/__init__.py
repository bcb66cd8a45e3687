"""The one loop behind every booster: rows pass through the learners, cell by cell.

contract.py      what the loop asks of an ensemble of weak learners
native.py        compiled ensembles, and the dispatch of their kernels by the type of forest
cells.py         what a booster does in a cell (row, learner): the protocol, and its dispatch inside kernels
cascade.py       the driver: a block of rows through all learners, by parts or fused
kernel.py        the same grid of cells in one compiled loop          pipeline.py   the same over threads
answers.py       what a booster predicts for a row: D, the vote shares behind it, and the label
regimes.py       agnostic or realizable: starts, lessons and moves of the players
relabelling.py   the cells of Algorithms 1, 2, 4 and 5: a player per row decides what a learner is taught
weighting.py     what the two boosters of Jung et al. share: the true label, taught with a weight
mbbm.py          the cells of OnlineMBBM            olm.py         those of Adaboost.OLM
potentials.py    OnlineMBBM's potentials, by several methods, with the tables of potential_tables.py
"""
