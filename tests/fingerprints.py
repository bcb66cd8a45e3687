"""Fingerprints of what the library computes, on fixed streams: kept, they show whether a change changes a result.

A case is a function without arguments that builds a model, lets it learn some hundred rows, and returns a fingerprint:
``exact`` parts (labels, votes, the structure of trees) must stay equal, ``floats`` must stay within 1e-9. What defines
a booster is set explicitly, so that its defaults may change without changing a case.

``python tests/fingerprints.py --write`` takes all fingerprints anew, which is right only after a change that is meant
to change results; the file has a line for each case, so that its difference shows which cases changed.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import string
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ocoboost

DATA = Path(__file__).parent / "data" / "fingerprints.json"
Fingerprint = dict[str, dict[str, Any]]
PLAYERS = ("gradient", "lazy", "exponentiated", "scale-free", "coin")


# -- Inside the package ----------------------------------------------------------------------------------------------
#
# Every import of something that is not in the top-level package, and every look into a model, is in this section: when
# modules move, this is what to edit. Imports are inside the functions: one that moved breaks its own cases only.


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

    return OnlineBoostClassifier(booster, random_state=random_state)


def packaged_rows(name: str, seed: int) -> list[tuple[dict[Any, Any], Any]]:
    """The rows of a dataset in the package, shuffled."""
    from ocoboost.bench.datasets import load_raw, shuffled

    return shuffled(load_raw(name), seed)


def forests(model: Any) -> list[Any]:
    """The arrays of native trees of every member: ``n_nodes``, ``nodes`` and ``class_weight``, axis 0 the learner."""
    ensembles = [cascade.ensemble for cascade in model.state_.engine.cascades]
    return [ensemble.trees for ensemble in ensembles if hasattr(ensemble, "trees")]


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
    """The arrays of a fitted ``HistogramTreeClassifier``, all of whole numbers, and the thresholds of its features."""
    tree, binning = estimator.tree_, estimator.binning_
    arrays = [tree.feature, tree.threshold, tree.missing, tree.missing_left, tree.left, tree.weights, binning.starts]
    return [array.tolist() for array in arrays], binning.thresholds


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


def mixture_bound(n_rows: int, n_experts: int) -> float:
    """The regret that a mixture promises."""
    from ocoboost.online.mixture import regret_bound

    return regret_bound(n_rows, n_experts)


def rate_bounds(constant: float | None, horizon: int | None) -> list[float]:
    """The rate of exponential weights after some rows, and the regret that it promises."""
    from ocoboost.learners.experts.rates import LearningRate

    rate = LearningRate(constant, horizon)
    return [rate.at(3.5, 0.0), rate.at(3.5, 120.0), rate.regret_bound(3.5, 500)]


def competitive_bounds(rate: float) -> list[float]:
    """What a constant rate promises relative to the best loss."""
    from ocoboost.learners.experts.rates import competitive_bound, competitive_ratio

    return [competitive_ratio(rate), competitive_bound(rate, 3.5, 120.0)]


# -- Streams ---------------------------------------------------------------------------------------------------------


class Stream(NamedTuple):
    """What is learned, and some more rows to ask about."""

    rows: list[dict[Any, Any]]
    labels: list[Any]
    weights: list[float] | None
    probes: list[dict[Any, Any]]
    as_table: Callable[[list[dict[Any, Any]]], Any] = list  # how blocks of rows are handed over
    best: list[Any] | None = None  # labels without noise, where they are known

    @property
    def classes(self) -> list[Any]:
        """All labels, in an order that has nothing to do with the order of the rows."""
        return sorted(set(self.labels), key=repr)

    def letters(self, labels: Iterable[Any]) -> str:
        """Labels as one letter each, to keep them short; a question mark for none."""
        letters = dict(zip(self.classes, string.ascii_letters, strict=False))
        return "".join(letters.get(label, "?") for label in labels)


N_PROBES = 8


@cache
def stream(name: str) -> Stream:
    """A stream by its name."""
    if name in GENERATED:
        return GENERATED[name]()
    n_rows, seed = PACKAGED[name]
    rows, labels = unzipped(packaged_rows(name, seed)[: n_rows + N_PROBES])
    return Stream(rows[:n_rows], labels[:n_rows], None, rows[n_rows:])


PACKAGED = {"abalone": (200, 1), "balance": (220, 2), "segment": (200, 4), "yeast": (220, 5)}


def unzipped(pairs: list[tuple[dict[Any, Any], Any]]) -> tuple[list[dict[Any, Any]], list[Any]]:
    """Rows, and labels."""
    return [x for x, _ in pairs], [y for _, y in pairs]


def landsat() -> Stream:
    """Landsat in arrays, whose columns have numbers for names."""
    named, labels = unzipped(packaged_rows("landsat", 6)[: 150 + N_PROBES])
    rows = [dict(enumerate(x.values())) for x in named]
    return Stream(rows[:150], labels[:150], None, rows[150:], lambda block: np.array([list(x.values()) for x in block]))


def cars() -> Stream:
    """Cars, all text, in frames."""
    import pandas as pd

    rows, labels = unzipped(packaged_rows("cars", 3)[: 220 + N_PROBES])
    return Stream(rows[:220], labels[:220], None, rows[220:], pd.DataFrame)


def short() -> Stream:
    """A part of Balance, for learners that take long."""
    whole = stream("balance")
    return whole._replace(rows=whole.rows[:90], labels=whole.labels[:90])


def uneven(with_text: bool) -> Stream:
    """Row weights, missing values, and columns, categories and labels that come late; at first there is one label."""
    draws, n_rows = random.Random(7), 220
    rows, labels, weights = [], [], []
    for number in range(n_rows + N_PROBES):
        a, b, c, noise = (draws.random() for _ in range(4))
        x: dict[Any, Any] = {"a": a, "b": None if number % 7 == 3 else 20.0 * b - 5.0}
        if number % 11 != 5:
            x["whole"] = int(4.0 * c)
        if number >= 80:
            x["late"] = a * b if number % 5 else math.nan
        if with_text:
            x["colour"] = ("red", "green", "blue", "violet")[int(c * (3 if number < 150 else 4))]
            if number >= 110:
                x["shape"] = "round" if b > 0.4 else None if b > 0.2 else "square"
        label: Any = "low" if a < 0.35 else "middle" if b < 0.5 else 7
        if number >= 130 and c > 0.6 and a > 0.5:
            label = "late"
        if noise < 0.15:
            label = ("low", "middle", 7)[number % 3]
        rows.append(x)
        labels.append("low" if number < 6 else label)
        weights.append((1.0, 0.5, 2.5, 0.0, 1.0, 1.25)[number % 6])
    return Stream(rows[:n_rows], labels[:n_rows], weights[:n_rows], rows[n_rows:])


def rule(labels: Sequence[Any], noise: float, *, weighted: bool = False, n_rows: int = 220) -> Stream:
    """Thresholds of the first of three features decide, but for the noise."""
    draws = random.Random(8)
    values = [[draws.random() for _ in range(5)] for _ in range(n_rows + N_PROBES)]
    rows = [{"a": a, "b": b, "c": c} for a, b, c, _, _ in values]
    best = [labels[int(a * len(labels))] for a, *_ in values]
    said = [
        labels[int(v * len(labels))] if u < noise else clean for clean, (*_, u, v) in zip(best, values, strict=True)
    ]
    weights = [(1.0, 0.0, 7.5, 0.25)[number % 4] for number in range(n_rows)] if weighted else None
    return Stream(rows[:n_rows], said[:n_rows], weights, rows[n_rows:], best=best[:n_rows])


def points() -> Stream:
    """Points of a line of eight, and on which side of the fourth they lie, right four times out of five."""
    draws, n_rows = random.Random(9), 120
    rows = [{"point": int(8.0 * draws.random())} for _ in range(n_rows + N_PROBES)]
    labels = [int((x["point"] >= 3) != (draws.random() < 0.2)) for x in rows]
    return Stream(rows[:n_rows], labels[:n_rows], None, rows[n_rows:])


GENERATED: dict[str, Callable[[], Stream]] = {
    "landsat": landsat,
    "cars": cars,
    "short": short,
    "uneven": partial(uneven, with_text=True),
    "gaps": partial(uneven, with_text=False),
    "rule": partial(rule, ("L", "M", "H"), 0.2),
    "clean": partial(rule, ("L", "M", "H"), 0.0),
    "weighted": partial(rule, ("L", "M", "H"), 0.3, weighted=True),
    "binary": partial(rule, (False, True), 0.1),
    "long": partial(rule, ("L", "M", "H"), 0.05, n_rows=900),  # trees whose parameters are the defaults are cut too
    "points": points,
}


# -- Taking a fingerprint --------------------------------------------------------------------------------------------


def digest(values: Any) -> str:
    """A few digits that stand for whole numbers or text."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def shortened(values: Any, most: int = 12) -> Any:
    """The values themselves if they are few."""
    return values if len(values) <= most else digest(values)


