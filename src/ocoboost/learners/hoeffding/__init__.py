"""Compiled Hoeffding trees: classifier, ensemble, kernels, state."""
