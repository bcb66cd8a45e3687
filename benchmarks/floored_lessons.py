"""Algorithm 1 as the published code's fractional path has it: every label is taught p + 1e-10.

For the paper p is what a label is taught, and most are 0 after a few moves. With 1e-10 a tree has seen every label from
its first row on, and its naive Bayes leaves weigh labels of which they know next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ocoboost import OnlineAgnosticBoostClassifier
from ocoboost.arrays import FloatArray
from ocoboost.cascade.cells import Kernels
from ocoboost.cascade.regimes import Playing
from ocoboost.cascade.relabelling import Games, Relabelling, pool, see, teach
from ocoboost.compiling import kernel

FLOOR = 1e-10


class FlooredPlaying(Playing):
    """The same choices, of a type of their own."""


@kernel(error_model="numpy", inline="always")
def teach_floored(
    playing: FlooredPlaying, games: Games, scratch: Any, row: int, number: int, learner: int, out: FloatArray
) -> None:
    teach(playing, games, scratch, row, number, learner, out)
    for label in range(out.size):
        out[label] += FLOOR


@dataclass
class FlooredRelabelling(Relabelling):
    """The cells of Algorithm 1 with that floor."""

    kernels = Kernels(FlooredPlaying, teach_floored, see, pool)

    def configure(self, n_classes: int) -> FlooredPlaying:
        return FlooredPlaying(*super().configure(n_classes))


class FlooredAgnosticBoostClassifier(OnlineAgnosticBoostClassifier):
    """Algorithm 1 with that floor."""

    def make_cells(self, *, n_learners: int, seed: int, takes_weights: bool) -> FlooredRelabelling:
        cells = super().make_cells(n_learners=n_learners, seed=seed, takes_weights=takes_weights)
        return FlooredRelabelling(**{**cells.settings(), "regime": cells.regime})