def gist(values: Any) -> float:
    """One number that stands for many: a sum in which every place counts differently."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return math.fsum(flat * np.cos(np.arange(1, flat.size + 1)))


def fingerprint(exact: dict[str, Any], floats: dict[str, Any]) -> Fingerprint:
    """The parts as JSON can hold them, floats with more digits than are compared."""
    rounded = {
        name: [float(f"{value:.11g}") for value in np.asarray(values, dtype=np.float64).ravel().tolist()]
        for name, values in floats.items()
    }
    return {"exact": json.loads(json.dumps(exact)), "floats": rounded}


class Probed(NamedTuple):
    """What a model says to a stream's probes."""

    labels: str
    drawn: str
    distributions: Any  # (probes, classes)
    shares: Any


def probe(model: Any, learned: Stream) -> Probed:
    """Ask about the probes in every way."""
    table = learned.as_table(learned.probes)
    return Probed(
        learned.letters(model.predict_many(table)),
        learned.letters(model.sample_one(x) for x in learned.probes),
        as_matrix(model.predict_proba_many(table)),
        as_matrix(model.vote_shares_many(table)),
    )


def as_matrix(answers: Any) -> Any:
    """Numbers per row and label, whether they came as an array, a frame or dicts."""
    return np.array([list(row.values()) for row in answers]) if isinstance(answers, list) else np.asarray(answers)


N_BY_ONE = 5  # rows that are learned one at a time


def learn(model: Any, learned: Stream) -> Iterator[str]:
    """Learn a stream, some rows one by one and the others in two blocks; yields what was predicted in each part."""
    weights = [1.0] * len(learned.rows) if learned.weights is None else learned.weights
    predictions = []
    for x, y, w in zip(learned.rows[:N_BY_ONE], learned.labels, weights, strict=False):
        predictions.append(model.predict_one(x))
        model.learn_one(x, y, w=w)
    yield learned.letters(predictions)
    half = len(learned.rows) // 2
    for part in (slice(N_BY_ONE, half), slice(half, None)):
        given = {} if learned.weights is None else {"w": weights[part]}
        table = learned.as_table(learned.rows[part])
        yield learned.letters(model.predict_learn_many(table, learned.labels[part], **given))


def take(model: Any, name: str) -> Fingerprint:
    """The fingerprint of a classifier on streams: predictions on the way, and what it knows halfway and in the end."""
    learned = stream(name)
    parts = [(predicted, probe(model, learned)) for predicted in learn(model, learned)]
    halfway, end = parts[-2][1], parts[-1][1]
    exact = {
        "predictions": shortened("".join(predicted for predicted, _ in parts), most=300),
        "classes": model.classes_,
        "labels halfway": [halfway.labels, halfway.drawn],
        "labels": [end.labels, end.drawn],
    }
    floats = {
        "halfway": [gist(halfway.distributions), gist(halfway.shares)],
        "distributions": [gist(end.distributions), *end.distributions[0]],
        "shares": [gist(end.shares), *end.shares[0]],
    }
    for number, trees in enumerate(forests(model)):
        exact[f"trees {number}"], floats[f"trees {number}"] = take_forest(trees)
    return fingerprint(exact, floats)


