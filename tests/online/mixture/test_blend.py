"""One row through all blends: against a twin; the label that is voted for is the most probable one; what is refused."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive
from ocoboost.online.mixture import bayes, blend, pools, quick, reshaping, slow, steady, sureness, tournament
from ocoboost.online.mixture.agreeing import agree
from ocoboost.online.mixture.blend import check, first_weights, make_scratch, mode_of, n_bytes_of, plan_for
from ocoboost.online.mixture.drift import first_watch

pytestmark = pytest.mark.kernels

distributions = st.lists(st.integers(1, 20), min_size=1, max_size=6).map(lambda counts: np.array(counts) / sum(counts))


@settings(max_examples=300)
@given(distributions, st.integers(0, 5))
@example(np.array([0.5, 0.5]), 1)
@example(np.array([0.3, np.nextafter(0.3, 1), 0.4 - 1e-17]), 0)
@example(np.array([0.1, 0.1, 0.1, 0.1, 0.1, 0.5]), 3)
@example(np.array([1 / 3, np.nextafter(1 / 3, 1), 1 / 3]), 0)
def test_the_label_becomes_the_mode_at_the_least_cost(probabilities, label):
    label %= probabilities.size
    after = probabilities.copy()
    agree(after, label)
    others = np.delete(after, label)
    assert np.all(others < after[label])
    assert after.sum() == pytest.approx(probabilities.sum(), abs=1e-15)
    assert after.min() > 0.0
    if np.all(np.delete(probabilities, label) < probabilities[label]):
        np.testing.assert_array_equal(after, probabilities)
        return
    np.testing.assert_allclose(after, _cheapest(probabilities, label), atol=1e-7)


def _cheapest(probabilities, label):
    """Of all ways to bring some labels level with this one, the one with the least relative entropy that does it."""
    others = [j for j in range(probabilities.size) if j != label]
    best, cost = probabilities, np.inf
    for size in range(len(others) + 1):
        for chosen in combinations(others, size):
            level = [label, *chosen]
            candidate = probabilities.copy()
            candidate[level] = probabilities[level].mean()
            entropy = float(np.sum(probabilities * np.log(probabilities / candidate)))
            if np.all(candidate <= candidate[label] + 1e-12) and entropy < cost - 1e-12:
                best, cost = candidate, entropy
    return best


def test_ties_go_to_the_higher_priority_then_to_the_lowest_index():
    assert mode_of(np.array([0.2, 0.4, 0.4]), np.array([0.9, 0.1, 0.2])) == 2
    assert mode_of(np.array([0.2, 0.4, 0.4]), np.array([0.9, 0.2, 0.2])) == 1
    assert mode_of(np.array([0.5, 0.4, 0.1]), np.array([0.0, 0.2, 0.9])) == 0
    assert mode_of(np.array([1.0]), np.array([1.0])) == 0


GAMMAS, N_SLOW, N_AGES = [0.4, 1.0, 1.0, 1.0, 1.0], 2, 1


def run(answers, awake, labels, row_weights, cuts=()):
    plan = plan_for(GAMMAS, N_SLOW, N_AGES, N_AGES)
    weights, scratch = first_weights(plan, mean=1), make_scratch(plan, answers.shape[2])
    watch = first_watch(N_AGES)
    out = [np.empty(answers.shape[1:]) for _ in range(3)]
    edges = [0, *cuts, answers.shape[1]]
    for first, last in pairwise(edges):
        rows = slice(first, last)
        block, there = np.ascontiguousarray(answers[:, rows]), np.ascontiguousarray(awake[:, rows])
        made = [array[rows] for array in out]
        blend.blend_rows(block, there, labels[rows], row_weights[rows], first, plan, weights, watch, scratch, *made)
    return weights, out


def case(seed, n_rows=150, n_classes=3):
    draw = np.random.default_rng(seed)
    answers = draw.dirichlet(np.full(n_classes, 0.7), size=(len(GAMMAS), n_rows))
    labels = answers[2].argmax(axis=1)
    labels[n_rows // 2 :] = answers[1, n_rows // 2 :].argmax(axis=1)
    awake = (draw.random((len(GAMMAS), n_rows)) < 0.7).astype(np.int64)
    awake[:N_SLOW] = 1
    answers[awake == 0] = 0.0
    return answers, awake, labels, draw.choice([0.0, 0.5, 1.0, 1.0], size=n_rows)


def sharp(answer):
    return naive.project_sorted(answer / slow.SHARP_GAMMA)


def naive_run(answers, awake, labels, row_weights):
    """All of it by numpy from the parts, which have twins of their own."""
    plan = plan_for(GAMMAS, N_SLOW, N_AGES, N_AGES)
    weights, heaviest, outs = first_weights(plan, mean=1), 0.0, []
    for row, label in enumerate(labels):
        there = awake[:, row]
        said = answers[:, row]
        experts = [naive.project_sorted(said[m] / GAMMAS[m]) for m in range(N_SLOW)]
        experts += [sharp(said[m]) for m in range(N_SLOW)]
        experts += [said[m] for m in range(N_SLOW, 5)] + [sharp(said[2])]
        experts, origin = np.array(experts), np.array([0, 1, 0, 1, 2, 3, 4, 2])
        up = there[origin]
        logs = np.zeros(said.shape)
        pools.take_logs(said, there, logs)
        pooled = np.empty((len(pools.STEPS), said.shape[1]))
        pools.multiply(logs, there, weights.pools, pooled)
        rows = [weights.slow @ experts[: 2 * N_SLOW]]
        rows += [(pace * up) @ experts / (pace * up).sum() for pace in weights.quick]
        blends = np.array([*rows, *pooled])
        tempered = np.empty((bayes.N_EXPERTS, said.shape[1]))
        bayes.temper(blends, tempered)
        probabilities = weights.bayes @ tempered
        made = [answer for blended in (*pooled, probabilities) for answer in (blended, sharp(blended))]
        settled = np.array([*experts[: 2 * N_SLOW], sharp(said[3]), *made])
        here = np.array([*[1] * 2 * N_SLOW, there[3], *[1] * len(made)])
        blends = np.vstack([blends, probabilities, (weights.steady * here) @ settled / (weights.steady * here).sum()])
        voting = np.concatenate([np.ones(blend.N_BLENDS, dtype=np.int64), there])
        voters = np.empty(plan.prior.size)
        tournament.weigh_voters(row, plan.prior, voting, weights.regret, weights.travelled, voters)
        every = np.vstack([blends, said])
        votes = every.argmax(axis=1)
        shares, D = voters @ every, np.bincount(votes, voters, minlength=said.shape[1])
        sharpened, reshaped = np.empty((len(reshaping.POWERS), said.shape[1])), np.empty(said.shape[1])
        reshaping.reshape(probabilities, D, weights.reshaping, sharpened, reshaped)
        doubts, likeliest = np.empty(weights.sureness.shape), np.empty(1, dtype=np.int64)
        sureness.reckon(reshaped, weights.sureness, doubts, likeliest)
        outs.append((D, shares, reshaped))
        weight = row_weights[row]
        heaviest = max(heaviest, weight)
        relative = weight / heaviest if weight else 0.0
        slow.settle(experts, label, weight, row, weights.slow)
        quick.switch(experts, up, label, relative, row, weights.quick)
        pools.descend(logs, there, pooled, label, relative, weights.pools)
        bayes.update(tempered, label, relative, weights.bayes)
        reshaping.update(sharpened, D[label], label, relative, weights.reshaping)
        sureness.update(doubts, likeliest, label, relative, weights.sureness)
        steady.settle(settled, here, label, relative, row, weights.steady)
        tournament.count_mistakes(
            row, votes, voting, label, 1.0 - D[label], relative, weights.regret, weights.travelled
        )
    return weights, [np.array(column) for column in zip(*outs, strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_a_row_goes_through_all_blends_as_in_the_twin(seed):
    weights, (votes, shares, probabilities) = run(*case(seed))
    expected_weights, (expected_votes, expected_shares, expected) = naive_run(*case(seed))
    np.testing.assert_allclose(votes, expected_votes, atol=1e-9)
    np.testing.assert_allclose(shares, expected_shares, atol=1e-9)
    for own, other in zip(weights[:-1], expected_weights[:-1], strict=True):
        np.testing.assert_allclose(own, other, atol=1e-9)
    for row, label in enumerate(votes.argmax(axis=1)):
        agree(expected[row], label)
    np.testing.assert_allclose(probabilities, expected, atol=1e-9)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), votes.argmax(axis=1))
    for answer in (votes, shares, probabilities):
        np.testing.assert_allclose(answer.sum(axis=1), 1.0)
    assert probabilities.min() > 0.0


def test_rows_may_be_cut_anywhere():
    whole, answers = run(*case(1))
    cut, same = run(*case(1), cuts=(1, 40, 96))
    for one, other in zip([*whole, *answers], [*cut, *same], strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-3, 1e300])
def test_any_row_weights_do_no_harm(scale):
    answers, awake, labels, row_weights = case(2)
    row_weights[::7] = scale
    row_weights[3] = 1.0
    weights, outs = run(answers, awake, labels, row_weights)
    check(weights)
    for out in outs:
        np.testing.assert_allclose(out.sum(axis=1), 1.0)


def test_only_the_scale_of_row_weights_is_left_out():
    """The slow mixture takes weights as they are, and so do the votes; others relative to the heaviest row so far."""
    answers, awake, labels, _ = case(0)
    one, _ = run(answers, awake, labels, np.ones(len(labels)))
    two, _ = run(answers, awake, labels, np.full(len(labels), 1e-9))
    for name in ("quick", "pools", "bayes", "steady"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12)
    assert one.slow.tobytes() != two.slow.tobytes()


def test_priors_sum_to_one_and_the_size_is_known():
    plan = plan_for(GAMMAS, N_SLOW, N_AGES, N_AGES)
    assert plan.prior.sum() == pytest.approx(1.0)
    assert plan.origin.tolist() == [0, 1, 0, 1, 2, 3, 4, 2]
    assert plan.windows == (3, 4)
    assert plan.is_sharp.tolist() == [0, 0, 1, 1, 0, 0, 0, 1]
    own = (*first_weights(plan, 1), *first_watch(N_AGES))
    assert n_bytes_of(N_SLOW, len(GAMMAS), N_AGES, N_AGES) == sum(array.nbytes for array in own)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("slow", 0, -0.1),
        ("slow", 0, 0.9),
        ("quick", (1, 2), 0.9),
        ("quick", (0, 0), 0.0),
        ("bayes", 3, 0.5),
        ("reshaping", (0, 2, 0), 0.0),
        ("reshaping", (1, 1, 0), 0.9),
        ("sureness", (0, 0), 0.0),
        ("sureness", (1, 1), 0.9),
        ("steady", 0, 0.0),
        ("steady", 2, 0.9),
        ("pools", (0, 0), 1e7),
        ("regret", (3, 1), 1.0),
        ("regret", (3, 1), -1.0),
        ("travelled", (3, 1), -1.0),
        ("heaviest", 0, -1.0),
    ],
)
def test_weights_that_cannot_have_been_learned_are_refused(name, place, value):
    weights = first_weights(plan_for(GAMMAS, N_SLOW, N_AGES, N_AGES), mean=1)
    check(weights)
    getattr(weights, name)[place] = value
    with pytest.raises(ValueError, match="invalid weights of the mixture"):
        check(weights)


def test_a_regret_that_overflows_is_refused():
    weights = first_weights(plan_for(GAMMAS, N_SLOW, N_AGES, N_AGES), mean=1)
    weights.regret[0, 0] = weights.travelled[0, 0] = 1e6
    with pytest.raises(ValueError, match="regret"):
        check(weights)
