"""Weighted products of the members' answers, whose weights follow the gradient of the log loss.

A pool answers softmax(sum of w_m log p_m) over the members that are awake. Its log loss is convex in w, so online
gradient descent with step s has regret |w* - w|^2 / (2 s) + s / 2 * (sum of squared gradients) against every w*. Unlike
a mixture, a product may be better than the best of its members: it can sharpen them, weigh evidence that they share,
and count a member against a label. Pools differ in their step.
"""

from __future__ import annotations

import math

import numpy as np

from ocoboost.arrays import FloatArray, IntArray
from ocoboost.compiling import kernel

STEPS = (0.001, 0.004, 0.016)
FLOOR = 0.05  # of every answer is spread over all labels, before its logarithm is taken

_STEPS: FloatArray = np.array(STEPS)


@kernel(error_model="numpy")
def take_logs(answers: FloatArray, awake: IntArray, out: FloatArray) -> None:
    """The logarithms of the members' answers, of shape (members, classes), less their mean over the labels."""
    n_classes = answers.shape[1]
    for member in range(answers.shape[0]):
        if not awake[member]:
            continue
        mean = 0.0
        for j in range(n_classes):
            out[member, j] = math.log((1.0 - FLOOR) * answers[member, j] + FLOOR / n_classes)
            mean += out[member, j]
        mean /= n_classes
        for j in range(n_classes):
            out[member, j] -= mean


@kernel(error_model="numpy")
def multiply(logs: FloatArray, awake: IntArray, weights: FloatArray, out: FloatArray) -> None:
    """The answers of all pools, of shape (pools, classes), in ``out``."""
    for pool in range(weights.shape[0]):
        answer = out[pool]
        for j in range(answer.size):
            answer[j] = 0.0
        for member in range(logs.shape[0]):
            if awake[member]:
                for j in range(answer.size):
                    answer[j] += weights[pool, member] * logs[member, j]
        normalise(answer, 1.0)


@kernel(error_model="numpy")
def normalise(logs: FloatArray, inverse_temperature: float) -> None:
    """From logarithms to the distribution that they are those of, in place."""
    highest = logs[0]
    for j in range(1, logs.size):
        highest = max(highest, logs[j])
    total = 0.0
    for j in range(logs.size):
        logs[j] = math.exp(inverse_temperature * (logs[j] - highest))
        total += logs[j]
    for j in range(logs.size):
        logs[j] /= total


@kernel(error_model="numpy")
def descend(
    logs: FloatArray, awake: IntArray, answers: FloatArray, label: int, row_weight: float, weights: FloatArray
) -> None:
    """Move the weights of every pool one step against the gradient of its log loss on a row."""
    for pool in range(weights.shape[0]):
        for member in range(logs.shape[0]):
            if awake[member]:
                slope = -logs[member, label]
                for j in range(logs.shape[1]):
                    slope += answers[pool, j] * logs[member, j]
                weights[pool, member] -= _STEPS[pool] * row_weight * slope