def adding(found: Fingerprint, exact: dict[str, Any], floats: dict[str, Any]) -> Fingerprint:
    """A fingerprint with more parts."""
    more = fingerprint(exact, floats)
    return {kind: found[kind] | more[kind] for kind in found}


# -- Learners --------------------------------------------------------------------------------------------------------

# So that trees are cut within a few hundred rows.
SOON: dict[str, Any] = {"grace_period": 15, "delta": 0.1, "tau": 0.4}


def river_learner(name: str) -> Any:
    from river import linear_model, naive_bayes, preprocessing, tree

    if name == "tree":
        return tree.HoeffdingTreeClassifier(grace_period=20, delta=0.1, tau=0.4)
    if name == "bayes":
        return naive_bayes.GaussianNB()  # takes no weights
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()  # tells two labels apart


def sklearn_learner(name: str) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    if name == "bayes":
        return GaussianNB()
    return SGDClassifier(loss="log_loss" if name == "logistic" else "hinge")


def functions(n_classes: int) -> list[Callable[[Any], int]]:
    """Constants, and every feature of the rule cut in as many pieces as there are labels."""
    constants = [lambda x, label=label: label for label in range(n_classes)]
    cuts = [
        lambda x, name=name, turn=turn: (int(x[name] * n_classes) + turn) % n_classes
        for name in "abc"
        for turn in range(n_classes)
    ]
    return [*constants, *cuts]


LINE = [[int(point >= cut) for point in range(8)] for cut in range(9)]

LEARNERS: dict[str, Callable[[], Any]] = {
    "default": lambda: None,
    "stump": lambda: ocoboost.HoeffdingTrees(**SOON, max_depth=1, split_criterion="gini"),
    "tree": lambda: ocoboost.HoeffdingTrees(**SOON),
    "bayes-tree": lambda: ocoboost.HoeffdingTrees(**SOON, leaf_prediction="nb", feature_share=0.6),
    "majority-tree": lambda: ocoboost.HoeffdingTrees(**SOON, leaf_prediction="mc", binary_split=True),
    "small-tree": lambda: ocoboost.HoeffdingTrees(**SOON, max_size=0.15),
    "mondrian": lambda: ocoboost.MondrianTrees(smoothing=1.0),
    "smooth-mondrian": lambda: ocoboost.MondrianTrees(smoothing=5.0, split_pure=True),
    "rough-mondrian": lambda: ocoboost.MondrianTrees(smoothing=0.0, aggregate=False, scale="none"),
    "small-mondrian": lambda: ocoboost.MondrianTrees(max_size=0.05),
    "stumps": lambda: ocoboost.StumpExperts(n_cells=8),
    "drawn-stumps": lambda: ocoboost.StumpExperts(n_cells=6, votes="random", horizon=220),
    "functions": lambda: ocoboost.FiniteExperts(functions(3), 3),
    "matrices": lambda: ocoboost.MatrixExperts(["a", "b"], 3, n_levels=2, votes="random"),
    "points": lambda: ocoboost.LittlestoneExperts(LINE, "point", horizon=120),
    "river-tree": lambda: river_learner("tree"),
    "river-bayes": lambda: river_learner("bayes"),
    "river-logistic": lambda: river_learner("logistic"),
    "sklearn-logistic": lambda: sklearn_learner("logistic"),
    "sklearn-hinge": lambda: sklearn_learner("hinge"),
    "sklearn-bayes": lambda: sklearn_learner("bayes"),
}


# -- Cases -----------------------------------------------------------------------------------------------------------

CASES: dict[str, Callable[[], Fingerprint]] = {}


def add(title: str, take_case: Callable[..., Fingerprint], *args: Any, **parameters: Any) -> None:
    """Put a case into the table, under a name that says what it sets."""
    name = " ".join([title, *map(str, args), *(f"{key}={value}" for key, value in parameters.items())])
    assert name not in CASES, name
    CASES[name] = partial(take_case, *args, **parameters)


# The paper's boosters. All that matters is given, because defaults are about to change.

REGIMES = ("agnostic", "realizable")
BOOSTER: dict[str, Any] = {
    "gamma": 0.5,
    "n_learners": 8,
    "relabel": "fractional",
    "votes": "label",
    "pool": "label",
    "start": "uniform",
    "player": "gradient",
    "step_size": None,
    "n_jobs": 1,
    "seed": 1,
}


def booster(regime: str, name: str, learner: str, *, closed: bool = False, **changes: Any) -> Any:
    """A booster for a stream; ``closed`` tells it all labels."""
    kinds = {
        "agnostic": ocoboost.OnlineAgnosticBoostClassifier,
        "realizable": ocoboost.OnlineRealizableBoostClassifier,
    }
    classes = stream(name).classes if closed else None
    return kinds[regime](LEARNERS[learner](), classes=classes, **BOOSTER | changes)


def boosted(regime: str, name: str, learner: str, **changes: Any) -> Fingerprint:
    model = booster(regime, name, learner, **changes)
    found = take(model, name)
    return adding(found, {"relabel": model.relabel_}, {})


