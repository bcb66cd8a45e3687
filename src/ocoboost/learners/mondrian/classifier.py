"""N Mondrian trees as a learner for the boosters, and as a classifier on its own: an AMF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ocoboost.data.parameters import AnyOf, Between, Count, OneOf, Range, check_parameters
from ocoboost.learners.mondrian import layout
from ocoboost.learners.mondrian.ensemble import MondrianEnsemble
from ocoboost.learners.trees import DEFAULT_SIZE, MAX_SIZE, NativeTrees

UNLIMITED = 2**31


class MondrianTrees(NativeTrees):
    """Compiled online Mondrian trees, aggregated as in AMF (Mourtada, Gaïffas & Scornet, 2021).

    Give it to a booster as `learner`, or use it on its own. `docs/mondrian.md` says how it differs from River's
    `AMFClassifier`.

    Parameters
    ----------
    n_learners
        The number of trees when used on its own; a booster has its own `n_learners`.
    aggregate
        Whether a tree votes with the mean over all its prunings, weighted by how well they predicted, or with its
        leaves alone.
    step
        How fast the weights of the prunings move.
    dirichlet
        What is added to the weight of every class at the root before its share is taken.
    smoothing
        The weight with which a node leans on what its parent predicts. More is better under noisy labels. At 0 every
        node adds `dirichlet` instead, as River does.
    split_pure
        Whether nodes that know a single class are cut too.
    scale
        "range" measures distances in units of each column's range so far, so that the unit of a column does not
        matter; "none" takes the numbers as they are, as River does.
    max_nodes
        The most nodes that a tree may have; None for no limit. A tree that has reached it is cut no more, and continues
        to learn in the nodes it has.
    max_size
        Memory for all that the model holds, in MiB; None for no limit. It sets a `max_nodes` that falls as columns and
        labels appear; trees that have more are cut back, their deepest nodes first.
    nominal_attributes
        Columns of numbers that are to be read as categories; text always is.
    n_jobs
        Threads when used on its own; -1 for all cores. The results do not depend on it.
    seed
        Fixes the cuts, and `sample_one`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from ocoboost import MondrianTrees

    >>> model = MondrianTrees(seed=1)
    >>> accuracy = evaluate.progressive_val_score(datasets.ImageSegments().take(500), model, metrics.Accuracy())
    >>> accuracy.get() > 0.8
    True

    """

    ranges: ClassVar[Mapping[str, Range]] = {
        **NativeTrees.shared_ranges,
        "aggregate": OneOf(False, True),
        "step": Between(0.0, 1e100, closed="right"),
        "dirichlet": Between(0.0, 1e100, closed="right"),
        "smoothing": Between(0.0, 1e100),
        "split_pure": OneOf(False, True),
        "scale": OneOf("range", "none"),
        "max_nodes": AnyOf(OneOf(None), Count(1)),
        "max_size": MAX_SIZE,
    }
    appetite = 1.25

    def __init__(
        self,
        *,
        n_learners: int = 10,
        aggregate: bool = True,
        step: float = 1.0,
        dirichlet: float = 0.5,
        smoothing: float = 1.0,
        split_pure: bool = False,
        scale: str = "range",
        max_nodes: int | None = None,
        max_size: float | None = DEFAULT_SIZE,
        nominal_attributes: Sequence[Any] | None = None,
        n_jobs: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self.n_learners = n_learners
        self.aggregate = aggregate
        self.step = step
        self.dirichlet = dirichlet
        self.smoothing = smoothing
        self.split_pure = split_pure
        self.scale = scale
        self.max_nodes = max_nodes
        self.max_size = max_size
        self.nominal_attributes = nominal_attributes
        self.n_jobs = n_jobs
        self.seed = seed

    def make_ensemble(self, n_learners: int, seed: int) -> MondrianEnsemble:
        """Fresh trees for a booster."""
        check_parameters(self, self.ranges)
        self._check_number(n_learners)
        rules = layout.Rules(
            step=float(self.step),
            aggregate=bool(self.aggregate),
            dirichlet=float(self.dirichlet),
            smoothing=float(self.smoothing),
            split_pure=bool(self.split_pure),
            is_scaled=self.scale == "range",
            max_nodes=UNLIMITED if self.max_nodes is None else int(self.max_nodes),
            seed=np.uint64(seed),
        )
        return MondrianEnsemble(
            rules, n_learners, nominal=frozenset(self.nominal_attributes or ()), max_bytes=self._max_bytes
        )

    @property
    def _multiclass(self) -> bool:
        return True
