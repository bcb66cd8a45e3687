"""Exponential weights over a class of hypotheses: classifiers, ensembles, the classes, kernels, state."""
