"""Streams of losses of several experts: random, switching and adversarial ones."""

from __future__ import annotations

import numpy as np

KINDS = ["random", "one is better", "one is always right", "switching", "alternating"]


def stream_of_losses(kind, n_rows, n_experts, seed=0):
    """Losses in [0, 1], of shape (rows, experts)."""
    draw = np.random.default_rng(seed)
    if kind == "random":
        return draw.random((n_rows, n_experts))
    if kind == "one is better":
        return draw.random((n_rows, n_experts)) * np.linspace(0.5, 1.0, n_experts)
    if kind == "one is always right":
        losses = np.ones((n_rows, n_experts))
        losses[:, -1] = 0.0
        return losses
    if kind == "switching":
        losses = np.ones((n_rows, n_experts))
        losses[np.arange(n_rows), np.arange(n_rows) * 4 // n_rows % n_experts] = 0.0
        return losses
    losses = np.zeros((n_rows, n_experts))  # "alternating": the leader is always wrong next
    losses[np.arange(n_rows), np.arange(n_rows) % n_experts] = 1.0
    return losses