def add_boosters() -> None:
    """Every player with half of all combinations of the other choices (any three occur in all ways), then the rest."""
    streams = ("uneven", "yeast", "balance")
    learners = ("stump", "mondrian", "tree", "smooth-mondrian", "bayes-tree", "majority-tree", "rough-mondrian")
    gammas = (0.5, 0.2, 1.0, 0.05, 0.8)
    choices = product(REGIMES, PLAYERS, ("fractional", "random"), ("label", "distribution"), ("label", "distribution"))
    for number, (regime, player, relabel, votes, pool) in enumerate(choices):
        is_even = (relabel == "random") ^ (votes == "label") ^ (pool == "label")
        add(
            "booster",
            boosted,
            regime,
            streams[number % 3],
            learners[number % 7],
            player=player,
            relabel=relabel,
            votes=votes,
            pool=pool,
            start="uniform" if is_even else "label",
            gamma=gammas[number % 5],
        )
    for regime, player, step_size in product(REGIMES, PLAYERS[:3], ("optimal", 0.03, 1.5)):
        add("booster", boosted, regime, "balance", "stump", player=player, step_size=step_size, gamma=0.3)
    for regime, player in product(REGIMES, PLAYERS):
        add("booster", boosted, regime, "uneven", "tree", player=player, closed=True, gamma=0.1, start="label")
    for regime, gamma in product(REGIMES, (1.0, 0.7, 0.1, 0.01, 1e-6, 1e-200)):
        add("booster", boosted, regime, "weighted", "stump", gamma=gamma, pool="distribution", n_learners=13)
    for number, (name, regime) in enumerate(product(("abalone", "cars", "segment", "landsat", "binary"), REGIMES)):
        learner = ("tree", "mondrian", "bayes-tree")[number % 3]
        add("booster", boosted, regime, name, learner, gamma=0.3, start="label", pool="distribution")
    for regime in REGIMES:
        add("booster", boosted, regime, "long", "default", gamma=0.7, start="label", pool="distribution")
    for regime, learner in product(REGIMES, ("tree", "mondrian")):
        add("booster", boosted, regime, "yeast", learner, n_jobs=2, n_learners=20, relabel="random", seed=3)
    for regime, learner in product(REGIMES, ("small-tree", "small-mondrian", "default")):
        add("booster", boosted, regime, "yeast", learner, votes="distribution", seed=4)
    for regime, seed in product(REGIMES, (0, 2**64 - 1)):
        add("booster", boosted, regime, "uneven", "mondrian", relabel="random", seed=seed, n_learners=1)


def add_boosters_of_other_learners() -> None:
    """Learners that are not native trees go through another loop."""
    expected = {"votes": "distribution", "pool": "distribution"}
    for regime, relabel in product(REGIMES, ("fractional", "random")):
        add("booster", boosted, regime, "rule", "stumps", relabel=relabel, **expected)
        add("booster", boosted, regime, "rule", "functions", relabel=relabel, closed=True, **expected)
        add("booster", boosted, regime, "uneven", "river-tree", relabel=relabel, n_learners=3)
        add("booster", boosted, regime, "short", "sklearn-logistic", relabel=relabel, n_learners=2, closed=True)
    for regime in REGIMES:
        add("booster", boosted, regime, "gaps", "drawn-stumps", gamma=0.3, start="label")
        add("booster", boosted, regime, "weighted", "matrices", closed=True, gamma=0.3)
        add("booster", boosted, regime, "points", "points", closed=True, n_learners=3, **expected)
        add("booster", boosted, regime, "short", "river-bayes", n_learners=3, start="label")
        add("booster", boosted, regime, "binary", "river-logistic", n_learners=3, gamma=0.2, pool="distribution")
        add("booster", boosted, regime, "short", "sklearn-hinge", n_learners=3, closed=True)
        add("booster", boosted, regime, "short", "sklearn-bayes", n_learners=2, closed=True)
    for regime, player in product(REGIMES, PLAYERS):
        add("booster", boosted, regime, "uneven", "river-tree", player=player, n_learners=3, gamma=0.4, start="label")


# Mixtures.


def mixed(name: str, learner: str, *, closed: bool = False, **parameters: Any) -> Fingerprint:
    classes = stream(name).classes if closed else None
    model = mixture("auto" if learner == "auto" else LEARNERS[learner](), classes=classes, **parameters)
    found = take(model, name)
    weights = model.member_weights_
    return adding(found, {"members": list(weights)}, {"member weights": list(weights.values())})


def add_mixtures() -> None:
    for name, budget in (("uneven", 20), ("segment", 20), ("cars", 20), ("abalone", 20), ("yeast", 200), ("rule", 3)):
        add("mixture", mixed, name, "auto", budget=budget)
    add("mixture", mixed, "long", "auto", budget=10)
    add("mixture", mixed, "landsat", "auto", budget=30, n_jobs=2, seed=5)
    add("mixture", mixed, "weighted", "auto", budget=20, closed=True)
    for name, max_size in (("yeast", 0.3), ("uneven", 0.1)):
        add("mixture", mixed, name, "auto", budget=20, max_size=max_size)
    for name, learner in (("uneven", "tree"), ("balance", "mondrian"), ("gaps", "stumps"), ("binary", "river-tree")):
        add("mixture", mixed, name, learner, budget=16)
    add("mixture", mixed, "short", "sklearn-bayes", budget=5, closed=True)
    add("mixture", mixed, "yeast", "tree", budget=40, max_size=0.5)
    add("mixture", mixed, "yeast", "mondrian", budget=40, max_size=0.4)


# The boosters of Jung, Goetz & Tewari.


def majority(name: str, learner: str, *, closed: bool = False, **changes: Any) -> Fingerprint:
    settings = {"n_learners": 8, "gamma": 0.1, "potential": "exact", "mode": None, "n_jobs": 1, "seed": 1} | changes
    classes = stream(name).classes if closed else None
    return take(ocoboost.OnlineMBBMClassifier(LEARNERS[learner](), classes=classes, **settings), name)


