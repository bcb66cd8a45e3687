from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ocoboost.randomness import LEARNER_SEED, PREDICT, RELABEL, derive_seed, draw_label, draw_rows, philox, uniform

pytestmark = pytest.mark.kernels

# Known answers of Philox4x32-10, from the Random123 distribution: counter, key, output.
ANSWERS = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text: str) -> list[np.uint64]:
    return [np.uint64(int(word, 16)) for word in text.split()]


@pytest.mark.parametrize(("counter", "key", "answer"), ANSWERS)
def test_philox_gives_the_published_answers(counter, key, answer):
    assert list(philox(*words(counter), *words(key))) == words(answer)


def test_a_block_of_draws_equals_the_draws_one_by_one():
    block = np.empty(50)
    draw_rows(2**64 - 1, RELABEL, 2**32 - 20, 7, block)
    single = [uniform(np.uint64(2**64 - 1), RELABEL, 2**32 - 20 + i, 7) for i in range(50)]
    assert block.tolist() == single


def test_seed_purpose_row_and_learner_all_matter():
    base = (3, RELABEL, 5, 1)
    others = [(4, RELABEL, 5, 1), (3, PREDICT, 5, 1), (3, LEARNER_SEED, 5, 1), (3, RELABEL, 6, 1), (3, RELABEL, 5, 2)]
    draws = {uniform(np.uint64(seed), *rest) for seed, *rest in [base, *others]}
    assert len(draws) == 6


def test_draws_are_uniform():
    draws = np.empty(20_000)
    draw_rows(1, RELABEL, 0, 0, draws)
    assert 0.0 <= draws.min() < draws.max() < 1.0
    # The Kolmogorov statistic exceeds 1.95 / sqrt(n) with probability 0.001; the seed is fixed.
    ordered = np.sort(draws)
    gap = np.abs(ordered - np.arange(1, 20_001) / 20_000).max()
    assert gap < 1.95 / np.sqrt(20_000)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0, 1, exclude_max=True))
def test_a_label_of_probability_zero_is_never_drawn(weights, u):
    total = sum(weights)
    if total <= 0.0:
        return
    distribution = np.array(weights) / total
    label = draw_label(distribution, u)
    assert distribution[label] > 0.0
    assert distribution[:label].sum() <= u + 1e-12


def test_derived_seeds_fit_every_host_library():
    seeds = [derive_seed(11, learner) for learner in range(1000)]
    assert len(set(seeds)) == 1000
    assert all(0 <= seed < 2**31 for seed in seeds)
