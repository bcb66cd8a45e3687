"""What the theorems promise, as functions of the regrets of players and learners.

Gains lie in [-1, 1]: a right label gains 1, a wrong one -1, so a regret in gains is twice the regret in mistakes. A
bound on an average is per row. ``player_regret`` is the regret of one game of ``n_learners`` moves, measured or bounded
(``player_regret_bound``); ``weak_regret`` is the total R_W(T, k) of one weak learner over ``n_rounds`` rows (or units
of weight).

Notes on the paper's statements, each with a test:

- Theorem 1 needs the weak-learning condition for lessons that depend on the votes: in the one-vs-one condition the
  rival label is the vote itself whenever the vote is wrong. Then, with three or more labels and gamma below 1, no
  learner can guarantee a sub-linear R_W: on labels drawn uniformly every vote gains -(k-2)/k, whatever the class. The
  inequality does hold on every run with the measured weak regret, which the account splits into its parts. A condition
  that learners can satisfy measures gains over guessing, and costs at most ``guessing_price`` beyond Theorem 1.
- In the online realizable corollary the learners' regret need not be doubled: the bound holds in expectation with R_W
  itself when rows are passed on at random, because a vote does not depend on whether its row is passed on.
"""

from __future__ import annotations

import math

from ocoboost.cascade.regimes import AGNOSTIC, Regime
from ocoboost.oco.players import PLAYERS

AGNOSTIC_REGIME = Regime(AGNOSTIC)


def player_regret_bound(
    *,
    gamma: float,
    n_classes: int,
    n_learners: int,
    regime: Regime = AGNOSTIC_REGIME,
    player: str = "gradient",
    start: str = "uniform",
    step_size: float | None = None,
) -> float:
    """R_A(N): the most regret one row's game can have. ``step_size`` None is the paper's gamma / sqrt(N).

    >>> round(player_regret_bound(gamma=0.5, n_classes=3, n_learners=100) / 100, 3)
    0.533
    """
    family = PLAYERS[player]
    game = regime.game(gamma=gamma, n_classes=n_classes, n_learners=n_learners)
    playing = regime.playing(
        family, gamma=gamma, n_classes=n_classes, n_learners=n_learners, start=start, step_size=step_size
    )
    return family.regret_bound(game, playing.starts[0], playing.step_size)


def agnostic_gain_regret_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: float, n_learners: int
) -> float:
    """Theorem 1: average regret of Algorithm 1 in gains, under the one-vs-one, plain or asymmetric condition.

    >>> agnostic_gain_regret_bound(weak_regret=50, player_regret=10, gamma=0.5, n_rounds=1000, n_learners=100)
    0.2
    """
    return weak_regret / (gamma * n_rounds) + player_regret / n_learners


def agnostic_mistake_regret_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: int, n_learners: int
) -> float:
    """Theorem 1 in mistakes: half of it."""
    return 0.5 * agnostic_gain_regret_bound(
        weak_regret=weak_regret, player_regret=player_regret, gamma=gamma, n_rounds=n_rounds, n_learners=n_learners
    )


def one_vs_all_gain_regret_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: int, n_learners: int, n_classes: int
) -> float:
    """The proposition for the one-vs-all condition: every label may cost ``weak_regret``."""
    return agnostic_gain_regret_bound(
        weak_regret=n_classes * weak_regret,
        player_regret=player_regret,
        gamma=gamma,
        n_rounds=n_rounds,
        n_learners=n_learners,
    )


def guessing_loss(*, gamma: float, n_classes: int) -> float:
    """What gamma and nearly uniform lessons cost the learners' part of the account, before the projection returns some.

    Learners with ``gamma * max_h sum(h.y - 1/k) - sum(W.y - 1/k) <= (k - 1) / k * R`` satisfy the plain condition
    with R plus this times gamma T. It is zero for two labels and for gamma = 1.

    >>> guessing_loss(gamma=0.5, n_classes=2), guessing_loss(gamma=0.1, n_classes=4)
    (0.0, 4.5)
    """
    return (1.0 / gamma - 1.0) * (1.0 - 2.0 / n_classes) if n_classes > 1 else 0.0


def guessing_price(*, gamma: float, n_classes: int) -> float:
    """The most that learners with an advantage over guessing cost the booster beyond Theorem 1, in gains per row.

    Below gamma = 1/3 this is less than ``guessing_loss``: the projection returns the difference. No smaller number
    will do for every vote; the proof is in docs/theory.md. It is less than the trivial 2 for every gamma.

    >>> guessing_price(gamma=0.5, n_classes=4), guessing_price(gamma=0.1, n_classes=4)
    (0.5, 1.0)
    """
    return min(1.0 / gamma - 1.0, 2.0) * (1.0 - 2.0 / n_classes) if n_classes > 1 else 0.0


def guessing_gain_regret_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: int, n_learners: int, n_classes: int
) -> float:
    """Theorem 1 for learners with an advantage over guessing; ``weak_regret`` is in ``(k h.y - 1) / (k - 1)``."""
    scaled = 2.0 * (n_classes - 1) / n_classes * weak_regret
    return guessing_price(gamma=gamma, n_classes=n_classes) + agnostic_gain_regret_bound(
        weak_regret=scaled, player_regret=player_regret, gamma=gamma, n_rounds=n_rounds, n_learners=n_learners
    )


def learners_for_rate(*, n_rounds: int, gamma: float) -> int:
    """N = T / gamma^2, with which the players' part is O(sqrt(T)) in total, no more than the learners'.

    >>> learners_for_rate(n_rounds=1000, gamma=0.5)
    4000
    """
    return math.ceil(n_rounds / gamma**2)


