"""The theorems, corollaries and propositions of the paper, each measured on both sides.

A statement about an expectation is tested on the mean over seeds, with a tolerance of five standard errors: if a
statement were true with equality, a test would fail by chance with probability 3e-7 (one-sided, normal). Seeds are
fixed. The lemmas of the last appendix are in ``test_paper_claims``; the inequality behind Theorem 1 is tested on single
runs, without any tolerance, in ``theory/test_account``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from boosters import relabelling
from ocoboost import HoeffdingTrees, OnlineAgnosticBoostClassifier, OnlineRealizableBoostClassifier, StumpExperts
from ocoboost.bench import synthetic
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, REALIZABLE, Regime
from ocoboost.learners.experts.hypotheses import Best
from ocoboost.learners.experts.stumps import StumpClass
from ocoboost.oco.domains import Simplex
from ocoboost.oco.players import PLAYERS, Game
from ocoboost.theory import bounds
from ocoboost.theory.checks import check, check_run
from ocoboost.theory.conditions import AgnosticBatch, Asymmetric, Guessing, OneVsAll, OneVsOne, Plain, RealizableBatch

CLASSES = synthetic.RULE_CLASSES
STUMPS = StumpClass(n_features=3, n_classes=3, n_cells=synthetic.RULE_CELLS)
PAPERS_OWN = {"relabel": "random", "votes": "label", "pool": "label", "start": "uniform", "classes": CLASSES}


def assert_mean_at_most(values, limit):
    """The mean of independent runs is at most ``limit``, up to five standard errors."""
    values = np.array(values)
    assert values.mean() <= limit + 5 * values.std(ddof=1) / np.sqrt(len(values)) + 1e-12


def run(booster, learner, stream, seed, *, n_rows, **choices):
    """A booster's account on a stream, or against the adversary that sees its votes."""
    model = booster(learner, seed=seed, **{**PAPERS_OWN, **choices})
    account = model.account(STUMPS)
    if stream == "adaptive":
        synthetic.play_adaptive(model, n_rows, seed)
    else:
        rows = synthetic.load(stream, n_rows, seed).rows
        model.learn_many([x for x, _ in rows], [y for _, y in rows])
    return account


@pytest.mark.parametrize("stream", ["noisy", "class noise", "oblivious", "drifting", "adaptive"])
def test_theorem_1_regret_bound(stream):
    """Learners that keep the condition whatever the labels: exponential weights over all stumps, gamma = 1."""
    n_rows, n_learners = 400, 12
    learner = StumpExperts(n_cells=synthetic.RULE_CELLS, votes="random", horizon=n_rows)
    choices = {"gamma": 1.0, "n_learners": n_learners, "n_rows": n_rows}
    accounts = [run(OnlineAgnosticBoostClassifier, learner, stream, seed, **choices) for seed in range(12)]
    reports = [account.report() for account in accounts]
    weak_regret = learner.regret_bound(n_rows, n_features=3, n_classes=3)
    player_regret = bounds.player_regret_bound(gamma=1.0, n_classes=3, n_learners=n_learners)
    bound = bounds.agnostic_gain_regret_bound(
        weak_regret=weak_regret, player_regret=player_regret, gamma=1.0, n_rounds=n_rows, n_learners=n_learners
    )
    regrets = [report.regret for report in reports]
    assert_mean_at_most(regrets, bound)
    # Tighter: the players' regret as it was.
    assert_mean_at_most([report.regret - report.parts.players for report in reports], weak_regret / n_rows)
    # The learners keep their promise, on every learner's own best stump.
    slacks = [[one.slack for one in check_run(account, Plain(), STUMPS)] for account in accounts[:4]]
    assert_mean_at_most(np.ravel(slacks), weak_regret)
    # And in mistakes.
    half = bounds.agnostic_mistake_regret_bound(
        weak_regret=weak_regret, player_regret=player_regret, gamma=1.0, n_rounds=n_rows, n_learners=n_learners
    )
    assert_mean_at_most([report.comparator_accuracy - report.accuracy for report in reports], half)


