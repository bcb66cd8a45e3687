"""Compiled Mondrian trees: classifier, ensemble, kernels, state."""
