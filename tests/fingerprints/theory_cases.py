"""Cases: accounts, players, games and bounds."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np

from fingerprints.gists import PLAYERS, Fingerprint, fingerprint, gist, shortened
from fingerprints.inside import (
    begin_play,
    comparator_class,
    competitive_bounds,
    conditions_checked,
    mixture,
    mixture_bound,
    play_zero_sum,
    player_bound,
    promises,
    rate_bounds,
    step_through,
    theorem_bounds,
)
from fingerprints.learners import LEARNERS
from fingerprints.online_cases import REGIMES, booster
from fingerprints.streams import Stream, stream
from fingerprints.table import add
from fingerprints.taking import adding


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


def add_all() -> None:
    """Put the cases of this file into the table."""
    add_accounts()
    add_players()
    add_bounds()