CONDITIONS = {
    "test_theorem_1 (one-vs-one)": OneVsOne(),
    "proposition for Definition 5 (plain)": Plain(),
    "proposition for Definition 7 (asymmetric)": Asymmetric(),
    "proposition for Definition 6 (one-vs-all)": OneVsAll(),
    "guessing (ours)": Guessing(),
}


@pytest.fixture(scope="module")
def tree_runs():
    """Boosted trees, which promise nothing: their regret is measured. By gamma: 8 accounts."""
    learner = HoeffdingTrees(grace_period=20, delta=0.1, tau=0.2)
    return {
        gamma: [
            run(OnlineAgnosticBoostClassifier, learner, "noisy", seed, gamma=gamma, n_learners=15, n_rows=400)
            for seed in range(8)
        ]
        for gamma in (0.3, 0.7, 1.0)
    }


@pytest.mark.parametrize("gamma", [0.3, 0.7, 1.0])
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS.keys())
def test_propositions_for_the_alternative_conditions(condition, gamma, tree_runs):
    """The bound with R_W as measured: what the condition needs on what the learners were taught."""
    excess = []
    for account in tree_runs[gamma]:
        report = account.report()
        weak_regret = float(np.mean([one.slack for one in check_run(account, condition, STUMPS)]))
        known = {"gamma": gamma, "n_rounds": report.n_rows, "n_learners": report.n_learners}
        known |= {"weak_regret": weak_regret, "player_regret": report.parts.players * report.n_learners}
        if isinstance(condition, OneVsAll):
            bound = bounds.one_vs_all_gain_regret_bound(**known, n_classes=3)
        elif isinstance(condition, Guessing):
            bound = bounds.guessing_gain_regret_bound(**known, n_classes=3)
        else:
            bound = bounds.agnostic_gain_regret_bound(**known)
        excess.append(report.regret - bound)
    assert_mean_at_most(excess, 0.0)


def test_section_3_with_n_equal_to_t_over_gamma_squared_the_players_cost_as_much_as_the_square_root_of_t():
    by_gamma = []
    for gamma in (0.1, 0.3, 1.0):
        totals = []
        for n_rows in (100, 1000, 10_000):
            n_learners = bounds.learners_for_rate(n_rounds=n_rows, gamma=gamma)
            cost = bounds.player_regret_bound(gamma=gamma, n_classes=5, n_learners=n_learners) / n_learners
            totals.append(n_rows * cost / np.sqrt(n_rows))
        assert max(totals) / min(totals) < 1.02
        by_gamma.append(totals[-1])
        n_learners = bounds.learners_for_error(error=0.1, gamma=gamma, n_classes=5)
        assert bounds.player_regret_bound(gamma=gamma, n_classes=5, n_learners=n_learners) / n_learners <= 0.1
        assert 4.0 < n_learners * gamma**2 * 0.1**2 < 20.0  # O(1 / (gamma epsilon)^2)
    assert max(by_gamma) < 4.5  # for every gamma: R^2 / 2 + 4 at most, because G is O(1 / gamma) and cancels


@pytest.mark.parametrize("gamma", [0.5, 0.8])
@pytest.mark.parametrize("relabel", ["random", "fractional"])
def test_corollary_mistake_bound_of_algorithm_4(gamma, relabel):
    """Exponential weights gain n - c sqrt(n) on n realizable rows, so at least gamma n - c^2 / (4 (1 - gamma))."""
    n_rows, n_learners = 800, 20
    learner = StumpExperts(n_cells=synthetic.RULE_CELLS, votes="random")
    constant = learner.regret_bound(1, n_features=3, n_classes=3)
    weak_regret = constant**2 / (4 * (1 - gamma))
    choices = {"gamma": gamma, "n_learners": n_learners, "n_rows": n_rows, "relabel": relabel}
    accounts = [
        run(OnlineRealizableBoostClassifier, learner, "realizable", seed, **choices).report() for seed in range(6)
    ]
    player_regret = bounds.player_regret_bound(
        gamma=gamma, n_classes=3, n_learners=n_learners, regime=Regime(REALIZABLE)
    )
    known = {"weak_regret": weak_regret, "gamma": gamma, "n_rounds": n_rows, "n_learners": n_learners}
    gain = bounds.realizable_gain_bound(player_regret=player_regret, **known)
    mistakes = bounds.realizable_mistake_bound(player_regret=player_regret, **known)
    assert mistakes == pytest.approx(n_rows * (1 - gain) / 2)
    assert_mean_at_most([-(2 * report.accuracy - 1) for report in accounts], -gain)
    assert_mean_at_most([n_rows * (1 - report.accuracy) for report in accounts], mistakes)
    # Tighter, with the players' regret as it was.
    measured = [(1 - report.accuracy) * 2 - report.parts.players for report in accounts]
    assert_mean_at_most(measured, weak_regret / (gamma * n_rows))
    # The lemma on weighted rows: in expectation R_W itself is enough, without a factor of 2 and without sqrt(T).
    assert_mean_at_most([gamma * n_rows * report.parts.learners for report in accounts], weak_regret)


