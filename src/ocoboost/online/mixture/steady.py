"""Exponential weights that settle on members and on products of them alike: the voter that is trusted most at first.

Among its experts are those of ``slow``, the modes of the nearest rows, and the pools and the probabilities, as they are
and sharpened. With many wrong labels it takes long to tell which voter is right, and a mean of good ones is better than
a hasty choice; where the stream changes, this settles on pools, which follow it. So its rate is half of that of
``slow``, and epochs and shares are the same.
"""

from __future__ import annotations

import math

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel
from ocoboost.oco.projections import project_row
from ocoboost.online.mixture.slow import SHARP_GAMMA, epoch_length, fixed_share, learning_rate

RATE = 0.5  # times that of the slow mixture; chosen on the tables and streams that docs/mixture.md names


@kernel(error_model="numpy")
def _sharpen(answer: FloatArray, out: FloatArray) -> None:
    """Nearly the mode of an answer."""
    for j in range(out.size):
        out[j] = answer[j] / SHARP_GAMMA
    project_row(out, out)


@kernel(error_model="numpy")
def lay_out(
    slow: FloatArray, windows: FloatArray, windows_awake: IntArray, blends: FloatArray, out: FloatArray, awake: IntArray
) -> None:
    """All experts, of shape (experts, classes), and who is awake: those of ``slow``, neighbours, blends twice."""
    place = 0
    for expert in range(slow.shape[0]):
        for j in range(out.shape[1]):
            out[place, j] = slow[expert, j]
        place += 1
    for window in range(windows.shape[0]):
        awake[place] = windows_awake[window]
        if windows_awake[window]:
            _sharpen(windows[window], out[place])
        place += 1
    for number in range(blends.shape[0]):
        for j in range(out.shape[1]):
            out[place, j] = blends[number, j]
        _sharpen(blends[number], out[place + 1])
        place += 2


@kernel(error_model="numpy")
def settle(experts: FloatArray, awake: IntArray, label: int, row_weight: float, row: int, weights: FloatArray) -> None:
    """Move the weights by the experts' losses on a row; those asleep keep theirs. ``row_weight`` is at most 1."""
    n_experts, length = weights.size, epoch_length(row)
    rate, share = RATE * row_weight * learning_rate(length, n_experts), fixed_share(length)
    before, after = 0.0, 0.0
    for expert in range(n_experts):
        if awake[expert]:
            before += weights[expert]
            weights[expert] *= math.exp(-rate * (1.0 - experts[expert, label]))
            after += weights[expert]
    for expert in range(n_experts):
        if awake[expert]:
            weights[expert] *= before / after
        weights[expert] = (1.0 - share) * weights[expert] + share / n_experts
