"""Compiled moves of the players: one game per row, in place, nothing allocated.

A player is a code, a row of plays and a row of memory. ``begin`` prepares the memory from the start points in
``plays``; ``step`` shows every row its gradient and replaces its play by the next one. What each player keeps:

    player          memory of a row on the simplex      on the interval
    GRADIENT        nothing                             nothing
    LAZY            the unprojected point               the unprojected point
    EXPONENTIATED   log weights                         the two-label simplex's, and that simplex's play and gradient
    SCALE_FREE      sum of squared gradient norms       the same
    COIN            prior, net gains, log wealth        as for EXPONENTIATED

The entropic players treat p in [0, 1] as the point (p, 1 - p) of the two-label simplex, with gradient (g, 0).
"""

from __future__ import annotations

import numpy as np

from ocoboost.arrays import FloatArray
from ocoboost.compiling import kernel
from ocoboost.oco.projections import move_two_and_project, project_row

GRADIENT = 0
LAZY = 1
EXPONENTIATED = 2
SCALE_FREE = 3
COIN = 4


@kernel
def descend_row(play: FloatArray, gradient: FloatArray, step_size: float) -> None:
    """One projected gradient step on the simplex; label votes change at most two coordinates."""
    n_changed = 0
    first = 0
    second = 0
    for j in range(play.size):
        if gradient[j] != 0.0:
            n_changed += 1
            if n_changed == 1:
                first = j
            elif n_changed == 2:
                second = j
    if n_changed == 0:
        return
    if n_changed <= 2 and play.size > 1:
        if n_changed == 1:
            second = (first + 1) % play.size
        move_two_and_project(play, first, -step_size * gradient[first], second, -step_size * gradient[second])
    else:
        for j in range(play.size):
            play[j] -= step_size * gradient[j]
        project_row(play, play)


@kernel
def descend_on_interval(play: FloatArray, gradient: FloatArray, step_size: float) -> None:
    """One projected gradient step on [0, 1]."""
    play[0] = min(max(play[0] - step_size * gradient[0], 0.0), 1.0)


@kernel
def _exponentiate_row(play: FloatArray, log_weights: FloatArray, gradient: FloatArray, step_size: float) -> None:
    highest = -np.inf
    for j in range(play.size):
        log_weights[j] -= step_size * gradient[j]
        highest = max(highest, log_weights[j])
    total = 0.0
    for j in range(play.size):
        play[j] = np.exp(log_weights[j] - highest)
        total += play[j]
    for j in range(play.size):
        play[j] /= total


@kernel
def _bet_row(
    play: FloatArray, memory: FloatArray, gradient: FloatArray, gradient_range: float, n_steps: int, n_played: int
) -> None:
    """Expert advice by coin betting (Orabona & Pal, 2016, Algorithm 2, with Krichevsky-Trofimov bettors).

    Each label has a bettor that stakes the fraction net_gain / (round + n_steps / 2) of its wealth on beating the
    player's own loss; the next play is proportional to prior times positive stakes. Wealth is kept as a logarithm,
    because it grows exponentially in the number of steps.
    """
    k = play.size
    prior = memory[:k]
    net_gain = memory[k : 2 * k]
    log_wealth = memory[2 * k : 3 * k]
    own_loss = 0.0
    for j in range(k):
        own_loss += gradient[j] * play[j]
    if gradient_range <= 0.0:
        return
    patience = n_played + 1.0 + 0.5 * n_steps
    highest = -np.inf
    for j in range(k):
        gain = (own_loss - gradient[j]) / gradient_range
        if net_gain[j] <= 0.0:
            gain = max(gain, 0.0)
        log_wealth[j] += np.log1p(net_gain[j] / patience * gain)
        net_gain[j] += gain
        if net_gain[j] > 0.0:
            highest = max(highest, log_wealth[j])
    total = 0.0
    if highest > -np.inf:
        for j in range(k):
            stake = 0.0
            if net_gain[j] > 0.0:
                stake = prior[j] * net_gain[j] * np.exp(log_wealth[j] - highest)
            play[j] = stake
            total += stake
    if total > 0.0:
        for j in range(k):
            play[j] /= total
    else:
        for j in range(k):
            play[j] = prior[j]


@kernel
def _squared_norm_along_simplex(gradient: FloatArray) -> float:
    total = 0.0
    squares = 0.0
    for j in range(gradient.size):
        total += gradient[j]
        squares += gradient[j] * gradient[j]
    return max(squares - total * total / gradient.size, 0.0)


