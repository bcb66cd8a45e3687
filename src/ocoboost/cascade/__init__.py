"""The one loop behind every booster: rows pass through the learners, cell by cell.

contract.py      what the loop asks of an ensemble of weak learners
native.py        compiled ensembles: one name for each kernel, whatever the trees
cells.py         what a booster does in a cell (row, learner): the protocol, and its dispatch inside kernels
cascade.py       the driver: a block of rows through all learners, by parts or fused
kernel.py        the same grid of cells in one compiled loop          pipeline.py   and spread over threads
answers.py       what a booster says to a row: D, vote shares, and the label that follows
relabelling.py   the cells of Algorithms 1, 2, 4 and 5: a player per row decides what a learner is taught
weighting.py     what the two boosters of Jung et al. share: the true label, taught with a weight
mbbm.py          the cells of OnlineMBBM            olm.py         those of Adaboost.OLM
potentials.py    OnlineMBBM's potentials, by several methods
"""