def learners_for_error(*, error: float, gamma: float, n_classes: int, regime: Regime = AGNOSTIC_REGIME) -> int:
    """The fewest learners for which the paper's player costs at most ``error`` gain per row: O(1 / (gamma error)^2).

    >>> learners_for_error(error=0.5, gamma=0.5, n_classes=3)
    114
    """
    # With step gamma / sqrt(N) the bound is a constant times sqrt(N).
    constant = player_regret_bound(gamma=gamma, n_classes=n_classes, n_learners=1, regime=regime)
    return math.ceil((constant / error) ** 2)


def realizable_gain_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: int, n_learners: int
) -> float:
    """Mistake bound of Algorithm 4: the least average gain. In expectation R_W itself suffices (see the module)."""
    return 1.0 - agnostic_gain_regret_bound(
        weak_regret=weak_regret, player_regret=player_regret, gamma=gamma, n_rounds=n_rounds, n_learners=n_learners
    )


def realizable_mistake_bound(
    *, weak_regret: float, player_regret: float, gamma: float, n_rounds: int, n_learners: int
) -> float:
    """The largest expected number of mistakes of Algorithm 4 on ``n_rounds`` realizable rows."""
    gain = realizable_gain_bound(
        weak_regret=weak_regret, player_regret=player_regret, gamma=gamma, n_rounds=n_rounds, n_learners=n_learners
    )
    return n_rounds * (1.0 - gain) / 2.0


def pairwise_mistake_bound(
    *,
    best_mistakes: float,
    weak_regret: float,
    player_regret: float,
    gamma: float,
    n_rounds: float,
    n_learners: int,
    n_classes: int,
    of_plurality: bool = False,
) -> float:
    """The largest expected number of mistakes of the pairwise booster, below gamma 1 too (docs/theory.md).

    ``weak_regret`` is under Definition 1 with the rival fixed before the vote; for learners taught label weights, k
    times their regret in these. Of the plurality of the votes the bound is larger by a factor of k / (k - 1).

    >>> known = dict(weak_regret=20, player_regret=10, gamma=0.5, n_rounds=1000, n_learners=100)
    >>> pairwise_mistake_bound(best_mistakes=100, n_classes=2, **known)  # as Theorem 1's for Algorithm 1
    145.0
    >>> pairwise_mistake_bound(best_mistakes=100, n_classes=5, **known)
    232.0
    """
    hinge = 2.0 * best_mistakes + weak_regret / gamma + n_rounds * player_regret / (2.0 * n_learners)
    return hinge if of_plurality else (1.0 - 1.0 / n_classes) * hinge


def exploration_rate(play: int, n_classes: int) -> float:
    """The share of a bandit's plays, the first is number 1, that are drawn uniformly from all labels.

    >>> exploration_rate(1, 3), round(exploration_rate(3000, 3), 3)
    (1.0, 0.1)
    """
    return float(min(1.0, (n_classes / play) ** (1.0 / 3.0)))


def bandit_mistake_bound(*, booster_mistakes: float, n_rounds: int, n_classes: int) -> float:
    """The largest expected number of wrong plays, if the proposals are expected to be wrong ``booster_mistakes`` times.

    The proposals' bound is that of the booster with the learners' regret on rows of weight 1 / P[y], whose squares are
    expected to sum to at most ``bandit_energy``.

    >>> round(bandit_mistake_bound(booster_mistakes=100, n_rounds=1000, n_classes=4))
    277
    """
    explored = sum(exploration_rate(play, n_classes) for play in range(1, n_rounds + 1))
    return booster_mistakes + (1.0 - 1.0 / n_classes) * explored


def bandit_energy(*, n_rounds: int, n_classes: int) -> float:
    """The most that the squared weights of a bandit's rows are expected to sum to: O(k^(2/3) T^(4/3)).

    >>> round(bandit_energy(n_rounds=1000, n_classes=4))
    18913
    """
    return sum(n_classes / exploration_rate(play, n_classes) for play in range(1, n_rounds + 1))


def play_mistake_bound(*, best_mistakes: float, squared_error: float, n_rounds: int, n_classes: int) -> float:
    """The largest expected number of wrong plays of a bandit that learns from plays (docs/bandit.md).

    ``best_mistakes`` are those of the most probable labels, and ``squared_error`` is the expected sum over all rows of
    (what the label played was thought to be right with - what it is right with)^2.

    >>> round(play_mistake_bound(best_mistakes=100, squared_error=0.5, n_rounds=1000, n_classes=4))
    414
    """
    missed = math.sqrt(2.0 * bandit_energy(n_rounds=n_rounds, n_classes=n_classes) * squared_error)
    return bandit_mistake_bound(booster_mistakes=best_mistakes + missed, n_rounds=n_rounds, n_classes=n_classes)


def agnostic_correlation_bound(
    *, best_correlation: float, player_regret: float, weak_slack: float, gamma: float, n_learners: int, n_classes: int
) -> float:
    """Algorithm 2: the least expected correlation on the sample; ``weak_slack`` is epsilon_0 per label."""
    return best_correlation - player_regret / n_learners - n_classes * weak_slack / gamma


def realizable_correlation_bound(*, player_regret: float, n_learners: int) -> float:
    """Algorithm 5: the least expected correlation on the sample.

    >>> realizable_correlation_bound(player_regret=10, n_learners=100)
    0.9
    """
    return 1.0 - player_regret / n_learners


def game_value_bound(
    *, payoff: float, player_regret: float, n_rounds: int, n_games: int, oracle_slack: float = 0.0
) -> float:
    """Improper game playing: the value is at most B's average payoff against any P, plus this.

    ``payoff`` is g(P, q-bar); ``n_games`` is m, the number of rows and of A's optimizers.
    """
    return payoff + n_games * player_regret / n_rounds + oracle_slack