def logistic(name: str, learner: str, *, closed: bool = False, **changes: Any) -> Fingerprint:
    settings = {"n_learners": 8, "mode": None, "n_jobs": 1, "seed": 1} | changes
    classes = stream(name).classes if closed else None
    model = ocoboost.AdaBoostOLMClassifier(LEARNERS[learner](), classes=classes, **settings)
    found = take(model, name)
    return adding(found, {}, {"alphas": model.alphas_, "log expert weights": [gist(model.log_expert_weights_)]})


def add_baselines() -> None:
    for mode, potential in ((None, "exact"), (None, "fast"), ("paper", "exact"), ("original", "exact")):
        add("mbbm", majority, "balance", "stump", mode=mode, potential=potential)
        add("mbbm", majority, "uneven", "tree", mode=mode, potential=potential)
    for deviation in ("constants", "horizon", "monte-carlo", "ties", "min-cost"):
        add("mbbm", majority, "uneven", "mondrian", mode=(deviation,))
        add("mbbm", majority, "balance", "stump", mode=(deviation,), potential="fast", gamma=0.02)
    for gamma, potential in product((0.001, 0.3, 0.7, 0.95), ("exact", "fast")):
        add("mbbm", majority, "yeast", "stump", gamma=gamma, potential=potential, n_learners=12)
    for mode in (None, "paper", "original", ("constants",), ("ties",), ("min-cost",)):
        add("olm", logistic, "balance", "stump", mode=mode)
        add("olm", logistic, "uneven", "mondrian", mode=mode)
    for title, baseline in (("mbbm", majority), ("olm", logistic)):
        for name, learner in (("abalone", "tree"), ("binary", "river-logistic"), ("uneven", "river-tree")):
            add(title, baseline, name, learner, n_learners=3)
        for mode in (None, "original"):
            add(title, baseline, "short", "river-bayes", n_learners=3, mode=mode)
        add(title, baseline, "short", "sklearn-logistic", n_learners=3, closed=True)
        add(title, baseline, "rule", "stumps", n_learners=4)
        add(title, baseline, "weighted", "smooth-mondrian", n_learners=15, seed=2)
        add(title, baseline, "yeast", "small-tree")
        add(title, baseline, "segment", "tree", n_learners=20, closed=True, n_jobs=2)


# Learners by themselves.


def alone(kind: str, name: str, **parameters: Any) -> Fingerprint:
    shared = {"seed": 1} | (SOON if kind == "HoeffdingTrees" else {"n_learners": 3})
    return take(getattr(ocoboost, kind)(**shared | parameters), name)


def add_hoeffding() -> None:
    settings: list[tuple[str, dict[str, Any]]] = [
        *(
            ("cars" if criterion == "gini" else "uneven", {"split_criterion": criterion, "leaf_prediction": leaf})
            for criterion, leaf in product(("gini", "info_gain"), ("mc", "nb", "nba"))
        ),
        *(("binary", {"split_criterion": "hellinger", "leaf_prediction": leaf}) for leaf in ("mc", "nb", "nba")),
        *(("cars", {"binary_split": True, "split_criterion": criterion}) for criterion in ("gini", "info_gain")),
        *(("balance", {"max_depth": depth}) for depth in (0, 1, 2)),
        *(("yeast", {"delta": delta, "tau": 0.0}) for delta in (1e-7, 0.3, 0.9)),
        *(("rule", {"tau": tau, "delta": 1e-4}) for tau in (0.05, 0.5, 1.0)),
        *(("balance", {"grace_period": grace}) for grace in (1, 7.5, 60)),
        *(("segment", {"n_splits": n_splits}) for n_splits in (1, 3, 25)),
        *(("weighted", {"nb_threshold": threshold, "leaf_prediction": "nb"}) for threshold in (5, 30)),
        *(("uneven", {"min_branch_fraction": fraction}) for fraction in (0.3, 0.45)),
        *(("uneven", {"max_share_to_split": share}) for share in (0.5, 0.6)),
        ("points", {"merit_preprune": False, "tau": 0.0}),
        ("uneven", {"binary_split": True}),
        *(("yeast", {"feature_share": share, "n_learners": 4}) for share in (0.3, 0.7)),
        *(("uneven", {"feature_share": 0.5, "n_learners": 3, "seed": seed}) for seed in (2, 3)),
        *(("yeast", {"max_size": size, "n_learners": 3}) for size in (0.03, 0.05)),
        *(("uneven", {"max_size": size}) for size in (0.006, 0.01)),
        ("segment", {"n_learners": 4, "feature_share": 0.5, "n_jobs": 2}),
        ("uneven", {"nominal_attributes": ["whole"]}),
        ("balance", {"nominal_attributes": ["left_weight", "right_weight"], "binary_split": True}),
        ("abalone", {}),
        ("landsat", {}),
        ("gaps", {}),
    ]
    for name, changes in settings:
        add("alone", alone, "HoeffdingTrees", name, **changes)


def add_mondrian() -> None:
    settings: list[tuple[str, dict[str, Any]]] = [
        *(
            ("uneven", {"smoothing": smoothing, "split_pure": pure, "aggregate": aggregate})
            for smoothing, pure, aggregate in product((0.0, 1.0, 5.0), (False, True), (False, True))
        ),
        *(
            ("yeast", {"scale": scale, "smoothing": smoothing})
            for scale, smoothing in product(("range", "none"), (0, 1))
        ),
        *(("balance", {"dirichlet": dirichlet, "smoothing": 0.0}) for dirichlet in (0.01, 2.0)),
        *(("balance", {"dirichlet": dirichlet}) for dirichlet in (0.01, 2.0)),
        *(("rule", {"step": step}) for step in (0.1, 4.0)),
        *(("rule", {"max_nodes": nodes}) for nodes in (1, 30)),
        *(("uneven", {"max_size": size}) for size in (0.002, 0.01, 0.03)),
        *(("yeast", {"max_nodes": 50, "max_size": size}) for size in (0.02, 1.0)),
        ("landsat", {"n_jobs": 2}),
        *(("uneven", {"nominal_attributes": ["whole"], "seed": seed}) for seed in (0, 9)),
        *((name, {}) for name in ("abalone", "cars", "segment", "gaps", "weighted", "binary")),
    ]
    for name, changes in settings:
        add("alone", alone, "MondrianTrees", name, **changes)


