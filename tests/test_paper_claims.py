"""Statements of the paper, each test named after its theorem, lemma or remark.

Lemmas of the last appendix are checked by brute force, on votes that are labels, averages of labels, and arbitrary
distributions, for every label and a grid of gammas.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import tree

import naive
from boosters import relabelling
from ocoboost import OnlineAgnosticBoostClassifier
from ocoboost.bench import datasets
from ocoboost.cascade.cascade import Cascade
from ocoboost.cascade.regimes import AGNOSTIC, PAIRWISE, REALIZABLE, Regime, gradient_row
from ocoboost.oco.domains import Simplex, UnitInterval
from ocoboost.oco.losses import agnostic_gradient, realizable_gradient
from ocoboost.oco.players import PLAYERS, Game
from ocoboost.oco.projections import project_onto_simplex
from ocoboost.randomness import RELABEL, draw_label, uniform
from strategies import PLAYER_NAMES

GAMMAS = [0.01, 0.1, 0.3, 0.5, 0.9, 1.0]


def compositions(total: int, k: int) -> np.ndarray:
    """All points of the simplex whose coordinates are multiples of 1 / total."""
    grid = [c for c in itertools.product(range(total + 1), repeat=k) if sum(c) == total]
    return np.array(grid) / total


def averaged_votes() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    random = [rng.dirichlet(np.full(k, concentration)) for k in (2, 3, 6) for concentration in (0.2, 1.0, 5.0)]
    return [*compositions(6, 2), *compositions(6, 3), *compositions(4, 4), *random]


def papers_gradient(h: np.ndarray, label: int, gamma: float) -> np.ndarray:
    """The library's gradient, with the constant put back that turns it into the paper's."""
    out = np.empty(len(h))
    agnostic_gradient(h, label, gamma, out)
    return out - 1.0 / gamma + 1.0


def projected(point: np.ndarray) -> np.ndarray:
    out = point[None, :].copy()
    project_onto_simplex(out, out)
    return out[0]


def test_lemma_expectation_a_taught_label_has_the_play_as_its_mean():
    play = np.array([0.5, 0.0, 0.2, 0.3])
    n = 20_000
    drawn = np.zeros(4)
    for row in range(n):
        drawn[draw_label(play, uniform(np.uint64(5), RELABEL, row, 3))] += 1
    # Five standard errors of a proportion: a false alarm in 1 of 1.7 million, and the seed is fixed.
    assert np.abs(drawn / n - play).max() < 5 * np.sqrt(0.25 / n)
    assert drawn[1] == 0


def test_lemma_lowerbound():
    for k in (2, 3, 4):
        labels = np.eye(k)
        for h, y in itertools.product([*labels, *compositions(3, k)], labels):
            for p in compositions(5, k):
                assert p @ (2 * h - 2 * y) >= 2 * (h @ y - 1) - 1e-12


@pytest.mark.parametrize("gamma", GAMMAS)
def test_lemma_upperbound(gamma):
    for h in averaged_votes():
        for label in range(len(h)):
            # A linear function on the simplex is smallest at a vertex.
            smallest = papers_gradient(h, label, gamma).min()
            assert smallest <= 2 * (projected(h / gamma)[label] - 1) + 1e-9


@pytest.mark.parametrize("gamma", GAMMAS)
def test_lemma_upperbound_real(gamma):
    for h in averaged_votes():
        for label in range(len(h)):
            slope = np.empty(1)
            realizable_gradient(h, label, gamma, slope)
            assert min(slope[0], 0.0) <= 2 * (projected(h / gamma)[label] - 1) + 1e-9


@pytest.mark.parametrize("gamma", GAMMAS)
def test_lemma_equivalence(gamma):
    for h in averaged_votes():
        for label, y in enumerate(np.eye(len(h))):
            for p in (y, np.full(len(h), 1 / len(h)), h):
                left = p @ papers_gradient(h, label, gamma)
                right = (2 * p - 1) @ (h / gamma - y)
                assert left == pytest.approx(right, abs=1e-9)


@given(st.integers(2, 6), st.sampled_from(GAMMAS), st.integers(0, 2**32 - 1))
def test_our_gradients_are_the_papers_up_to_a_constant(k, gamma, seed):
    rng = np.random.default_rng(seed)
    for vote in (np.eye(k)[rng.integers(k)], rng.dirichlet(np.ones(k))):
        label = int(rng.integers(k))
        ours, slope = np.empty(k), np.empty(1)
        agnostic_gradient(vote, label, gamma, ours)
        papers = (2 * vote - 1) / gamma - (2 * np.eye(k)[label] - 1)
        assert np.ptp(papers - ours) == pytest.approx(0.0, abs=1e-9)
        realizable_gradient(vote, label, gamma, slope)
        assert slope[0] == pytest.approx((2 * vote[label] - 1) / gamma - 1)


def test_remark_small_gamma_predicts_the_plurality():
    for h in averaged_votes():
        ordered = np.sort(h)
        if ordered[-1] - ordered[-2] > 0.01:
            assert projected(h / 0.01)[np.argmax(h)] == pytest.approx(1.0)


class Scripted:
    """A weak ensemble that votes as it is told, and remembers what it was taught."""

    name = "script"
    takes_weights = True
    max_classes = None

    def __init__(self, votes: np.ndarray) -> None:
        self.votes = votes  # (rows, learners)
        self.taught = np.zeros((*votes.shape, 2))

    def prepare(self, block, *, learning):
        return block

    def vote_and_learn(self, learner, block, label_weights, out):
        self.taught[:, learner] = label_weights
        out[:] = np.eye(out.shape[1])[self.votes[:, learner]]


@pytest.mark.parametrize("relabel", ["fractional", "random"])
@pytest.mark.parametrize("gamma", [0.1, 0.3, 0.7, 1.0])
def test_with_two_classes_algorithm_1_is_the_binary_booster_of_brukhim_et_al(gamma, relabel):
    n_rows, n_learners, seed = 60, 40, 2
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=n_rows)
    skill = rng.random((n_rows, 1))
    votes = np.where(rng.random((n_rows, n_learners)) < skill, labels[:, None], 1 - labels[:, None])
    draws = np.array([[uniform(np.uint64(seed), RELABEL, r, i) for i in range(n_learners)] for r in range(n_rows)])
    # Their uniform draw means "the true label": ours meets label 0 first, so rows of label 1 see 1 - u.
    chance, plays, taught = naive.binary_boost(
        2 * votes - 1,
        2 * labels - 1,
        np.where(labels[:, None] == 0, draws, 1.0 - draws),
        gamma=gamma,
        step_size=2 * gamma / np.sqrt(n_learners),  # their interval is twice as long as our simplex is high
    )

    script = Scripted(votes)
    cells = relabelling(AGNOSTIC, gamma=gamma, n_learners=n_learners, relabel=relabel, seed=seed)
    answers = Cascade(cells, script).learn(range(n_rows), labels, np.ones(n_rows), n_classes=2, first_row=0)
    if relabel == "fractional":
        true_share = script.taught[np.arange(n_rows), :, labels]
        np.testing.assert_allclose(true_share, (1 + plays) / 2, atol=1e-12)
    else:
        np.testing.assert_array_equal(2 * script.taught.argmax(axis=2) - 1, taught)
    np.testing.assert_allclose(answers.distributions[:, 1], chance, atol=1e-12)


def adversarial(plays: np.ndarray, label: int, k: int) -> int:
    """Votes for what the player trusts most: correct when it believes the label, wrong when it does not."""
    if len(plays) == 1:
        return label if plays[0] > 0.5 else (label + 1) % k
    return int(np.argmax(plays))


def vote_sequences(k: int, n: int) -> dict[str, object]:
    rng = np.random.default_rng(k * 1000 + n)
    learning = rng.random(n) < np.linspace(1 / k, 0.9, n)
    wrong = rng.integers(1, k, size=n)
    return {
        "adversarial": None,
        "random": rng.integers(k, size=n),
        "always right": np.zeros(n, dtype=int),
        "always wrong": np.ones(n, dtype=int),
        "first half wrong": (np.arange(n) < n / 2).astype(int),
        "getting better": np.where(learning, 0, wrong),
        "distributions": rng.dirichlet(np.ones(k), size=n),
    }


def measured_regret(player, regime, *, gamma, k, n, start, votes, step):
    game = regime.game(gamma=gamma, n_classes=k, n_learners=n)
    point = regime.starts(k, start=start, is_entropic=player.is_entropic, centre=game.domain.centre())[0]
    paper_step = step == "paper" and player.uses_paper_step
    step_size = gamma / np.sqrt(n) if paper_step else player.optimal_step(game, point)
    plays = point[None, :].copy()
    memory = player.begin(game.domain, plays)
    gradients = np.empty_like(plays)
    total, suffered = np.zeros(len(point)), 0.0
    for i in range(n):
        vote = adversarial(plays[0], 0, k) if votes is None else votes[i]
        vote = np.eye(k)[vote] if np.ndim(vote) == 0 else vote
        gradient_row(regime.code, vote, 0, gamma, gradients[0])
        suffered += float(gradients[0] @ plays[0])
        total += gradients[0]
        player.step(game, plays, memory, gradients, step_size, i)
    best = min(total[0], 0.0) if game.domain.is_interval else total.min()
    return suffered - best, player.regret_bound(game, point, step_size)


@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("regime", [Regime(AGNOSTIC), Regime(REALIZABLE), Regime(PAIRWISE)], ids=str)
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_every_players_regret_stays_under_its_bound(name, regime, start):
    for k, n, gamma in itertools.product((2, 3, 7), (1, 2, 10, 100), (0.1, 0.5, 1.0)):
        for votes in vote_sequences(k, n).values():
            for step in ("paper", "optimal"):
                regret, bound = measured_regret(
                    PLAYERS[name], regime, gamma=gamma, k=k, n=n, start=start, votes=votes, step=step
                )
                assert regret <= bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("name", PLAYER_NAMES)
@given(data=st.data())
def test_regret_bounds_hold_for_any_gradients_within_the_games_limits(name, start, data):
    """Beyond votes: arbitrary bounded gradients, on both domains."""
    player = PLAYERS[name]
    domain = data.draw(st.sampled_from([Simplex(2), Simplex(4), UnitInterval()]))
    n = data.draw(st.integers(1, 12))
    cells = st.lists(st.floats(-1, 1), min_size=domain.dimension, max_size=domain.dimension)
    gradients = np.array(data.draw(st.lists(cells, min_size=n, max_size=n)))
    centred = gradients if domain.is_interval else gradients - gradients.mean(axis=1, keepdims=True)
    spread = np.abs(gradients).max() if domain.is_interval else np.ptp(gradients, axis=1).max()
    game = Game(domain, n, float(np.linalg.norm(centred, axis=1).max()), float(spread))
    if min(game.gradient_bound, game.gradient_range) < 1e-6:
        return  # nothing is at stake
    regime = Regime(REALIZABLE if domain.is_interval else AGNOSTIC)
    n_classes = max(domain.dimension, 2)
    point = regime.starts(n_classes, start=start, is_entropic=player.is_entropic, centre=domain.centre())[0]
    step_size = player.optimal_step(game, point)
    plays = point[None, :].copy()
    memory = player.begin(domain, plays)
    suffered = 0.0
    for i in range(n):
        suffered += float(gradients[i] @ plays[0])
        player.step(game, plays, memory, gradients[i : i + 1], step_size, i)
    total = gradients.sum(axis=0)
    best = min(total[0], 0.0) if domain.is_interval else total.min()
    assert suffered - best <= player.regret_bound(game, point, step_size) + 1e-12


@pytest.mark.parametrize("start", ["uniform", "label"])
@pytest.mark.parametrize("name", PLAYER_NAMES)
def test_bounds_hold_on_the_votes_of_real_trees(name, start, tree_votes):
    votes, labels = tree_votes
    for regime in (Regime(AGNOSTIC), Regime(REALIZABLE), Regime(PAIRWISE)):
        for row in range(0, len(votes), 5):
            # The game is symmetric in the labels, so the true one may be called 0.
            relabelled = np.where(votes[row] == labels[row], 0, 1 + (votes[row] + 6 - labels[row]) % 6)
            regret, bound = measured_regret(
                PLAYERS[name], regime, gamma=0.3, k=7, n=votes.shape[1], start=start, votes=relabelled, step="paper"
            )
            assert regret <= bound * (1 + 1e-12)


@pytest.fixture(scope="module")
def tree_votes() -> tuple[np.ndarray, np.ndarray]:
    """The votes (rows, learners) of boosted River trees on the Segment stream, and its labels."""
    rows = datasets.shuffled(datasets.load("segment"), 1)[:150]
    stump = tree.HoeffdingTreeClassifier(max_depth=1)
    model = OnlineAgnosticBoostClassifier(stump, n_learners=10, gamma=0.3, start="label", seed=1)
    model.learn_many([x for x, _ in rows], [y for _, y in rows])
    state = model.state_
    block = [x for x, _ in rows]
    votes = np.empty((len(rows), len(state.labels)))
    columns = []
    for learner in range(10):
        state.engine.cascades[0].ensemble.vote(learner, block, votes)
        columns.append(votes.argmax(axis=1))
    return np.array(columns).T, state.labels.indices([y for _, y in rows])