# -- the batch setting -------------------------------------------------------------------------------------------------


class Fitted:
    """Weak learners of a batch booster: the best hypothesis of a class on a sample of what is taught."""

    name = "fitted"
    takes_weights = True
    max_classes = None

    def __init__(self, hypotheses, n_drawn, seed):
        self.hypotheses, self.n_drawn = hypotheses, n_drawn
        self.rng = np.random.default_rng(seed)
        self.votes, self.taught = [], []

    def prepare(self, block, *, learning):
        return block

    def vote_and_learn(self, learner, block, label_weights, out):
        mass = label_weights.sum(axis=1)
        counts = self.rng.multinomial(self.n_drawn, mass / mass.sum()) if mass.sum() > 0 else np.zeros(len(mass))
        drawn = label_weights / np.where(mass > 0, mass, 1)[:, None] * counts[:, None]
        out[:] = np.eye(out.shape[1])[self.hypotheses.best_in_class(block, drawn).hypothesis(block)]
        self.votes.append(out.copy())
        self.taught.append(label_weights.copy())


def batch(regime, hypotheses, stream, seed, *, gamma, n_learners, n_samples=200, n_drawn=100):
    rows = synthetic.load(stream, n_samples, seed).rows
    X = np.array([list(x.values()) for x, _ in rows])
    labels = np.array([CLASSES.index(y) for _, y in rows])
    relabel = "fractional" if regime == REALIZABLE else "random"  # there rows are drawn in proportion to the plays
    cells = relabelling(regime, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
    learners = Fitted(hypotheses, n_drawn, seed)
    answers = Cascade(cells, learners).learn(X, labels, np.ones(n_samples), n_classes=3, first_row=0)
    chances = answers.distributions[np.arange(n_samples), labels]
    best = hypotheses.best_in_class(X, np.eye(3)[labels]).value / n_samples
    return X, labels, learners, 2 * chances.mean() - 1, 2 * best - 1


def rule(X):
    """What the best hypothesis of the streams says."""
    return np.where(X[:, 0] <= 0.375, 0, np.where(X[:, 0] <= 0.625, 2, 1))


class TheRule:
    """A class of one hypothesis, the stream's own rule; with constants epsilon_0 would make the bound say nothing."""

    def best_in_class(self, X, gains):
        return Best(float(gains[np.arange(len(X)), rule(X)].sum()), rule)


@pytest.mark.parametrize("gamma", [0.8, 1.0])
def test_corollary_agnostic_correlation_bound_of_algorithm_2(gamma):
    """Three labels, epsilon_0 as measured on the relabelled samples, against the rule. Two: test_below_gamma_one."""
    n_learners = 300
    player_regret = bounds.player_regret_bound(gamma=gamma, n_classes=3, n_learners=n_learners)
    excess = []
    for seed in range(4):
        X, labels, learners, correlation, _ = batch(
            AGNOSTIC, STUMPS, "noisy", seed, gamma=gamma, n_learners=n_learners, n_drawn=1000
        )
        slacks = [
            check(AgnosticBatch(), X, votes, taught, TheRule(), gamma=gamma).slack_per_row
            for votes, taught in zip(learners.votes, learners.taught, strict=True)
        ]
        best = 2 * np.mean(rule(X) == labels) - 1
        bound = bounds.agnostic_correlation_bound(
            best_correlation=best,
            player_regret=player_regret,
            weak_slack=float(np.mean(slacks)),
            gamma=gamma,
            n_learners=n_learners,
            n_classes=3,
        )
        commonest = 2 * np.bincount(labels).max() / len(labels) - 1
        assert bound > max(commonest, 2 / 3 - 1)  # content: better than any constant, and than guessing
        excess.append(bound - correlation)
    assert_mean_at_most(excess, 0.0)


def test_corollary_realizable_correlation_bound_of_algorithm_5():
    """Stumps of two pieces for a rule of three: gamma is what they reached on the weights they met."""
    two_pieces = StumpClass(n_features=3, n_classes=3, n_cells=synthetic.RULE_CELLS, n_pieces=2)
    gamma, n_learners = 0.15, 60
    excess = []
    for seed in range(8):
        X, _, learners, correlation, best = batch(
            REALIZABLE, two_pieces, "realizable", seed, gamma=gamma, n_learners=n_learners, n_drawn=2000
        )
        assert best < 1  # the learners' own class does not hold the rule
        reached = [
            check(RealizableBatch(), X, votes, taught, STUMPS).outcomes[0].estimated_gamma.estimated_gamma
            for votes, taught in zip(learners.votes, learners.taught, strict=True)
        ]
        assert min(reached) >= gamma  # so the condition held
        player_regret = bounds.player_regret_bound(
            gamma=gamma, n_classes=3, n_learners=n_learners, regime=Regime(REALIZABLE)
        )
        excess.append(
            bounds.realizable_correlation_bound(player_regret=player_regret, n_learners=n_learners) - correlation
        )
    assert_mean_at_most(excess, 0.0)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("oracle_slack", [0.0, 0.3])
def test_proposition_improper_game_playing(seed, oracle_slack):
    """m bilinear games at once; B answers within ``oracle_slack`` of the best, and may leave its domain. No chance."""
    rng = np.random.default_rng(seed)
    n_games, n_moves, n_answers, n_rounds = 3, 3, 4, 60
    payoffs = rng.uniform(-1, 1, size=(n_games, n_moves, n_answers))
    domain, player = Simplex(n_moves), PLAYERS["gradient"]
    # The value: max over q of the sum of the games' minima.
    objective = np.concatenate([np.zeros(n_answers), -np.ones(n_games)])
    above = np.zeros((n_games * n_moves, n_answers + n_games))
    for game_number in range(n_games):
        rows = slice(game_number * n_moves, (game_number + 1) * n_moves)
        above[rows, :n_answers] = -payoffs[game_number]
        above[rows, n_answers + game_number] = 1.0
    sums_to_one = np.concatenate([np.ones(n_answers), np.zeros(n_games)])[None]
    limits = [(0, 1)] * n_answers + [(None, None)] * n_games
    value = -linprog(objective, above, np.zeros(len(above)), sums_to_one, [1.0], bounds=limits).fun

    norm = 1.5 * np.linalg.norm(payoffs, axis=1).max()
    game = Game(domain, n_rounds, float(norm), float(2 * 1.5))
    plays = np.tile(domain.centre(), (n_games, 1))
    memory = player.begin(domain, plays)
    step = player.optimal_step(game, domain.centre())
    answers = np.zeros((n_rounds, n_answers))
    for turn in range(n_rounds):
        gains = np.einsum("ij,ijk->k", plays, payoffs)
        good = np.flatnonzero(gains >= gains.max() - oracle_slack)
        answers[turn, rng.choice(good)] = 1.0
        if answers[turn] @ gains > 0 and rng.random() < 0.5:
            answers[turn] *= 1.5  # outside of its domain, for a better payoff
        player.step(game, plays, memory, payoffs @ answers[turn], step, turn)
    mean = answers.mean(axis=0)
    payoff = (payoffs @ mean).min(axis=1).sum()  # against the worst P
    regret = player.regret_bound(game, domain.centre(), step)
    assert value <= bounds.game_value_bound(
        payoff=payoff, player_regret=regret, n_rounds=n_rounds, n_games=n_games, oracle_slack=oracle_slack
    )