def experts(kind: str, name: str, *, closed: bool = False, **parameters: Any) -> Fingerprint:
    """Exponential weights by themselves; what their class is made of follows from the kind."""
    given: dict[str, dict[str, Any]] = {
        "StumpExperts": {},
        "FiniteExperts": {"hypotheses": functions(3), "n_classes": 3},
        "MatrixExperts": {"features": ["a", "b"], "n_classes": 3},
        "LittlestoneExperts": {"table": LINE, "feature": "point"},
    }
    classes = stream(name).classes if closed else None
    model = getattr(ocoboost, kind)(**given[kind], classes=classes, **{"seed": 1} | parameters)
    found = take(model, name)
    return adding(found, {}, {"bound": [model.regret_bound(500), model.hypothesis_class_.log_size]})


def add_experts() -> None:
    rates: list[dict[str, Any]] = [{}, {"learning_rate": 0.3}, {"horizon": 220}]
    for votes, rate in product(("expected", "random"), rates):
        add("alone", experts, "StumpExperts", "rule", n_cells=7, votes=votes, **rate)
        add("alone", experts, "FiniteExperts", "rule", closed=True, votes=votes, **rate)
        add("alone", experts, "MatrixExperts", "weighted", closed=True, votes=votes, n_levels=2, **rate)
        add("alone", experts, "LittlestoneExperts", "points", closed=True, votes=votes, **rate)
    for n_cells, n_pieces in ((1, None), (4, 1), (5, 2), (16, None)):
        add("alone", experts, "StumpExperts", "gaps", n_cells=n_cells, n_pieces=n_pieces, low=-5.0, high=15.0)
    add("alone", experts, "StumpExperts", "yeast", n_cells=8, closed=True)
    add("alone", experts, "StumpExperts", "weighted", n_cells=12, low=0.2, high=0.7)
    add("alone", experts, "MatrixExperts", "rule", closed=True, n_levels=3)


# Accounts.


def accounted(
    regime: str, name: str, learner: str, comparator: str, *, most_rows: int | None = None, **changes: Any
) -> Fingerprint:
    """A booster's account against a class, or against the stream's labels without noise."""
    model = booster(regime, name, learner, **{"n_learners": 5} | changes)
    account = model.account(most_rows=most_rows)
    learn_all(model, stream(name))
    found = reported(account.report(stream(name).best if comparator == "best" else comparator_class(comparator)))
    verdicts, numbers = conditions_checked(account)
    return adding(found, {"conditions": shortened(verdicts, most=25)}, {"conditions": numbers})


def accounted_mixture(name: str, learner: str, member: int | None, **parameters: Any) -> Fingerprint:
    model = mixture("auto" if learner == "auto" else LEARNERS[learner](), **parameters)
    account = model.account()
    learn_all(model, stream(name))
    return reported(account.report(member=member))


def learn_all(model: Any, learned: Stream) -> None:
    half = len(learned.rows) // 2
    for part in (slice(half), slice(half, None)):
        given = {} if learned.weights is None else {"w": learned.weights[part]}
        model.learn_many(learned.as_table(learned.rows[part]), learned.labels[part], **given)


def reported(report: Any) -> Fingerprint:
    """All numbers of a report; its words may change."""
    plain = report.to_dict()
    parts, estimate, advantages = (plain.pop(name) for name in ("parts", "estimated_gamma", "advantages"))
    exact = {name: value for name, value in plain.items() if isinstance(value, int)}
    exact |= {"regime": plain["regime"], "relabel": plain["relabel"]}
    exact["known advantages"] = shortened([advantage is not None for advantage in advantages])
    numbers = {name: value for name, value in plain.items() if isinstance(value, float)} | parts
    numbers["estimated gamma"] = [] if estimate is None else list(estimate.values())
    numbers["advantages"] = [gist(list(advantage.values())) for advantage in advantages if advantage is not None][:8]
    return fingerprint(exact, numbers)


