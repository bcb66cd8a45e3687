"""Algorithms 2 and 5 on a sample, wherever its rows are: the game of ``game.py``, played by the rows' players."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ocoboost.batch import game, rows
from ocoboost.batch.learners import WeakLearner
from ocoboost.batch.rows import Hypothesis, Rules
from ocoboost.batch.sample import Sample
from ocoboost.cascade.regimes import REALIZABLE, Regime
from ocoboost.oco.players import PLAYERS


@dataclass(frozen=True)
class Booster:
    """The settings of a batch booster; it holds no learned state."""

    regime: Regime
    n_classes: int
    n_stages: int
    start: str  # "uniform" or "label"
    n_drawn: int | None  # m0; None: every row is taught
    player: str
    seed: int
    patience: int | None = None  # stages without a better held-out accuracy after which to stop
    tolerance: float = 0.0

    def boost(
        self, sample: Sample, learner: WeakLearner, gamma: float, progress: Callable[[], None] = lambda: None
    ) -> list[Hypothesis]:
        """Play the game; returns the hypotheses, fewer than ``n_stages`` only if it stopped early."""
        side = BoosterSide(self, sample, learner, self._rules(sample, gamma))
        hypotheses: list[Hypothesis] = []
        best, best_stage = -np.inf, 0
        for hypothesis in game.play(side, BoosterSide.fit_next, self.n_stages):
            hypotheses.append(hypothesis)
            progress()
            if self.patience is not None:
                accuracy = held_out_accuracy(sample)
                if accuracy > best + self.tolerance:
                    best, best_stage = accuracy, len(hypotheses)
                elif len(hypotheses) - best_stage >= self.patience:
                    break
        return hypotheses

    def _rules(self, sample: Sample, gamma: float) -> Rules:
        n_taught, units = sum(sample.from_rows(rows.taught_rows))
        # Algorithm 5 starts at 1/m, not in the middle: it draws rows in proportion to p, whatever its scale.
        centre = np.array([1.0 / n_taught]) if self.regime.code == REALIZABLE else None  # Alg. 5.2: the first play
        playing = self.regime.playing(
            PLAYERS[self.player],
            gamma=gamma,
            n_classes=self.n_classes,
            n_learners=self.n_stages,
            start=self.start,
            centre=centre,
            seed=self.seed,
        )
        return Rules(playing, self.n_classes, rows.fixed_point_scale(int(units)))


class BoosterSide:
    """Player A of a booster's game, with the weak learner as the oracle that answers it."""

    def __init__(self, booster: Booster, sample: Sample, learner: WeakLearner, rules: Rules) -> None:
        self.n_drawn = booster.n_drawn
        self.sample = sample
        self.learner = learner
        self.rules = rules
        self._last: Hypothesis | None = None
        sample.begin(rows.begin, rules)

    def fit_next(self, stage: int) -> Hypothesis:
        """Fit a hypothesis to what the plays teach; if all weights are zero, the last one is as good as any."""
        if self._teach(stage) or self._last is None:
            self._last = self.learner.fit(self.sample, stage)  # Alg. 2.5, Alg. 5.5: let h_t be what W_t returns
        return self._last

    def move(self, hypothesis: Hypothesis, stage: int, /) -> None:
        self.sample.advance(rows.move, self.rules, hypothesis, stage)

    def _teach(self, stage: int) -> bool:
        """Prepare the stage's lesson; False if there is nothing to teach."""
        if self.n_drawn is None:
            self.sample.teach(rows.teach_all, self.rules)
            if not self.rules.is_realizable and not self.rules.is_pairwise:
                return True
            return any(self.sample.from_lessons(rows.lesson_mass))
        masses = self.sample.from_players(rows.drawing_mass, self.rules)
        total = int(sum(mass for _, mass in masses))
        if total > 0:
            # Alg. 2.3, Alg. 5.3: pass m0 examples
            self.sample.teach(rows.teach_drawn, self.rules, stage, self.n_drawn, _cumulated(masses), total)
        return total > 0


def check_split(sample: Sample, fraction: float) -> None:
    """Raise if all rows are held out, or none."""
    n_taught, _ = sum(sample.from_rows(rows.taught_rows))
    n_held_out = sum(sample.from_rows(rows.held_out_rows))
    if n_taught == 0 or n_held_out == 0:
        found = f"{n_held_out} rows are held out and {n_taught} taught"
        raise ValueError(f"With validation_fraction={fraction}, {found}; change it, or give more rows.")


def held_out_accuracy(sample: Sample) -> float:
    """The weighted share of held-out rows whose label has most votes."""
    units, hits = sum(sample.from_players(rows.held_out_hits))
    return float(hits) / float(units) if units > 0 else 0.0


def _cumulated(masses: list[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """By first row of a shard: the mass before it, and its own."""
    before, out = 0, {}
    for first_row, mass in masses:
        out[first_row] = before, mass
        before += mass
    return out
