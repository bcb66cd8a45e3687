"""Learning rates of exponential weights, and what each guarantees against the best of exp(log_size) experts.

Additive guarantees count gains in [-1, 1], 1 for a right label and -1 for a wrong one, as the main text of the paper
does: twice the regret in mistakes. They hold for rows whose label weights total at most 1 and for votes in expectation,
whatever the labels are, and against adaptive adversaries too. They are the paper's R_W(T, k) for the plain gain with
advantage 1 (its Appendix C, first condition), and that is what Theorem 1 needs.

A constant rate guarantees a multiple of the best loss, ``competitive_ratio`` (Appendix D, where it is called an
advantage above 1). The appendix reads it as the condition in gain form. It is not: with two constant experts, rate 1
and the labels 0, 1, 0, 1, ... of 10,000 rows the best expert gains 0, and exponential weights gain -2,311. A multiple
of a loss of T / 2 is no bound on a gain. Only rates that shrink with the number of rows give sublinear regret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class LearningRate:
    """How fast weights move: by a constant, as is best for a known number of rows, or as is good at any time.

    >>> LearningRate(horizon=10_000).regret_bound(math.log(8), 10_000)  # sqrt(2 T ln|H|)
    203.9333980337618
    """

    constant: float | None = None
    horizon: int | None = None  # the number of rows to come, if it is known

    def at(self, log_size: float, energy: float) -> float:
        """The rate for the next row.

        ``energy`` sums, over the rows learned, the squared distance that the gains of labels span from 0: at most 1 for
        a row of weight 1, and less where labels are soft.
        """
        if self.constant is not None:
            return self.constant
        if self.horizon is not None:
            return math.sqrt(8.0 * log_size / self.horizon)
        return 2.0 * math.sqrt(log_size / (1.0 + energy))

    def regret_bound(self, log_size: float, n_rows: int) -> float:
        """How much more the best expert can gain in ``n_rows`` rows, gains in [-1, 1]."""
        if log_size == 0.0 or n_rows == 0:
            return 0.0
        if self.constant is None and self.horizon is None:
            # ln|H| / rate at the end, plus the sum over rows of rate / 8: sqrt(T ln|H|) / 2 each, in mistakes.
            return 2.0 * math.sqrt(n_rows * log_size)
        rate = self.at(log_size, 0.0)
        return 2.0 * (log_size / rate + rate * n_rows / 8.0)


def competitive_ratio(rate: float) -> float:
    """The multiple of the best expert's mistakes that a constant rate guarantees, up to ln|H| / (1 - exp(-rate)).

    Twice this for the paper's pairwise losses (1 for the rival label, 1/2 for the others). Neither is an advantage
    gamma in the sense of the main text: see the top of this module.

    >>> round(competitive_ratio(1.0), 2), round(2 * competitive_ratio(1.0), 2)
    (1.58, 3.16)
    """
    return rate / -math.expm1(-rate)


def competitive_bound(rate: float, log_size: float, best_loss: float) -> float:
    """The most that a constant rate lets exponential weights lose, in expectation, if the best expert loses this much.

    Losses lie in [0, 1].
    """
    return competitive_ratio(rate) * best_loss + log_size / -math.expm1(-rate)
