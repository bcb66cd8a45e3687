"""Every look into the package: when modules move, this is what to edit.

Imports are inside the functions: one that moved breaks its own cases only.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import ocoboost
from fingerprints.gists import digest, gist, shortened


def mixture(
    learner: Any = "auto",
    *,
    budget: int,
    max_size: float | None = None,
    classes: Sequence[Any] | None = None,
    n_jobs: int = 1,
    seed: int | None = 1,
) -> Any:
    """Boosters with several learners, or one learner with several gammas, side by side; every mixture is made here."""
    return ocoboost.OnlineBoostClassifier(
        learner, budget=budget, max_size=max_size, classes=classes, n_jobs=n_jobs, seed=seed
    )


def sklearn_wrapper(booster: Any, random_state: Any) -> Any:
    """An online booster behind ``fit`` and ``partial_fit``."""
    from ocoboost.sklearn import OnlineBoostClassifier

    return OnlineBoostClassifier(booster, random_state=random_state, shuffle=False)


def packaged_rows(name: str, seed: int) -> list[tuple[dict[Any, Any], Any]]:
    """The rows of a dataset in the package, shuffled."""
    from ocoboost.bench.datasets import load_raw, shuffled

    return shuffled(load_raw(name), seed)


def forests(model: Any) -> list[Any]:
    """The arrays of native trees of every member: ``n_nodes``, ``nodes`` and ``class_weight``, axis 0 the learner."""
    ensembles = [cascade.ensemble for cascade in model.state_.engine.cascades]
    return [
        ensemble.trees._replace(class_weight=ensemble.trees.class_weight[:, :, : ensemble.n_classes])
        for ensemble in ensembles
        if hasattr(ensemble, "trees")
    ]


HOEFFDING_LINKS = ("kind", "feature", "parent", "first_child", "sibling", "category", "depth", "slot")
HOEFFDING_FLOATS = ("threshold", "last_attempt", "majority_right", "bayes_right")
MONDRIAN_LINKS = ("feature", "parent", "left", "right")
MONDRIAN_FLOATS = ("threshold", "time", "gain", "tree_gain", "share", "total")


def take_forest(trees: Any) -> tuple[list[Any], list[float]]:
    """The structure of native trees, and the numbers in their nodes; what lies behind the used nodes does not count."""
    is_mondrian = "left" in trees.nodes.dtype.names
    links, numbers = (MONDRIAN_LINKS, MONDRIAN_FLOATS) if is_mondrian else (HOEFFDING_LINKS, HOEFFDING_FLOATS)
    sizes = trees.n_nodes.tolist()
    used = np.concatenate([nodes[:size] for nodes, size in zip(trees.nodes, sizes, strict=True)])
    weights = np.concatenate([weights[:size] for weights, size in zip(trees.class_weight, sizes, strict=True)])
    structure = [shortened(sizes), digest([used[link].tolist() for link in links])]
    return structure, [*(gist(used[name]) for name in numbers), gist(weights)]


def histogram_tree(estimator: Any) -> tuple[list[list[Any]], Any]:
    """The structure of a fitted ``HistogramTreeClassifier``, and its floats: thresholds, and weights in fixed point."""
    tree, binning = estimator.tree_, estimator.binning_
    arrays = [tree.feature, tree.threshold, tree.missing, tree.missing_left, tree.left, binning.starts]
    shares = tree.weights / np.maximum(tree.weights.sum(axis=1, keepdims=True), 1)
    return [array.tolist() for array in arrays], [gist(binning.thresholds), gist(shares)]


def regime_of(name: str) -> Any:
    """The regime called "agnostic" or "realizable"."""
    from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, Regime

    return Regime({"agnostic": AGNOSTIC, "realizable": REALIZABLE}[name])


class Play(NamedTuple):
    """A player and the games that it plays."""

    player: Any
    game: Any
    starts: Any  # (rows, dimension)
    step_size: float


def begin_play(
    name: str, regime: str, labels: Any, *, gamma: float, n_classes: int, n_steps: int, start: str, step: str
) -> Play:
    """One game per row, before its first move."""
    from ocoboost.oco import players

    player = players.PLAYERS[name]
    game = regime_of(regime).game(gamma=gamma, n_classes=n_classes, n_learners=n_steps)
    centre = game.domain.centre()
    by_label = regime_of(regime).starts(n_classes, start=start, is_entropic=player.is_entropic, centre=centre)
    starts = by_label[labels]
    if step == "default":
        return Play(player, game, starts, player.default_step(game, starts[0], gamma))
    return Play(player, game, starts, player.optimal_step(game, starts[0]))


def promises(play: Play) -> list[float]:
    """What is known of a game before its first move."""
    bound = play.player.regret_bound(play.game, play.starts[0], play.step_size)
    return [play.step_size, bound, play.game.gradient_bound, play.game.gradient_range]


def step_through(play: Play, gradients: Iterable[Any]) -> Iterator[Any]:
    """The plays of all rows after every gradient; gradients have the shape of the plays."""
    plays = play.starts.copy()
    memory = play.player.begin(play.game.domain, plays)
    for number, gradient in enumerate(gradients):
        # Kernels are compiled anew for another layout in memory.
        play.player.step(play.game, plays, memory, np.ascontiguousarray(gradient), play.step_size, number)
        yield plays.copy()


def play_zero_sum(regime: str, play: Play, labels: Any, strategies: Any) -> tuple[list[int], Any, list[float]]:
    """The game of the batch boosters, B's best answers coming from a list: which ones, A's last plays, and values."""
    from ocoboost.batch import game

    n_classes = strategies.shape[2]
    payoff = (game.AgnosticPayoff if regime == "agnostic" else game.RealizablePayoff)(labels, n_classes)
    rows = game.RowPlayers(payoff, play.player, play.game, play.starts, play.step_size)
    answers = []

    def best_answer(rows: Any, stage: int) -> Any:
        answers.append(int(np.argmax([game.payoff_value(payoff, rows.plays, answer) for answer in strategies])))
        return strategies[answers[-1]]

    averaged = np.mean(list(game.play(rows, best_answer, play.game.n_steps)), axis=0)
    worst = game.worst_value(payoff, averaged, on_interval=regime == "realizable")
    return answers, rows.plays, [worst, game.payoff_value(payoff, rows.plays, averaged)]


def comparator_class(name: str) -> Any:
    """A class of hypotheses for an account to compare with."""
    from ocoboost.theory.classes import Constants, QuantileStumps

    return {"constants": Constants(), "stumps": QuantileStumps(n_cells=8)}[name]


def conditions_checked(account: Any) -> tuple[list[bool | None], list[float]]:
    """How the learners of a recorded run stand to every weak-learning condition: verdicts; slacks and advantages."""
    from ocoboost.theory.checks import check_run
    from ocoboost.theory.conditions import ONLINE_CONDITIONS

    verdicts: list[bool | None] = []
    numbers: list[float] = []
    for condition in ONLINE_CONDITIONS:
        checks = check_run(account, condition)
        verdicts += [check.is_weak_learner for check in checks]
        known = [number for check in checks for number in check.estimated_gamma if math.isfinite(number)]
        numbers += [gist([check.slack for check in checks]), gist(known)]
    return verdicts, numbers


def theorem_bounds() -> dict[str, float]:
    """Every function of the theorems at one point."""
    from ocoboost.theory import bounds

    sizes = {"gamma": 0.3, "n_learners": 50}
    regrets = {"weak_regret": 40.0, "player_regret": 11.0, "n_rounds": 900}
    return {
        "agnostic gain": bounds.agnostic_gain_regret_bound(**regrets, **sizes),
        "agnostic mistakes": bounds.agnostic_mistake_regret_bound(**regrets, **sizes),
        "one versus all": bounds.one_vs_all_gain_regret_bound(**regrets, **sizes, n_classes=5),
        "guessing price": bounds.guessing_price(gamma=0.3, n_classes=5),
        "guessing gain": bounds.guessing_gain_regret_bound(**regrets, **sizes, n_classes=5),
        "learners for rate": bounds.learners_for_rate(n_rounds=900, gamma=0.3),
        "learners for error": bounds.learners_for_error(error=0.2, gamma=0.3, n_classes=5),
        "learners for error, realizable": bounds.learners_for_error(
            error=0.2, gamma=0.3, n_classes=5, regime=regime_of("realizable")
        ),
        "realizable gain": bounds.realizable_gain_bound(**regrets, **sizes),
        "realizable mistakes": bounds.realizable_mistake_bound(**regrets, **sizes),
        "agnostic correlation": bounds.agnostic_correlation_bound(
            best_correlation=0.8, player_regret=11.0, weak_slack=0.01, n_classes=5, **sizes
        ),
        "realizable correlation": bounds.realizable_correlation_bound(player_regret=11.0, n_learners=50),
        "game value": bounds.game_value_bound(
            payoff=-3.0, player_regret=11.0, n_rounds=50, n_games=20, oracle_slack=0.1
        ),
    }


def player_bound(player: str, regime: str, start: str, gamma: float, step_size: float | None) -> float:
    """The regret that a player promises."""
    from ocoboost.theory.bounds import player_regret_bound

    return player_regret_bound(
        gamma=gamma,
        n_classes=4,
        n_learners=30,
        regime=regime_of(regime),
        player=player,
        start=start,
        step_size=step_size,
    )


def mixture_bound(n_rows: int, n_voters: int) -> float:
    """The regret that a mixture promises, against one of so many voters with equal priors."""
    from ocoboost.online.mixture.bounds import regret_bound

    return regret_bound(n_rows, 1.0 / n_voters)


def rate_bounds(constant: float | None, horizon: int | None) -> list[float]:
    """The rate of exponential weights after some rows, and the regret that it promises."""
    from ocoboost.learners.experts.rates import LearningRate

    rate = LearningRate(constant, horizon)
    return [rate.at(3.5, 0.0), rate.at(3.5, 120.0), rate.regret_bound(3.5, 500)]


def competitive_bounds(rate: float) -> list[float]:
    """What a constant rate promises relative to the best loss."""
    from ocoboost.learners.experts.rates import competitive_bound, competitive_ratio

    return [competitive_ratio(rate), competitive_bound(rate, 3.5, 120.0)]