@kernel
def _begin_on_simplex(player: int, play: FloatArray, memory: FloatArray) -> None:
    k = play.size
    if player == LAZY:
        for j in range(k):
            memory[j] = play[j]
    elif player == EXPONENTIATED:
        for j in range(k):
            memory[j] = np.log(play[j]) if play[j] > 0.0 else -np.inf
    elif player == SCALE_FREE:
        memory[0] = 0.0
    elif player == COIN:
        for j in range(k):
            memory[j] = play[j]
        memory[k : 3 * k] = 0.0


@kernel
def _step_on_simplex(
    player: int,
    play: FloatArray,
    memory: FloatArray,
    gradient: FloatArray,
    step_size: float,
    gradient_range: float,
    n_steps: int,
    n_played: int,
) -> None:
    if player == GRADIENT:
        descend_row(play, gradient, step_size)
    elif player == LAZY:
        for j in range(play.size):
            memory[j] -= step_size * gradient[j]
        project_row(memory, play)
    elif player == EXPONENTIATED:
        _exponentiate_row(play, memory, gradient, step_size)
    elif player == SCALE_FREE:
        memory[0] += _squared_norm_along_simplex(gradient)
        if memory[0] > 0.0:
            descend_row(play, gradient, 1.0 / np.sqrt(memory[0]))  # diameter / sqrt(2) = 1
    elif player == COIN:
        _bet_row(play, memory, gradient, gradient_range, n_steps, n_played)


@kernel
def _begin_on_interval(player: int, play: FloatArray, memory: FloatArray) -> None:
    if player == LAZY:
        memory[0] = play[0]
    elif player == SCALE_FREE:
        memory[0] = 0.0
    elif player in (EXPONENTIATED, COIN):
        pair = memory[memory.size - 4 : memory.size - 2]
        pair[0] = play[0]
        pair[1] = 1.0 - play[0]
        memory[memory.size - 2 :] = 0.0
        _begin_on_simplex(player, pair, memory[: memory.size - 4])


@kernel
def _step_on_interval(
    player: int,
    play: FloatArray,
    memory: FloatArray,
    gradient: FloatArray,
    step_size: float,
    gradient_range: float,
    n_steps: int,
    n_played: int,
) -> None:
    if player == GRADIENT:
        descend_on_interval(play, gradient, step_size)
    elif player == LAZY:
        memory[0] -= step_size * gradient[0]
        play[0] = min(max(memory[0], 0.0), 1.0)
    elif player == SCALE_FREE:
        memory[0] += gradient[0] * gradient[0]
        if memory[0] > 0.0:
            step = 1.0 / np.sqrt(2.0 * memory[0])  # diameter / sqrt(2) = 1 / sqrt(2)
            play[0] = min(max(play[0] - step * gradient[0], 0.0), 1.0)
    else:
        pair = memory[memory.size - 4 : memory.size - 2]
        pair_gradient = memory[memory.size - 2 :]
        pair_gradient[0] = gradient[0]
        own_memory = memory[: memory.size - 4]
        _step_on_simplex(player, pair, own_memory, pair_gradient, step_size, gradient_range, n_steps, n_played)
        play[0] = pair[0]


@kernel
def begin(player: int, on_interval: bool, plays: FloatArray, memory: FloatArray) -> None:
    """Prepare ``memory`` for games that start at ``plays``."""
    for row in range(plays.shape[0]):
        if on_interval:
            _begin_on_interval(player, plays[row], memory[row])
        else:
            _begin_on_simplex(player, plays[row], memory[row])


@kernel
def step_row(
    player: int,
    on_interval: bool,
    play: FloatArray,
    memory: FloatArray,
    gradient: FloatArray,
    step_size: float,
    gradient_range: float,
    n_steps: int,
    n_played: int,
) -> None:
    """Make one move in a game; ``n_played`` is the number of moves before it."""
    if on_interval:
        _step_on_interval(player, play, memory, gradient, step_size, gradient_range, n_steps, n_played)
    else:
        _step_on_simplex(player, play, memory, gradient, step_size, gradient_range, n_steps, n_played)


@kernel
def step(
    player: int,
    on_interval: bool,
    plays: FloatArray,
    memory: FloatArray,
    gradients: FloatArray,
    step_size: float,
    gradient_range: float,
    n_steps: int,
    n_played: int,
) -> None:
    """``step_row`` for every row."""
    for row in range(plays.shape[0]):
        step_row(
            player,
            on_interval,
            plays[row],
            memory[row],
            gradients[row],
            step_size,
            gradient_range,
            n_steps,
            n_played,
        )
