"""The tournament on given mistakes, by its kernels and by a slow twin."""

from __future__ import annotations

import math

import numpy as np

from ocoboost.online.mixture.tournament import N_COPIES, ORDER_PRIOR, WHOLE_PRIOR, count_mistakes, weigh_voters


def play(mistakes, awake=None, prior=None, row_weights=None):
    """The voters' weights on every row; ``mistakes`` has shape (rows, voters), or is a function of the weights."""
    n_rows, n_voters = awake.shape if awake is not None else mistakes.shape
    awake = np.ones((n_rows, n_voters), dtype=np.int64) if awake is None else awake
    prior = np.full(n_voters, 1.0 / n_voters) if prior is None else np.asarray(prior)
    regret, travelled = np.zeros((N_COPIES, n_voters)), np.zeros((N_COPIES, n_voters))
    weights, made = np.empty((n_rows, n_voters)), np.empty((n_rows, n_voters))
    for row in range(n_rows):
        weigh_voters(row, prior, awake[row], regret, travelled, weights[row])
        made[row] = mistakes(weights[row]) if callable(mistakes) else mistakes[row]
        loss = float(weights[row] @ made[row])
        row_weight = 1.0 if row_weights is None else row_weights[row]
        votes = made[row].astype(np.int64)  # label 0 is right
        count_mistakes(row, votes, awake[row], 0, loss, row_weight, regret, travelled)
    return weights, made


def naive_play(mistakes, awake, prior, row_weights):
    """The weights from the definition: every copy is kept with the row at which it ends."""
    n_rows, n_voters = mistakes.shape
    copies = [[voter, WHOLE_PRIOR * prior[voter], math.inf, 0.0, 0.0] for voter in range(n_voters)]
    every = []
    for row in range(n_rows):
        for order in range(5, 60):
            if row % 2**order == 0 and (row // 2**order) % 2 == 1:
                end = row + 2 ** (order + 1)
                copies = [copy for copy in copies if copy[2] > row]
                copies += [[voter, ORDER_PRIOR * prior[voter], end, 0.0, 0.0] for voter in range(n_voters)]
        weights = [0.0] * n_voters
        for voter, own, _, regret, travelled in copies:
            scale = 3.0 * (travelled + 1.0)
            grown = math.exp(max(regret + 1.0, 0.0) ** 2 / scale) - math.exp(max(regret - 1.0, 0.0) ** 2 / scale)
            weights[voter] += own * grown / 2.0 if awake[row, voter] else 0.0
        if sum(weights) == 0.0:
            weights = [own if there else 0.0 for own, there in zip(prior, awake[row], strict=True)]
        weights = [weight / sum(weights) for weight in weights]
        loss = sum(weight * lost for weight, lost in zip(weights, mistakes[row], strict=True))
        for copy in copies:
            if awake[row, copy[0]]:
                gained = row_weights[row] * (loss - mistakes[row, copy[0]])
                copy[3] += gained
                copy[4] += abs(gained)
        every.append(weights)
    return np.array(every)
