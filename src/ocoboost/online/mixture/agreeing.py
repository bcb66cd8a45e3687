"""Probabilities whose mode is the label that most votes are for: changed as little as possible where it is not."""

from __future__ import annotations

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel


@kernel(error_model="numpy")
def agree(probabilities: FloatArray, label: int) -> None:
    """Raise a label strictly above the rest at the least cost: those above it are brought level with it."""
    is_mode = True
    for j in range(probabilities.size):
        if j != label and probabilities[j] >= probabilities[label]:
            is_mode = False
    if is_mode:
        return
    level = probabilities[label]
    while True:  # up to the mean of the label and of all that lie above the level; it only rises, so this ends
        total, n_above = probabilities[label], 1
        for j in range(probabilities.size):
            if j != label and probabilities[j] > level:
                total += probabilities[j]
                n_above += 1
        if total / n_above <= level:
            break
        level = total / n_above
    most = level - 1e-9 * level  # far below what anybody measures, and far above rounding
    for j in range(probabilities.size):
        if j != label and probabilities[j] > most:
            probabilities[label] += probabilities[j] - most
            probabilities[j] = most