def add_accounts() -> None:
    for number, (regime, player, relabel) in enumerate(product(REGIMES, PLAYERS, ("fractional", "random"))):
        votes = ("label", "distribution")[number // 2 % 2]
        start = ("uniform", "label")[number // 4 % 2]
        learner = ("stump", "mondrian", "tree")[number % 3]
        choices = {"player": player, "relabel": relabel, "votes": votes, "start": start, "gamma": 0.4}
        add("account", accounted, regime, "rule", learner, "best", pool="label", **choices)
    for regime, comparator in product(REGIMES, ("constants", "stumps")):
        add("account", accounted, regime, "uneven", "tree", comparator, pool="distribution", relabel="random")
        add("account", accounted, regime, "weighted", "stumps", comparator, votes="distribution", gamma=1.0)
    for regime in REGIMES:
        add("account", accounted, regime, "clean", "stump", "best", gamma=0.2, n_learners=30)
        add("account", accounted, regime, "short", "river-bayes", "stumps", most_rows=40, n_learners=3)
    for name, member in (("uneven", None), ("rule", 0), ("rule", 5)):
        add("account of mixture", accounted_mixture, name, "auto", member, budget=15)
    add("account of mixture", accounted_mixture, "uneven", "stump", None, budget=12)


# Batch boosters.


def estimator(name: str) -> Any:
    """A weak learner for the batch boosters."""
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    if name == "default":
        return None
    if name.startswith("depth"):
        return ocoboost.HistogramTreeClassifier(max_depth=int(name[5:]), max_bins=16)
    return {
        "bayes": GaussianNB(),
        "neighbours": KNeighborsClassifier(n_neighbors=3),  # takes no weights
        "foreign-tree": DecisionTreeClassifier(max_depth=2, max_features=2),  # draws
    }[name]


def as_arrays(learned: Stream) -> tuple[Any, Any, Any, Any]:
    """Numbers, labels, weights and probes of a stream as scikit-learn takes them; text is left out."""
    names = sorted({name for x in learned.rows for name, value in x.items() if not isinstance(value, str)}, key=str)
    names = [name for name in names if not any(isinstance(x.get(name), str) for x in learned.rows)]
    X, probes = (
        np.array([[x.get(name) for name in names] for x in rows], dtype=np.float64)
        for rows in (learned.rows, learned.probes)
    )
    return X, np.array([str(label) for label in learned.labels]), learned.weights, probes


def batch(regime: str, name: str, learner: str, **parameters: Any) -> Fingerprint:
    kinds = {"agnostic": ocoboost.AgnosticBoostClassifier, "realizable": ocoboost.RealizableBoostClassifier}
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    settings = {"n_estimators": 12, "random_state": 1, "n_jobs": 1, "player": "gradient"} | parameters
    model = kinds[regime](estimator(learner), **settings).fit(X, y, sample_weight=weights)
    exact = {
        "predictions": learned.letters(model.predict(X)),
        "labels": learned.letters(model.predict(probes)),
        "drawn": [learned.letters(model.sample(probes, state)) for state in (None, 3)],
        "staged": digest([learned.letters(labels) for labels in model.staged_predict(X)]),
        "stages": model.n_estimators_,
    }
    floats = {
        "gamma": model.gamma_,
        "gamma scores": list(model.gamma_scores_.values()),
        "correlation": model.correlation(X, y, weights),
        "distributions": [gist(model.predict_proba(X)), *model.predict_proba(probes)[0]],
        "decisions": gist(model.decision_function(X)),
        "staged": gist([gist(distributions) for distributions in model.staged_predict_proba(X)]),
    }
    if isinstance(model.estimators_[0], ocoboost.HistogramTreeClassifier):
        trees = [histogram_tree(tree) for tree in model.estimators_]
        exact["trees"] = digest([arrays for arrays, _ in trees])
        floats["thresholds"] = gist(trees[0][1])
    return fingerprint(exact, floats)


def add_batch() -> None:
    for number, (regime, player, start) in enumerate(product(REGIMES, PLAYERS, ("uniform", "label"))):
        gamma = (0.1, 0.5, 0.03)[number % 3]
        n_drawn = (None, 80)[number // 2 % 2]
        add("batch", batch, regime, "balance", "depth2", player=player, start=start, gamma=gamma, n_drawn=n_drawn)
    for regime in REGIMES:
        for name in ("gaps", "segment", "abalone", "binary", "weighted"):
            add("batch", batch, regime, name, "default", gamma=None, start=None)
        for learner, n_drawn in (("bayes", None), ("bayes", 100), ("foreign-tree", None), ("neighbours", 60)):
            add("batch", batch, regime, "balance", learner, gamma=0.2, start="label", n_drawn=n_drawn, n_estimators=5)
        add("batch", batch, regime, "rule", "foreign-tree", gamma=0.2, start="uniform", n_estimators=6)
        add("batch", batch, regime, "rule", "depth1", gamma="auto", start="label", validation_fraction=0.2)
        add("batch", batch, regime, "rule", "depth1", gamma="auto", start="uniform", n_iter_no_change=4, n_drawn=90)
        for patience, tolerance in ((2, 1e-4), (3, 0.02)):
            stop = {"n_iter_no_change": patience, "tol": tolerance, "validation_fraction": 0.3, "n_estimators": 25}
            add("batch", batch, regime, "yeast", "depth2", gamma=0.2, start="label", **stop)
        add("batch", batch, regime, "weighted", "depth3", gamma=0.1, start="uniform", n_jobs=2, n_drawn=50)
        add("batch", batch, regime, "yeast", "depth3", gamma=0.1, start="label", n_jobs=2)
        add("batch", batch, regime, "clean", "depth2", gamma=0.9, start="uniform", random_state=7)


def lone_histogram_tree(name: str, **parameters: Any) -> Fingerprint:
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    model = ocoboost.HistogramTreeClassifier(**parameters).fit(X, y, sample_weight=weights)
    arrays, thresholds = histogram_tree(model)
    exact = {
        "predictions": learned.letters(model.predict(X)),
        "labels": learned.letters(model.predict(probes)),
        "features": shortened(arrays[0]),
        "tree": digest(arrays),
    }
    shares = model.predict_proba(probes)
    return fingerprint(exact, {"shares": [gist(shares), *shares[0]], "thresholds": gist(thresholds)})


def add_histogram_trees() -> None:
    for name, max_depth in product(("uneven", "yeast", "weighted"), (None, 1, 6)):
        add("histogram tree", lone_histogram_tree, name, max_depth=max_depth)
    for max_bins in (2, 7, 255):
        add("histogram tree", lone_histogram_tree, "abalone", max_bins=max_bins)
    add("histogram tree", lone_histogram_tree, "landsat", max_depth=4, max_bins=32)


# Players and their games by themselves.


def drawn_votes(n_steps: int, n_rows: int, n_classes: int, seed: int) -> Any:
    """Votes of learners, (steps, rows, classes): at first labels, later distributions."""
    draws = random.Random(seed)
    shares = np.array([draws.random() for _ in range(n_steps * n_rows * n_classes)]).reshape(n_steps, n_rows, n_classes)
    labels = np.eye(n_classes)[shares.argmax(axis=2)]
    distributions = shares / shares.sum(axis=2, keepdims=True)
    return np.where(np.arange(n_steps)[:, None, None] < n_steps // 2, labels, distributions)


def stepped(player: str, regime: str, *, n_classes: int, start: str, step: str, gamma: float = 0.4) -> Fingerprint:
    """The plays of six rows against votes."""
    n_steps, labels = 30, np.arange(6) % n_classes
    votes = drawn_votes(n_steps, len(labels), n_classes, seed=n_classes)
    play = begin_play(player, regime, labels, gamma=gamma, n_classes=n_classes, n_steps=n_steps, start=start, step=step)
    if regime == "agnostic":
        gradients = 2.0 * (votes / gamma - np.eye(n_classes)[labels])
    else:
        gradients = (2.0 * votes[:, np.arange(6), labels, None] - 1.0) / gamma - 1.0
    history = list(step_through(play, gradients))
    floats = {"promises": promises(play), "plays": [gist(plays) for plays in history[::5]], "last": history[-1][:2]}
    return fingerprint({}, floats)


def zero_sum(player: str, regime: str, *, start: str, gamma: float) -> Fingerprint:
    """The game of the batch boosters over ten rows."""
    labels, n_classes = np.arange(10) % 3, 3
    play = begin_play(player, regime, labels, gamma=gamma, n_classes=n_classes, n_steps=25, start=start, step="default")
    answers, plays, values = play_zero_sum(regime, play, labels, drawn_votes(12, 10, n_classes, seed=4) / gamma)
    return fingerprint({"answers": answers}, {"plays": [gist(plays), *plays[0]], "values": values})


def add_players() -> None:
    for player, regime, start in product(PLAYERS, REGIMES, ("uniform", "label")):
        for n_classes in (2, 5) if regime == "agnostic" else (3,):
            for step in ("default", "optimal") if player in ("gradient", "lazy") else ("default",):
                add("player", stepped, player, regime, n_classes=n_classes, start=start, step=step)
        add("zero-sum", zero_sum, player, regime, start=start, gamma=0.7 if start == "label" else 0.2)


# Bounds.


def all_theorems() -> Fingerprint:
    return fingerprint({}, theorem_bounds())


def all_player_bounds(player: str) -> Fingerprint:
    choices = product(REGIMES, ("uniform", "label"), (0.1, 1.0), (None, 0.2))
    return fingerprint({}, {"bounds": [player_bound(player, *chosen) for chosen in choices]})


def all_mixture_bounds() -> Fingerprint:
    choices = product((1, 2, 100, 1000, 100_000), (2, 12, 40))
    return fingerprint({}, {"bounds": [mixture_bound(*chosen) for chosen in choices]})


def all_rate_bounds() -> Fingerprint:
    rates = {f"{chosen}": rate_bounds(*chosen) for chosen in ((None, None), (0.3, None), (None, 500))}
    return fingerprint({}, rates | {"competitive": [*competitive_bounds(0.1), *competitive_bounds(1.0)]})


def add_bounds() -> None:
    add("bounds of theorems", all_theorems)
    add("bounds of mixtures", all_mixture_bounds)
    add("bounds of rates", all_rate_bounds)
    for player in PLAYERS:
        add("bounds of player", all_player_bounds, player)


# scikit-learn's protocol around the online boosters.


def wrapped(name: str, learner: str, *, n_calls: int = 1, closed: bool = False, **changes: Any) -> Fingerprint:
    """``fit``, or ``partial_fit`` in several calls, of an agnostic booster or of a mixture."""
    learned = stream(name)._replace(labels=[str(label) for label in stream(name).labels])
    X, y, weights, probes = as_arrays(learned)
    if learned.as_table is not list:
        X, probes = learned.as_table(learned.rows), learned.as_table(learned.probes)
    if learner == "mixture":
        model = sklearn_wrapper(mixture(budget=10, seed=None), 3)
    else:
        model = sklearn_wrapper(booster("agnostic", name, learner, **{"seed": None} | changes), 3)
    if n_calls == 1:
        model.fit(X, y, sample_weight=weights)
    else:
        edges = np.linspace(0, len(X), n_calls + 1).astype(int)
        for first, last in pairwise(edges):
            part = None if weights is None else weights[first:last]
            model.partial_fit(
                X[first:last], y[first:last], classes=learned.classes if closed else None, sample_weight=part
            )
    exact = {
        "classes": model.classes_.tolist(),
        "labels": learned.letters(model.predict(probes)),
        "predictions": learned.letters(model.predict(X)),
    }
    shares = model.predict_proba(probes)
    return fingerprint(exact, {"distributions": [gist(shares), *shares[0]]})


def add_wrapped() -> None:
    add("sklearn", wrapped, "yeast", "tree", gamma=0.3)
    add("sklearn", wrapped, "gaps", "mondrian", gamma=0.7, n_calls=3)
    add("sklearn", wrapped, "balance", "stump", n_calls=4, closed=True, seed=6)
    add("sklearn", wrapped, "weighted", "stump", relabel="random")
    add("sklearn", wrapped, "short", "sklearn-bayes", n_learners=2)
    add("sklearn", wrapped, "cars", "tree", start="label", n_calls=2)
    add("sklearn", wrapped, "balance", "mixture")
    add("sklearn", wrapped, "uneven", "mixture", n_calls=2)


for add_cases in (
    add_boosters,
    add_boosters_of_other_learners,
    add_mixtures,
    add_baselines,
    add_hoeffding,
    add_mondrian,
    add_experts,
    add_accounts,
    add_batch,
    add_histogram_trees,
    add_players,
    add_bounds,
    add_wrapped,
):
    add_cases()


# -- The file --------------------------------------------------------------------------------------------------------


def read() -> dict[str, Fingerprint]:
    """The fingerprints that are kept."""
    kept: dict[str, Fingerprint] = json.loads(DATA.read_text())
    return kept


def write() -> None:
    """Take all fingerprints."""
    lines = [f"{json.dumps(name)}: {json.dumps(CASES[name](), separators=(',', ':'))}" for name in sorted(CASES)]
    DATA.parent.mkdir(exist_ok=True)
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python tests/fingerprints.py --write")
    write()
    print(f"{len(CASES)} fingerprints in {DATA.stat().st_size:,} bytes")
